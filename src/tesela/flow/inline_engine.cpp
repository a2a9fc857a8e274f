#include "tesela/flow/inline_engine.hpp"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace tesela {
namespace {

class InlineAttachment final : public Attachment {
public:
    explicit InlineAttachment(MatrixSpec matrix)
        : Attachment(std::move(matrix)),
          tiles_(static_cast<std::size_t>(tiling().grid().count())) {}

    /// Allocates the tile if nothing touched it before.
    Tile tile(TileIndex index) {
        const TileShape size = shape(index);
        if (spec().memory) {
            const TileMemory memory = spec().memory(index);
            return {memory.data, size, memory.ld};
        }
        auto& storage = tiles_[position(index)];
        if (storage.empty()) storage.resize(bytes(index) / sizeof(double) + 1);
        return {storage.data(), size, size.rows};
    }

private:
    std::vector<std::vector<double>> tiles_;
};

Tile tile_of(const TileRef& ref) { return static_cast<InlineAttachment*>(ref.matrix)->tile(ref.index); }

}  // namespace

std::unique_ptr<StreamState> InlineEngine::open(const StreamOptions& options) {
    check_workers(options.workers, worker_count());
    return std::make_unique<StreamState>(options);
}

std::unique_ptr<Attachment> InlineEngine::attach(StreamState&, MatrixSpec spec) {
    return std::make_unique<InlineAttachment>(std::move(spec));
}

void InlineEngine::submit(StreamState& stream, const Task& task) {
    require_cpu_entry(task);
    if (task.resource != nullptr) number_of(resources_, *task.resource);  // one task at a time needs no more than one
    if (stream.failure.raised()) return;
    std::array<Tile, Task::max_accesses> tiles;
    std::size_t count = 0;
    for (const Access& access : task.used()) tiles[count++] = tile_of(access.tile);
    const KernelResult result = task.kernel->cpu({{tiles.data(), count}, task.arguments.data()});
    if (result.failure != Failure::none) stream.failure.raise({result.failure, result.index, result.reason});
}

bool InlineEngine::move(StreamState&, TileRef, NodeId) { return true; }

void InlineEngine::exchange(StreamState&, const Exchange& exchange) {
    const Orientation orientation = exchange.overlay->problem().orientation;
    const std::size_t element = element_bytes(exchange.from->type());
    exchange.overlay->for_each([&](const Segment& segment) {
        copy_segment(tile_of({exchange.from, segment.from}), tile_of({exchange.to, segment.to}),
                     segment_arguments(segment, orientation, element));
    });
}

void InlineEngine::share(StreamState&, TileRef, const Readers&, std::int32_t) {}
void InlineEngine::retire(StreamState&, TileRef) {}
void InlineEngine::discard(StreamState&, TileRef) {}

void InlineEngine::fetch(StreamState&, TileRef tile, std::shared_ptr<Fetched> into) {
    const Tile from = tile_of(tile);
    const std::size_t element = element_bytes(tile.matrix->type());
    const std::size_t column = static_cast<std::size_t>(from.rows()) * element;
    for (Index j = 0; j < from.cols(); ++j)
        std::memcpy(into->bytes().data() + static_cast<std::size_t>(j) * column,
                    static_cast<const std::byte*>(from.data) + static_cast<std::size_t>(j * from.ld) * element, column);
    into->arrive(true);
}

Status InlineEngine::wait(StreamState& stream) { return stream.failure.take(); }
void InlineEngine::set_workers(StreamState&, WorkerSet workers) { check_workers(workers, worker_count()); }

}  // namespace tesela
