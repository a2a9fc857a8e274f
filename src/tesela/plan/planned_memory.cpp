#include "tesela/plan/planned_memory.hpp"

#include "tesela/sim/kernel_work.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tesela::plan {
namespace {

TileMap bytes_of_tiles(const MatrixSpec& spec, Stored stored, const RankModel& ranks) {
    TileMap bytes(spec.tiling.grid());
    for (Index i = 0; i < bytes.grid().rows; ++i)
        for (Index j = 0; j < bytes.grid().cols; ++j) {
            if (!is_stored({i, j}, stored)) continue;
            const TileShape whole{.rows = spec.tiling.rows(i), .cols = spec.tiling.cols(j)};
            bytes[{i, j}] = tile_bytes(ranked_shape(whole, {spec.name, {i, j}}, ranks),
                                       static_cast<double>(stored_bytes(whole, element_bytes(spec.type))));
        }
    return bytes;
}

/// Each node has its share by its memory: so the least is missing of each.
void require_room_for(double bytes, const PlannedMatrix& matrix, const Platform& platform) {
    const double available = total_memory(platform);
    if (bytes <= available) return;
    const NodeType& type = platform.node_types.front();
    throw Error(
        "{} x {} tiles of {} do not fit: {}, though the others have as much as they can; take more nodes",
        matrix.tiles.rows, matrix.tiles.cols, matrix.tile,
        describe(MemoryShortage{
            .node = 0, .type = type.name, .needed = bytes * type.memory / available, .available = type.memory}));
}

}  // namespace

std::vector<double> least_needed(const PlannedMemory& memory) {
    std::vector<double> needed = memory.first;
    for (std::size_t n = 0; n < needed.size(); ++n) needed[n] = std::max(needed[n], memory.second[n]);
    return needed;
}

OverMemory::OverMemory(MemoryShortage worst, PlannedMemory memory)
    : Error("{}", describe(worst)),
      worst_(std::move(worst)),
      memory_(std::move(memory)) {}

void require_memory(const PlannedMemory& memory, const Platform& platform) {
    std::vector<MemoryShortage> shortages = memory.peak.empty()
                                                ? memory_shortages(platform, least_needed(memory), NeededFor::tiles)
                                                : memory_shortages(platform, memory.peak, NeededFor::tiles_and_copies);
    if (shortages.empty()) return;
    throw OverMemory(std::move(*std::ranges::max_element(shortages, {}, &MemoryShortage::ratio)), memory);
}

RecorderOfMatrix::RecorderOfMatrix(const PlannedMatrix& matrix, const Platform& platform, const RankModel& ranks)
    : RecordingEngine(tesela::node_count(platform)),
      matrix_(matrix),
      platform_(platform),
      ranks_(ranks),
      tile_bytes_(matrix.tiles) {}

std::unique_ptr<Attachment> RecorderOfMatrix::attach(StreamState& stream, MatrixSpec spec) {
    const bool is_planned = spec.tiling.grid() == matrix_.tiles && (matrix_.name.empty() || spec.name == matrix_.name);
    if (is_planned && tile_bytes_.total() == 0) {
        tile_bytes_ = bytes_of_tiles(spec, matrix_.stored(), ranks_);
        require_room_for(tile_bytes_.total(), matrix_, platform_);
    }
    return RecordingEngine::attach(stream, std::move(spec));
}

}  // namespace tesela::plan
