#include "tesela/autoplan/running_plan.hpp"

#include "support/shared_engine.hpp"
#include "support/temporary_directory.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/geo/specimens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

namespace tesela::autoplan::running_plan_test {
namespace {

using tesela::testing::engine;

constexpr Index points = 300;
constexpr Index tile = 60;
const CovarianceParameters theta{.sigma2 = 1, .range = 0.1, .smoothness = 0.5, .nugget = 0.1};

geo::Observations observations() {
    geo::Observations data{.coordinates = geo::random_points(points, 1)};
    for (Index i = 0; i < points; ++i) data.values.push_back(std::sin(static_cast<double>(i)));
    return data;
}

PlannedProgram program() {
    const geo::PlannedEvaluation evaluation{.points = points, .tile = tile};
    return {.application = planned_evaluation(evaluation),
            .as_run = [evaluation](const Platform& nodes) { return as_run(evaluation, nodes); },
            .usual_evaluations = geo::usual_evaluations};
}
Progress progress_of(geo::Likelihood& likelihood, Index evaluations) {
    return {
        .evaluations = evaluations,
        .seconds = likelihood.seconds(),
        .give = [&](const plan::PhaseDistributions& owners) { likelihood.redistribute(owners.second, owners.first); }};
}

/// Covariances as ever, after a while.
constexpr int usual_pause = 4;
constexpr int slow_pause = 40;
std::atomic<int> pause_milliseconds{usual_pause};
KernelResult run_slowly(const KernelCall& call) noexcept {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_milliseconds));
    return covariance_kernel.cpu(call);
}
const CovarianceKernel slow_covariance{"dcmg", covariance_kernel.cost, run_slowly};

std::vector<Specimen> evaluation_specimens() { return joined({calibration::specimens(), geo::specimens()}); }

/// Equal nodes on which nothing but generation takes time, so that all of them generate.
std::vector<calibration::MeasuredNode> equal_nodes() {
    NodeType type{.name = "node", .count = 1, .memory = 1e10, .memory_bandwidth = 1e10};
    type.nic = {.bandwidth = 1e9, .latency = 1e-5};
    type.workers = {{.name = "cores", .processor = Processor::cpu, .count = 1}};
    for (const std::string& name : kernel_names(evaluation_specimens())) {
        const double seconds = name == "dcmg" ? 1.1e-3 * usual_pause : 1e-5;
        type.workers.front().kernels.push_back(
            {.kernel = name, .time = TimedKernel{.seconds = {{.tile = tile, .value = seconds}}}});
    }
    return {static_cast<std::size_t>(engine().node_count()), {.description = "node", .type = type}};
}

/// A plan for equal nodes, of which the last turns out to be slow.
class RunningPlanOfEqualNodes : public ::testing::Test {
public:
    RunningPlanOfEqualNodes() {
        pause_milliseconds = engine().this_node() == NodeId{slow_node()} ? slow_pause : usual_pause;
        options_.tell = [&](const std::string& line) { told.push_back(line); };
    }

protected:
    [[nodiscard]] static Index slow_node() { return engine().node_count() - 1; }
    [[nodiscard]] static Index generated_there(const RunningPlan& plan) {
        return tile_counts(plan.owners().first, Stored::lower)[static_cast<std::size_t>(slow_node())];
    }
    [[nodiscard]] const RunningPlanOptions& options() const { return options_; }
    [[nodiscard]] static geo::LikelihoodOptions with_slow_generation(const RunningPlan& plan) {
        return {.tile = tile,
                .distribution = plan.owners().second,
                .generation = plan.owners().first,
                .generator = &slow_covariance};
    }
    std::vector<std::string> told;

private:
    RunningPlanOptions options_{.program = program(), .budget_seconds = 1, .nodes = equal_nodes()};
};

TEST_F(RunningPlanOfEqualNodes, LeavesLessToANodeThatTurnsOutToBeSlowAndTheValueAsItIs) {
    if (engine().node_count() == 1) GTEST_SKIP() << "one node has no choice";
    RunningPlan plan(engine(), options());
    EXPECT_EQ(plan.lines().size(), 3U);
    Stream stream(engine());
    geo::Likelihood likelihood(stream, observations(), {}, with_slow_generation(plan));
    const double value = likelihood.evaluate(theta).log_likelihood;
    const Index before = generated_there(plan);
    ASSERT_GT(before, 0);
    RunningPlan::Outcome last{};
    for (Index k = 1; k <= 40 && last != RunningPlan::Outcome::changed; ++k) {
        last = plan.correct(progress_of(likelihood, k));
        EXPECT_NEAR(likelihood.evaluate(theta).log_likelihood, value, 1e-9 * std::abs(value));
    }
    EXPECT_EQ(last, RunningPlan::Outcome::changed) << ::testing::PrintToString(told);
    EXPECT_LT(generated_there(plan), before);
}

TEST_F(RunningPlanOfEqualNodes, GoesBackToOwnersWithWhichEvaluationsTookLess) {
    if (engine().node_count() == 1) GTEST_SKIP() << "one node has no choice";
    RunningPlan plan(engine(), options());
    Stream stream(engine());
    geo::Likelihood likelihood(stream, observations(), {}, with_slow_generation(plan));
    (void)likelihood.evaluate(theta);
    std::optional<plan::PhaseDistributions> before;
    RunningPlan::Outcome last{};
    for (Index k = 1; k <= 60 && last != RunningPlan::Outcome::reverted; ++k) {
        const plan::PhaseDistributions now = plan.owners();
        last = plan.correct(progress_of(likelihood, k));
        if (last == RunningPlan::Outcome::changed && !before) {
            before = now;
            pause_milliseconds = 10 * slow_pause;  // whoever owns what, it is much worse from now on
        }
        (void)likelihood.evaluate(theta);
    }
    ASSERT_EQ(last, RunningPlan::Outcome::reverted) << ::testing::PrintToString(told);
    EXPECT_EQ(plan.owners(), *before);
    EXPECT_EQ(*likelihood.options().distribution, before->second);
    if (engine().is_first()) {
        EXPECT_THAT(told, ::testing::Contains(::testing::HasSubstr("tiles change hands")));
        EXPECT_THAT(told.back(), ::testing::HasSubstr("back to these"));
    } else {
        EXPECT_TRUE(told.empty());
    }
}

TEST(RunningPlan, TakesNodesThatItKnowsFromAFileAndIsTheSameOnAllNodes) {
    const TemporaryDirectory folder;
    const auto plan = [&] {
        return RunningPlan(engine(), {.program = program(),
                                      .budget_seconds = 0,
                                      .specimens = evaluation_specimens(),
                                      .cache_folder = folder.path()});
    };
    const RunningPlan first = plan();
    EXPECT_THAT(first.lines().front(), ::testing::HasSubstr("measured in"));
    const RunningPlan second = plan();
    EXPECT_THAT(second.lines().front(), ::testing::HasSubstr("as measured before"));
    EXPECT_EQ(first.owners(), second.owners());
    const std::string mine = nlohmann::json(second.owners().second).dump();
    for (const std::string& owners : engine().gather(mine)) EXPECT_EQ(owners, mine);
}

}  // namespace
}  // namespace tesela::autoplan::running_plan_test
