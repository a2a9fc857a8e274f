#pragma once

#include "tesela/flow/recording.hpp"
#include "tesela/platform/platform.hpp"
#include "tesela/sim/rank_model.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// What a recorded task amounts to, as durations of a platform are asked for.
[[nodiscard]] inline KernelWork kernel_work(const Recording& recording, const RecordedItem& task) {
    KernelWork work{.tile = 1, .flops = task.cost.flops, .bytes = task.cost.bytes};
    for (const RecordedAccess& access : recording.accesses_of(task)) {
        const RecordedDatum& datum = recording.data[static_cast<std::size_t>(access.datum)];
        if (!is_token(datum)) work.add_tile(datum.shape.rows, datum.shape.cols, writes(access.mode));
    }
    return work;
}

/// A tile by the name of its matrix.
struct TileOfMatrix {
    std::string_view matrix;
    TileIndex index{};
};

/// A tile with the rank that the model gives it; stored whole where that would take less room.
[[nodiscard]] inline TileShape ranked_shape(TileShape shape, const TileOfMatrix& tile, const RankModel& ranks) {
    if (!ranks.rank) return shape;
    const Index rank = ranks.rank(tile.matrix, tile.index);
    shape.rank = rank < useless_rank(shape) ? rank : dense_rank;
    if (ranks.singles && shape.rank > 0) shape.singles = std::min(ranks.singles(tile.matrix, tile.index), shape.rank);
    return shape;
}

/// The same of a recorded tile.
[[nodiscard]] inline TileShape ranked_shape(const Recording& recording, const RecordedDatum& datum,
                                            const RankModel& ranks) {
    if (is_token(datum)) return datum.shape;
    return ranked_shape(datum.shape, {recording.matrices[static_cast<std::size_t>(datum.matrix)], datum.index}, ranks);
}

/// The tiles of a recorded task, likewise.
[[nodiscard]] inline std::vector<TileShape> ranked_shapes(const Recording& recording, const RecordedItem& task,
                                                          const RankModel& ranks) {
    std::vector<TileShape> shapes;
    for (const RecordedAccess& access : recording.accesses_of(task))
        shapes.push_back(ranked_shape(recording, recording.data[static_cast<std::size_t>(access.datum)], ranks));
    return shapes;
}

/// What the ranks of its tiles leave of a recorded task's work: 1 where all are stored whole.
[[nodiscard]] inline double work_ratio(const Recording& recording, const RecordedItem& task, const RankModel& ranks) {
    return ranks.rank ? low_rank_work_ratio(*task.kernel, task.cost, ranked_shapes(recording, task, ranks)) : 1;
}

/// What they leave of its time, as a simulation has it; see Platform::recompression.
[[nodiscard]] inline double time_ratio(const Recording& recording, const RecordedItem& task, const RankModel& ranks,
                                       const LogCurve& recompression) {
    if (!ranks.rank) return 1;
    return low_rank_time_ratio(*task.kernel, task.cost, ranked_shapes(recording, task, ranks), recompression);
}

}  // namespace tesela
