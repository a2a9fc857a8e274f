#include "tesela/distribution/heterogeneous.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/powers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace tesela {
namespace {

double check_powers(const std::vector<double>& powers) {
    for (std::size_t p = 0; p < powers.size(); ++p) require_usable_power(p, powers[p]);
    const double total = std::accumulate(powers.begin(), powers.end(), 0.0);
    if (!(total > 0)) throw Error("at least one node must have a power greater than 0");
    return total;
}

std::vector<double> as_doubles(const std::vector<Index>& parts) { return {parts.begin(), parts.end()}; }

/// Which part each of the lines belongs to: in blocks, or dealt so that parts are met exactly.
std::vector<Index> lay_lines(const std::vector<Index>& parts, Shuffle shuffle) {
    const Index count = std::accumulate(parts.begin(), parts.end(), Index{0});
    if (shuffle == Shuffle::cyclic && count > 0) return deal_lines(count, as_doubles(parts));
    std::vector<Index> lines;
    for (std::size_t k = 0; k < parts.size(); ++k)
        lines.insert(lines.end(), static_cast<std::size_t>(parts[k]), static_cast<Index>(k));
    return lines;
}

std::vector<Index> strongest_first(const std::vector<double>& powers) {
    std::vector<Index> order;
    for (std::size_t p = 0; p < powers.size(); ++p)
        if (powers[p] > 0) order.push_back(static_cast<Index>(p));
    std::ranges::stable_sort(order, std::greater<>{}, [&](Index p) { return powers[static_cast<std::size_t>(p)]; });
    return order;
}

/// Where each column of the best partition of the first q areas begins. A column of k rectangles and width w adds
/// k·w + 1 to the sum of half-perimeters; with areas in order the best columns are consecutive.
std::vector<std::size_t> best_column_starts(const std::vector<double>& areas) {
    const std::size_t count = areas.size();
    std::vector<double> prefix(count + 1), cost(count + 1, std::numeric_limits<double>::infinity());
    std::partial_sum(areas.begin(), areas.end(), prefix.begin() + 1);
    std::vector<std::size_t> starts(count + 1);
    cost[0] = 0;
    for (std::size_t q = 1; q <= count; ++q)
        for (std::size_t from = 0; from < q; ++from) {
            const double sum = cost[from] + static_cast<double>(q - from) * (prefix[q] - prefix[from]) + 1;
            if (sum >= cost[q]) continue;
            cost[q] = sum;
            starts[q] = from;
        }
    return starts;
}

Index dealt_to(const std::vector<double>& powers, const std::vector<double>& dealt, const std::vector<char>& allowed) {
    Index best = -1;
    double soonest = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < powers.size(); ++p) {
        if (!(powers[p] > 0) || !allowed[p]) continue;
        const double finish = (dealt[p] + 1) / powers[p];
        if (finish >= soonest) continue;
        soonest = finish;
        best = static_cast<Index>(p);
    }
    return best;
}

/// Nodes that RowConstraint lets have a row.
std::vector<char> allowed_nodes(const RowConstraint& constraint, const std::vector<double>& powers, std::size_t row) {
    const double ready = constraint.ready_seconds.empty() ? 0 : constraint.ready_seconds[row];
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < powers.size(); ++p)
        if (powers[p] > 0) shortest = std::min(shortest, constraint.chain_seconds[p]);
    std::vector<char> allowed(powers.size());
    for (std::size_t p = 0; p < powers.size(); ++p)
        allowed[p] = constraint.expected_seconds > ready + constraint.chain_seconds[p] ||
                     constraint.chain_seconds[p] <= shortest + constraint.tolerance_seconds;
    return allowed;
}

}  // namespace

std::vector<Index> whole_parts(Index count, const std::vector<double>& shares) {
    std::vector<Index> parts(shares.size());
    std::vector<double> remainders(shares.size());
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const double exact = shares[k] * static_cast<double>(count);
        parts[k] = static_cast<Index>(std::floor(exact));
        remainders[k] = exact - std::floor(exact);
    }
    std::vector<std::size_t> order(shares.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t k) { return remainders[k]; });
    Index left = count - std::accumulate(parts.begin(), parts.end(), Index{0});
    for (std::size_t k = 0; left > 0; k = (k + 1) % order.size(), --left) ++parts[order[k]];
    return parts;
}

std::vector<Index> deal_lines(Index count, const std::vector<double>& powers) {
    check_powers(powers);
    if (count < 0) throw Error("{} lines cannot be dealt", count);
    std::vector<Index> lines(static_cast<std::size_t>(count));
    std::vector<double> dealt(powers.size());
    const std::vector<char> all(powers.size(), 1);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        *line = dealt_to(powers, dealt, all);
        ++dealt[static_cast<std::size_t>(*line)];
    }
    return lines;
}

Distribution one_dimensional(GridSize tiles, const std::vector<double>& powers) {
    const auto rows = deal_lines(tiles.rows, powers);
    return tabulate(tiles, static_cast<Index>(powers.size()),
                    [&](Index i, Index) { return rows[static_cast<std::size_t>(i)]; });
}

double ColumnPartition::half_perimeters() const {
    double sum = 0;
    for (const auto& column : columns)
        for (const auto& rectangle : column) sum += rectangle.width + rectangle.height;
    return sum;
}

ColumnPartition column_partition(const std::vector<double>& powers) {
    const double total = check_powers(powers);
    const auto order = strongest_first(powers);
    std::vector<double> areas;
    for (const Index p : order) areas.push_back(powers[static_cast<std::size_t>(p)] / total);
    const auto starts = best_column_starts(areas);
    ColumnPartition partition;
    for (std::size_t end = areas.size(); end > 0; end = starts[end]) {
        const double width = std::accumulate(areas.begin() + static_cast<std::ptrdiff_t>(starts[end]),
                                             areas.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
        std::vector<Rectangle> column;
        for (std::size_t k = starts[end]; k < end; ++k) column.push_back({order[k], width, areas[k] / width});
        partition.columns.insert(partition.columns.begin(), std::move(column));
    }
    return partition;
}

Distribution one_d_one_d(GridSize tiles, const std::vector<double>& powers, Shuffle shuffle) {
    const ColumnPartition partition = column_partition(powers);
    std::vector<double> widths;
    for (const auto& column : partition.columns) widths.push_back(column.front().width);
    const auto column_of = lay_lines(whole_parts(tiles.cols, widths), shuffle);
    std::vector<std::vector<Index>> node_of;  // for each column of the partition, the node of each tile row
    for (const auto& column : partition.columns) {
        std::vector<double> heights;
        for (const auto& rectangle : column) heights.push_back(rectangle.height);
        auto rows = lay_lines(whole_parts(tiles.rows, heights), shuffle);
        for (auto& row : rows) row = column[static_cast<std::size_t>(row)].node;
        node_of.push_back(std::move(rows));
    }
    return tabulate(tiles, static_cast<Index>(powers.size()), [&](Index i, Index j) {
        return node_of[static_cast<std::size_t>(column_of[static_cast<std::size_t>(j)])][static_cast<std::size_t>(i)];
    });
}

Distribution constrained_one_dimensional(GridSize tiles, const std::vector<double>& powers,
                                         const RowConstraint& constraint) {
    check_powers(powers);
    if (constraint.chain_seconds.size() != powers.size())
        throw Error("{} chains do not fit {} nodes", constraint.chain_seconds.size(), powers.size());
    if (!constraint.ready_seconds.empty() && static_cast<Index>(constraint.ready_seconds.size()) != tiles.rows)
        throw Error("{} times do not fit {} tile rows", constraint.ready_seconds.size(), tiles.rows);
    std::vector<Index> rows(static_cast<std::size_t>(tiles.rows));
    std::vector<double> dealt(powers.size());
    for (std::size_t row = rows.size(); row-- > 0;) {
        rows[row] = dealt_to(powers, dealt, allowed_nodes(constraint, powers, row));
        ++dealt[static_cast<std::size_t>(rows[row])];
    }
    return tabulate(tiles, static_cast<Index>(powers.size()),
                    [&](Index i, Index) { return rows[static_cast<std::size_t>(i)]; });
}

std::vector<Index> idle_last_steps(Index n, const StepConstraint& constraint) {
    const double total = check_powers(constraint.powers);
    if (constraint.step_seconds.size() != constraint.powers.size())
        throw Error("{} critical paths do not fit {} nodes", constraint.step_seconds.size(), constraint.powers.size());
    const double shortest = std::ranges::min(constraint.step_seconds);
    std::vector<Index> idle;
    for (const double seconds : constraint.step_seconds) {
        // The step with m tile rows left updates m(m-1)/2 tiles; its area bound grows with m.
        Index m = 0;
        while (seconds > shortest && m < n && seconds > static_cast<double>((m + 1) * m) / 2 / total) ++m;
        idle.push_back(m);
    }
    return idle;
}

Distribution constrained_one_d_one_d(const TileMap& weights, const StepConstraint& constraint) {
    const GridSize grid = weights.grid();
    if (grid.rows != grid.cols)
        throw Error("a grid of {}x{} tiles has no last steps: it must be square", grid.rows, grid.cols);
    const Index n = grid.rows;
    const auto idle = idle_last_steps(n, constraint);
    const double total_power = check_powers(constraint.powers);
    std::vector<double> left;  // the weight each node is still to get
    for (const double power : constraint.powers) left.push_back(weights.total() * power / total_power);
    Distribution result = one_d_one_d(grid, constraint.powers);
    // From the last steps to the first, in runs of steps in which the same nodes take part.
    const std::set<Index> bounds(idle.begin(), idle.end());
    Index done = 0;  // the last `done` steps have their owners
    auto next = bounds.upper_bound(0);
    while (done < n) {
        const Index until = next == bounds.end() ? n : *next++;
        std::vector<double> powers(left.size());
        for (std::size_t p = 0; p < left.size(); ++p) powers[p] = idle[p] <= done ? std::max(0.0, left[p]) : 0;
        if (std::ranges::max(powers) <= 0)
            for (std::size_t p = 0; p < left.size(); ++p) powers[p] = idle[p] <= done ? constraint.powers[p] : 0;
        const Distribution run = one_d_one_d(grid, powers);
        for (Index i = n - until; i < n; ++i)
            for (Index j = n - until; j < n; ++j) {
                if (std::min(i, j) >= n - done) continue;
                result.set_owner({i, j}, run.owner({i, j}));
                left[static_cast<std::size_t>(run.owner({i, j}).number())] -= weights[{i, j}];
            }
        done = until;
    }
    return result;
}

}  // namespace tesela
