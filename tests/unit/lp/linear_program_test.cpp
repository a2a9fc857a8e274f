#include "tesela/lp/linear_program.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace tesela::lp::linear_program_test {
namespace {

TEST(LinearProgram, SolvesOneThatCanBeSolvedByHand) {
    // max 3x + 2y with x + y <= 4, x + 3y <= 6, x <= 3: at (3, 1)
    LinearProgram program;
    const std::size_t x = program.add_column(-3, {0, 3});
    const std::size_t y = program.add_column(-2);
    const std::size_t sum = program.add_row({-infinity, 4});
    program.add(sum, x, 1);
    program.add(sum, y, 1);
    const std::size_t second = program.add_row({-infinity, 6});
    program.add(second, x, 1);
    program.add(second, y, 3);
    const Solution solution = solve(program);
    ASSERT_EQ(solution.outcome, Outcome::optimal);
    EXPECT_DOUBLE_EQ(solution.objective, -11);
    EXPECT_DOUBLE_EQ(solution.values[x], 3);
    EXPECT_DOUBLE_EQ(solution.values[y], 1);
    EXPECT_LE(certify(program, solution).gap, 1e-12);
}

TEST(LinearProgram, InfeasibleAndUnboundedAreValues) {
    LinearProgram infeasible;
    const std::size_t x = infeasible.add_column(1, {0, 1});
    infeasible.add(infeasible.add_row({2, 3}), x, 1);
    EXPECT_EQ(solve(infeasible).outcome, Outcome::infeasible);
    LinearProgram unbounded;
    const std::size_t y = unbounded.add_column(-1);
    unbounded.add(unbounded.add_row({1, infinity}), y, 1);
    EXPECT_EQ(solve(unbounded).outcome, Outcome::unbounded);
    EXPECT_EQ(name(Outcome::unbounded), "unbounded");
}

TEST(LinearProgram, ProgramsWithoutSenseAreRefused) {
    LinearProgram program;
    const std::size_t x = program.add_column(1, {2, 1});
    EXPECT_THROW((void)solve(program), Error);
    program.columns[x] = {};
    program.add(0, x, 1);  // there is no row
    EXPECT_THROW((void)solve(program), Error);
    program.entries.clear();
    program.costs[x] = std::nan("");
    EXPECT_THROW((void)solve(program), Error);
}

TEST(LinearProgram, ACertificateTellsAWrongSolution) {
    LinearProgram program;
    const std::size_t x = program.add_column(1);
    program.add(program.add_row({1, infinity}), x, 1);
    Solution solution = solve(program);
    ASSERT_EQ(solution.outcome, Outcome::optimal);
    EXPECT_LE(certify(program, solution).gap, 1e-12);
    solution.values[x] = 2;  // feasible, not optimal
    EXPECT_GT(certify(program, solution).gap, 0.1);
    solution.values[x] = 0.5;  // not feasible
    EXPECT_GT(certify(program, solution).primal_violation, 0.1);
    solution = solve(program);
    solution.duals[0] = -1;  // would bound from the wrong side
    EXPECT_GT(certify(program, solution).dual_violation, 0.1);
}

RC_GTEST_PROP(LinearProgram, RandomProgramsAreProvenByTheirDuals, ()) {
    const auto number = [](int least, int most) { return *rc::gen::inRange(least, most + 1); };
    LinearProgram program;
    const int columns = number(1, 12);
    const int rows = number(1, 12);
    for (int j = 0; j < columns; ++j) program.add_column(number(-5, 9), {0, static_cast<double>(number(1, 20))});
    for (int i = 0; i < rows; ++i) {
        const auto lower = static_cast<double>(number(-30, 10));
        const std::size_t row = program.add_row({lower, lower + number(0, 40)});
        for (int j = 0; j < columns; ++j)
            if (number(0, 2) > 0) program.add(row, static_cast<std::size_t>(j), number(-4, 6));
    }
    const Solution solution = solve(program);
    if (solution.outcome != Outcome::optimal) {
        RC_ASSERT(solution.outcome == Outcome::infeasible);  // bounded on all sides
        return;
    }
    const Certificate proof = certify(program, solution);
    RC_ASSERT(proof.primal_violation <= 1e-7);
    RC_ASSERT(proof.dual_violation <= 1e-7);
    RC_ASSERT(proof.gap <= 1e-6);
}

}  // namespace
}  // namespace tesela::lp::linear_program_test
