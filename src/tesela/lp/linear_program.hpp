#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tesela::lp {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Where a variable or a sum may lie.
struct Range {
    double lower = 0;
    double upper = infinity;
    friend bool operator==(const Range&, const Range&) = default;
};

/// One coefficient of a row.
struct Entry {
    std::size_t row = 0;
    std::size_t column = 0;
    double value = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
};

/// Minimise Σ costs·x where every x lies in its column's range and every row's Σ value·x in its own: a plain value that
/// knows no solver.
struct LinearProgram {
    std::vector<double> costs;   ///< of the columns
    std::vector<Range> columns;  ///< where the variables may lie
    std::vector<Range> rows;
    std::vector<Entry> entries;  ///< those of one place add up

    /// Adds a variable and returns its number.
    std::size_t add_column(double cost, Range range = {});
    /// Adds a constraint without coefficients and returns its number.
    std::size_t add_row(Range range);
    void add(std::size_t row, std::size_t column, double value) { entries.push_back({row, column, value}); }

    friend bool operator==(const LinearProgram&, const LinearProgram&) = default;
};

/// What became of a program. `failed` is the solver's own: its limits were reached or it lost its way numerically.
enum class Outcome : std::uint8_t { optimal, infeasible, unbounded, failed };
[[nodiscard]] std::string_view name(Outcome outcome);

/// A solution with its dual, which proves it (see certify()); without values unless it is optimal.
struct Solution {
    Outcome outcome = Outcome::failed;
    double objective = 0;
    std::vector<double> values;  ///< of the columns
    std::vector<double> duals;   ///< of the rows: what the objective gains per unit by which a bound is raised
    long iterations = 0;
};

/// Solves by CLP's dual simplex method. Deterministic: the same program gives the same solution. Throws Error for a
/// program that makes no sense: entries outside it, ranges that are empty or not numbers.
[[nodiscard]] Solution solve(const LinearProgram& program);

/// How good a solution is by itself, whoever found it.
struct Certificate {
    double primal_violation = 0;  ///< the most by which a range is missed, relative to 1 + its bound
    double dual_violation = 0;    ///< the most by which a reduced cost points beyond a bound that is not there
    double gap = 0;               ///< (objective − dual objective), relative to 1 + |objective|
};

/// Checks values and duals against the program alone: an optimum has all three near 0, by weak duality.
[[nodiscard]] Certificate certify(const LinearProgram& program, const Solution& solution);

}  // namespace tesela::lp
