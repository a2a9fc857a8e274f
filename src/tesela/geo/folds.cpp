#include "tesela/geo/folds.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/box.hpp"
#include "tesela/geo/internal/part_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tesela::geo {
namespace {

/// The cell of a value between the ends of a side that is cut into so many.
Index cell_of(double value, double low, double high, Index cells) {
    if (!(high > low)) return 0;
    const auto cell = static_cast<Index>(static_cast<double>(cells) * ((value - low) / (high - low)));
    return std::clamp<Index>(cell, 0, cells - 1);
}

/// A longitude as the box has it, which may end beyond 180°.
double inside(double longitude, double low) { return longitude < low ? longitude + 360 : longitude; }

}  // namespace

Folds leave_one_out(Index n) {
    Folds folds{.of = std::vector<Index>(static_cast<std::size_t>(n)), .count = n};
    std::iota(folds.of.begin(), folds.of.end(), Index{0});
    return folds;
}

Folds random_folds(Index n, Index count, std::uint64_t seed) {
    if (count < 2 || count > n)
        throw Error("{} observations can be held out in 2 to {} folds; {} {} asked for", n, n, count,
                    count == 1 ? "is" : "are");
    Folds folds{.of = std::vector<Index>(static_cast<std::size_t>(n)), .count = count};
    Index next = 0;
    for (const Index k : shuffled(n, seed)) folds.of[static_cast<std::size_t>(k)] = next++ % count;
    return folds;
}

Folds block_folds(const Observations& observations, Metric metric, const std::vector<Index>& cells) {
    const auto& coordinates = observations.coordinates;
    if (cells.size() != coordinates.size())
        throw Error("blocks of {} cells are for {} coordinate{}, and the observations have {}", fmt::join(cells, "x"),
                    cells.size(), cells.size() == 1 ? "" : "s", coordinates.size());
    const Box box = bounding_box(metric, coordinates);
    std::vector<std::vector<Index>> block(static_cast<std::size_t>(observations.size()));
    for (std::size_t d = 0; d < coordinates.size(); ++d)
        for (std::size_t i = 0; i < block.size(); ++i) {
            const bool longitude = metric != Metric::euclidean && d == 0;
            const double x = longitude ? inside(coordinates[d][i], box.low[d]) : coordinates[d][i];
            block[i].push_back(cell_of(x, box.low[d], box.high[d], cells[d]));
        }
    std::map<std::vector<Index>, Index> number;  // of the cells that have observations, in their order
    for (const auto& cell : block) number.emplace(cell, 0);
    if (number.size() < 2)
        throw Error("all observations are in one block of {}, and none is left to predict them from; use more blocks",
                    fmt::join(cells, "x"));
    Folds folds{.of = {}, .count = 0};
    for (auto& [cell, its_number] : number) its_number = folds.count++;
    for (const auto& cell : block) folds.of.push_back(number.at(cell));
    return folds;
}

FoldOrder by_folds(const Folds& folds) {
    FoldOrder result;
    result.order.resize(folds.of.size());
    std::iota(result.order.begin(), result.order.end(), Index{0});
    std::ranges::stable_sort(result.order, {}, [&](Index i) { return folds.of[static_cast<std::size_t>(i)]; });
    result.begins.assign(static_cast<std::size_t>(folds.count) + 1, 0);
    for (const Index fold : folds.of) ++result.begins[static_cast<std::size_t>(fold) + 1];
    std::partial_sum(result.begins.begin(), result.begins.end(), result.begins.begin());
    return result;
}

}  // namespace tesela::geo
