#include "tesela/base/error.hpp"
#include "tesela/lp/linear_program.hpp"

#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedMatrix.hpp>

#include <cmath>

namespace tesela::lp {
namespace {

void check(const Range& range, const char* what, std::size_t number) {
    if (std::isnan(range.lower) || std::isnan(range.upper) || range.lower > range.upper)
        throw Error("{} {} of a linear program has the range [{}, {}], which is empty", what, number, range.lower,
                    range.upper);
}

void check(const LinearProgram& program) {
    if (program.costs.size() != program.columns.size())
        throw Error("a linear program has {} costs for {} columns", program.costs.size(), program.columns.size());
    for (std::size_t j = 0; j < program.columns.size(); ++j) {
        check(program.columns[j], "column", j);
        if (!std::isfinite(program.costs[j]))
            throw Error("column {} of a linear program costs {}", j, program.costs[j]);
    }
    for (std::size_t i = 0; i < program.rows.size(); ++i) check(program.rows[i], "row", i);
    for (const Entry& entry : program.entries)
        if (entry.row >= program.rows.size() || entry.column >= program.columns.size() || !std::isfinite(entry.value))
            throw Error("a linear program of {} rows and {} columns has the entry {} in row {}, column {}",
                        program.rows.size(), program.columns.size(), entry.value, entry.row, entry.column);
}

/// CLP's own infinity.
double bound(double value) { return std::isfinite(value) ? value : std::copysign(COIN_DBL_MAX, value); }

struct Bounds {
    std::vector<double> lower;
    std::vector<double> upper;

    explicit Bounds(const std::vector<Range>& ranges) {
        for (const Range& range : ranges) {
            lower.push_back(bound(range.lower));
            upper.push_back(bound(range.upper));
        }
    }
};

CoinPackedMatrix matrix_of(const LinearProgram& program) {
    std::vector<int> rows;
    std::vector<int> columns;
    std::vector<double> values;
    for (const Entry& entry : program.entries) {
        rows.push_back(static_cast<int>(entry.row));
        columns.push_back(static_cast<int>(entry.column));
        values.push_back(entry.value);
    }
    CoinPackedMatrix matrix(/*colordered=*/false, rows.data(), columns.data(), values.data(),
                            static_cast<CoinBigIndex>(values.size()));
    matrix.setDimensions(static_cast<int>(program.rows.size()), static_cast<int>(program.columns.size()));
    return matrix;
}

Outcome outcome_of(const ClpSimplex& model) {
    if (model.isProvenOptimal()) return Outcome::optimal;
    if (model.isProvenPrimalInfeasible()) return Outcome::infeasible;
    if (model.isProvenDualInfeasible()) return Outcome::unbounded;
    return Outcome::failed;
}

}  // namespace

Solution solve(const LinearProgram& program) {
    check(program);
    ClpSimplex model;
    model.setLogLevel(0);
    // CLP's own 1e-7 would let duals prove optima to about 1e-6 only.
    model.setPrimalTolerance(1e-9);
    model.setDualTolerance(1e-9);
    const Bounds columns(program.columns);
    const Bounds rows(program.rows);
    model.loadProblem(matrix_of(program), columns.lower.data(), columns.upper.data(), program.costs.data(),
                      rows.lower.data(), rows.upper.data());
    model.dual();
    // The dual method leaves programs that may have no bound, or that it could not decide, to the primal one.
    if (!model.isProvenOptimal() && !model.isProvenPrimalInfeasible()) model.primal();
    Solution solution{.outcome = outcome_of(model), .iterations = model.numberIterations()};
    if (solution.outcome != Outcome::optimal) return solution;
    solution.objective = model.objectiveValue();
    const double* values = model.primalColumnSolution();
    const double* duals = model.dualRowSolution();
    solution.values.assign(values, values + program.columns.size());
    solution.duals.assign(duals, duals + program.rows.size());
    return solution;
}

}  // namespace tesela::lp
