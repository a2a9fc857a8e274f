#include "tesela/sim/rank_model.hpp"

#include "tesela/kernels/low_rank_cost.hpp"
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
    return {[shared](std::string_view matrix, TileIndex tile) {
        const auto found = shared->find(matrix);
        if (found == shared->end()) return dense_rank;
        const RankMap& map = found->second;
        if (tile.i >= map.grid.rows || tile.j >= map.grid.cols) return dense_rank;
        return map.ranks[static_cast<std::size_t>(tile.i * map.grid.cols + tile.j)];
    }};
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

double bytes_ratio(std::span<const UsedTile> tiles) {
    double bytes = 0;
    double dense = 0;
    for (const UsedTile& tile : tiles) {
        const double whole = 8.0 * static_cast<double>(tile.shape.rows * tile.shape.cols);
        bytes += tile_bytes(tile.shape, whole);
        dense += whole;
    }
    return dense > 0 ? std::min(1.0, bytes / dense) : 1;
}

}  // namespace

double low_rank_work_ratio(std::span<const UsedTile> tiles) {
    double k = -1;
    double nb = 0;
    std::size_t only_read = 0;
    bool written_low_rank = false;
    for (const UsedTile& tile : tiles) {
        nb = std::max(nb, static_cast<double>(std::max(tile.shape.rows, tile.shape.cols)));
        k = std::max(k, static_cast<double>(tile.shape.rank));
        if (!writes(tile.mode))
            ++only_read;
        else
            written_low_rank |= tile.shape.rank != dense_rank;
    }
    if (k < 0) return 1;
    if (only_read == 0) return bytes_ratio(tiles);
    const double cube = nb * nb * nb;
    if (written_low_rank && only_read == 1) return std::min(1.0, low_rank_solve_flops(nb, k) / cube);
    if (written_low_rank) return std::min(1.0, low_rank_product_flops(nb, k) / (2 * cube));
    return std::min(1.0, low_rank_update_flops(nb, k) / (only_read == 1 ? cube : 2 * cube));
}

}  // namespace tesela
