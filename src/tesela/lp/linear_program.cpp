#include "tesela/lp/linear_program.hpp"

#include "tesela/base/names.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::lp {
namespace {

double missed(double value, const Range& range) {
    double result = 0;
    if (std::isfinite(range.lower)) result = std::max(result, (range.lower - value) / (1 + std::abs(range.lower)));
    if (std::isfinite(range.upper)) result = std::max(result, (value - range.upper) / (1 + std::abs(range.upper)));
    return result;
}

/// The least of price·x over a range, and by how much the price points to an end that is not there.
struct Bounded {
    double value = 0;
    double violation = 0;
};
Bounded least(double price, const Range& range) {
    const double end = price > 0 ? range.lower : range.upper;
    if (price == 0) return {};
    if (!std::isfinite(end)) return {.value = 0, .violation = std::abs(price)};
    return {.value = price * end, .violation = 0};
}

}  // namespace

std::string_view name(Outcome outcome) {
    static constexpr Names<Outcome, 4> names{{{Outcome::optimal, "optimal"},
                                              {Outcome::infeasible, "infeasible"},
                                              {Outcome::unbounded, "unbounded"},
                                              {Outcome::failed, "failed"}}};
    return name_in(names, outcome);
}

std::size_t LinearProgram::add_column(double cost, Range range) {
    costs.push_back(cost);
    columns.push_back(range);
    return columns.size() - 1;
}

std::size_t LinearProgram::add_row(Range range) {
    rows.push_back(range);
    return rows.size() - 1;
}

// The dual of min cᵀx, l ≤ x ≤ u, L ≤ Ax ≤ U with multipliers y of the rows: every x has
// cᵀx = yᵀAx + (c − Aᵀy)ᵀx ≥ Σ min over [L, U] of y·(Ax) + Σ min over [l, u] of (c − Aᵀy)·x.
Certificate certify(const LinearProgram& program, const Solution& solution) {
    std::vector<double> sums(program.rows.size(), 0.0);
    std::vector<double> reduced = program.costs;
    for (const Entry& entry : program.entries) {
        sums[entry.row] += entry.value * solution.values[entry.column];
        reduced[entry.column] -= entry.value * solution.duals[entry.row];
    }
    Certificate result;
    double objective = 0;
    double dual = 0;
    const auto bound = [&](double price, const Range& range) {
        const Bounded found = least(price, range);
        dual += found.value;
        result.dual_violation = std::max(result.dual_violation, found.violation);
    };
    for (std::size_t j = 0; j < program.columns.size(); ++j) {
        objective += program.costs[j] * solution.values[j];
        result.primal_violation = std::max(result.primal_violation, missed(solution.values[j], program.columns[j]));
        bound(reduced[j], program.columns[j]);
    }
    for (std::size_t i = 0; i < program.rows.size(); ++i) {
        result.primal_violation = std::max(result.primal_violation, missed(sums[i], program.rows[i]));
        bound(solution.duals[i], program.rows[i]);
    }
    result.gap = std::abs(objective - dual) / (1 + std::abs(objective));
    return result;
}

}  // namespace tesela::lp
