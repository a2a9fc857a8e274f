#pragma once

#include "tesela/base/log_curve.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/kernels/kernel.hpp"
#include "tesela/trace/trace.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tesela {

/// The ranks that tiles have in a simulation, which has no data to find them from.
struct RankModel {
    /// The rank of a tile, dense_rank (-1) where it is stored whole. Empty: all tiles are.
    std::function<Index(std::string_view matrix, TileIndex tile)> rank;
    /// Messages with tiles of low rank are as long as those of a tile with this rank, if it has less: messages of one
    /// size, which paper 004 begins with. 0: they are as long as the tile needs.
    Index sent_rank = 0;
    /// How many columns of a tile of low rank are in single precision. Empty: none.
    std::function<Index(std::string_view matrix, TileIndex tile)> singles{};
};

/// What a tile of low rank travels as where messages have at least so many columns: never more than the whole tile
/// takes. Those that are added are in double precision.
[[nodiscard]] constexpr TileShape sent_shape(TileShape shape, Index least_rank) {
    if (shape.rank == dense_rank || shape.rows + shape.cols == 0) return shape;
    const Index most = shape.rows * shape.cols / (shape.rows + shape.cols);
    const Index padded = least_rank < most ? least_rank : most;
    if (shape.rank < padded) shape.rank = padded;
    return shape;
}

/// The ranks of maps, by the name of the matrix; tiles of other matrices, or outside their map, are stored whole.
[[nodiscard]] RankModel ranks_from_maps(std::map<std::string, RankMap> maps);
/// The ranks that tiles had in a run, after the last task that wrote them.
[[nodiscard]] RankModel ranks_from_trace(const trace::Trace& trace);
/// density · tile size, in every matrix; tiles of half the full rank or more take less room whole and are stored so.
/// With synthetic_density this is paper 001's generator.
[[nodiscard]] RankModel ranks_from_density(const TileMap& density, Index tile);

/// How the work of a task changes with the ranks of its tiles: operations of its kernel with these shapes over those
/// with all elements, `whole`. Where there are none (zeroing, copies) it is bytes with the ranks over bytes without; a
/// kernel whose operations ranks do not change, as one that computes all elements, has 1. Above 1 where ranks are so
/// high that recompression costs more than it saves.
[[nodiscard]] double low_rank_work_ratio(const Kernel& kernel, const KernelCost& whole,
                                         std::span<const TileShape> shapes);
/// How its time does, where operations of recompression take so many times as long (Platform::recompression).
[[nodiscard]] double low_rank_time_ratio(const Kernel& kernel, const KernelCost& whole,
                                         std::span<const TileShape> shapes, const LogCurve& recompression);

}  // namespace tesela
