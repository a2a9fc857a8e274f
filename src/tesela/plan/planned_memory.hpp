#pragma once

#include "tesela/base/error.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/plan/recipe.hpp"
#include "tesela/platform/main_memory.hpp"
#include "tesela/sim/rank_model.hpp"

#include <memory>
#include <vector>

namespace tesela::plan {

/// Bytes in the main memory of each node.
struct PlannedMemory {
    std::vector<double> first;   ///< of the tiles that it owns in the first phase
    std::vector<double> second;  ///< and in the second
    std::vector<double> peak;    ///< the most at a time, simulated: tiles of both phases while they move, and copies
};

/// What every run needs of a node whatever else it keeps: the tiles of the phase in which it owns more of them.
[[nodiscard]] std::vector<double> least_needed(const PlannedMemory& memory);

/// Thrown for owners of tiles that do not fit into the memory of nodes.
class OverMemory : public Error {
public:
    OverMemory(MemoryShortage worst, PlannedMemory memory);
    [[nodiscard]] const MemoryShortage& worst() const { return worst_; }
    [[nodiscard]] const PlannedMemory& memory() const { return memory_; }

private:
    MemoryShortage worst_;
    PlannedMemory memory_;
};

/// Throws OverMemory with the node that is most short of memory, if one is: by the peak where that is known.
void require_memory(const PlannedMemory& memory, const Platform& platform);

/// Records a stream, and knows from the moment that it is attached what the tiles of the planned matrix take, with
/// these ranks: the matrix of its name, or the first with as many tiles.
class RecorderOfMatrix final : public RecordingEngine {
public:
    RecorderOfMatrix(const PlannedMatrix& matrix, const Platform& platform, const RankModel& ranks);
    /// Throws Error naming a node and bytes where all nodes together have no room for the matrix: before its tasks,
    /// which may be millions, are submitted.
    std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) override;
    /// Of tiles that are not stored 0.
    [[nodiscard]] const TileMap& tile_bytes() const { return tile_bytes_; }

private:
    const PlannedMatrix& matrix_;
    const Platform& platform_;
    const RankModel& ranks_;
    TileMap tile_bytes_;
};

}  // namespace tesela::plan
