#include "tesela/sim/rank_model.hpp"

#include "tesela/kernels/low_rank_speed.hpp"
#include "tesela/sim/traced_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tesela {

RankModel ranks_from_maps(std::map<std::string, RankMap> maps) {
    using Maps = std::map<std::string, RankMap, std::less<>>;
    auto shared =
        std::make_shared<const Maps>(std::make_move_iterator(maps.begin()), std::make_move_iterator(maps.end()));
    const auto value_of = [shared](std::vector<Index> RankMap::*values, Index otherwise) {
        return [=](std::string_view matrix, TileIndex tile) {
            const auto found = shared->find(matrix);
            if (found == shared->end()) return otherwise;
            const RankMap& map = found->second;
            if (tile.i >= map.grid.rows || tile.j >= map.grid.cols || (map.*values).empty()) return otherwise;
            return (map.*values)[static_cast<std::size_t>(tile.i * map.grid.cols + tile.j)];
        };
    };
    return {.rank = value_of(&RankMap::ranks, dense_rank), .singles = value_of(&RankMap::singles, 0)};
}

RankModel ranks_from_trace(const trace::Trace& trace) {
    std::map<std::string, RankMap> maps;
    for (TracedRanks& ranks : traced_ranks(trace)) maps[ranks.matrix] = std::move(ranks.last);
    return ranks_from_maps(std::move(maps));
}

RankModel ranks_from_density(const TileMap& density, Index tile) {
    auto ranks = std::make_shared<RankMap>();
    ranks->grid = density.grid();
    for (const double d : density.values()) {
        const auto rank = static_cast<Index>(std::ceil(std::max(0.0, d) * static_cast<double>(tile)));
        ranks->ranks.push_back(rank >= useless_rank({tile, tile}) ? dense_rank : rank);
    }
    return {[ranks](std::string_view, TileIndex at) {
        if (at.i >= ranks->grid.rows || at.j >= ranks->grid.cols) return dense_rank;
        return ranks->ranks[static_cast<std::size_t>(at.i * ranks->grid.cols + at.j)];
    }};
}

namespace {

double bytes_ratio(std::span<const TileShape> shapes) {
    double bytes = 0;
    double dense = 0;
    for (const TileShape& shape : shapes) {
        const double whole = 8.0 * static_cast<double>(shape.rows * shape.cols);
        bytes += tile_bytes(shape, whole);
        dense += whole;
    }
    return dense > 0 ? std::min(1.0, bytes / dense) : 1;
}

}  // namespace

double low_rank_work_ratio(const Kernel& kernel, const KernelCost& whole, std::span<const TileShape> shapes) {
    if (std::ranges::all_of(shapes, [](const TileShape& shape) { return shape.rank == dense_rank; })) return 1;
    if (whole.flops == 0) return bytes_ratio(shapes);
    return kernel.low_rank_flops == nullptr ? 1 : kernel.low_rank_flops(shapes) / whole.flops;
}

double low_rank_time_ratio(const Kernel& kernel, const KernelCost& whole, std::span<const TileShape> shapes,
                           const LogCurve& recompression) {
    const double ratio = low_rank_work_ratio(kernel, whole, shapes);
    if (kernel.recompression == nullptr || whole.flops == 0) return ratio;
    return ratio + slowness_flops(kernel.recompression(shapes), recompression) / whole.flops;
}

}  // namespace tesela
