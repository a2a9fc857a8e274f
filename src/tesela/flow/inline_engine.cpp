#include "tesela/flow/inline_engine.hpp"

#include "tesela/flow/access_rules.hpp"
#include "tesela/flow/running_kernel.hpp"
#include "tesela/kernels/tile_values.hpp"

#include <fmt/format.h>

#include <array>
#include <new>
#include <utility>
#include <vector>

namespace tesela {
namespace {

class InlineAttachment final : public Attachment {
public:
    explicit InlineAttachment(MatrixSpec matrix)
        : Attachment(std::move(matrix)),
          tiles_(static_cast<std::size_t>(tiling().grid().count())) {}

    /// Allocates the tile if nothing touched it before; one that is compressible is zero, of rank 0.
    Tile tile(TileIndex index) {
        TileShape size = shape(index);
        if (spec().memory) {
            const TileMemory memory = spec().memory(index);
            return {memory.data, size, memory.ld};
        }
        Stored& stored = tiles_[position(index)];
        if (compressible(index)) {
            size.rank = stored.rank;
            size.singles = stored.singles;
        } else if (stored.elements.empty()) {
            stored.elements.resize(bytes(index) / sizeof(double) + 1);
        }
        return {stored.elements.data(), size, size.rows};
    }

    /// How a compressible tile gets memory for another rank.
    class Room final : public TileRoom {
    public:
        Room() : TileRoom(0) {}
        Room(InlineAttachment& matrix, TileIndex tile)
            : TileRoom(matrix.compression()->accuracy, matrix.compression()->precision),
              matrix_(&matrix),
              tile_(tile) {}
        void* replace(Index rank, Index singles) noexcept override try {
            TileShape size = matrix_->shape(tile_);
            size.rank = rank;
            size.singles = singles;
            std::vector<double> elements(stored_bytes(size, element_bytes(matrix_->type())) / sizeof(double) + 1);
            matrix_->tiles_[matrix_->position(tile_)] = {std::move(elements), rank, singles};
            return matrix_->tiles_[matrix_->position(tile_)].elements.data();
        } catch (const std::bad_alloc&) {
            return nullptr;
        }

    private:
        InlineAttachment* matrix_ = nullptr;
        TileIndex tile_{};
    };

private:
    struct Stored {
        std::vector<double> elements;
        Index rank = 0;  ///< of a compressible tile, and of its columns those in single precision
        Index singles = 0;
    };
    std::vector<Stored> tiles_;
};

InlineAttachment& attachment_of(const TileRef& ref) { return static_cast<InlineAttachment&>(*ref.matrix); }
Tile tile_of(const TileRef& ref) { return attachment_of(ref).tile(ref.index); }

std::string describe_task(const void* what) {
    const Task& task = *static_cast<const Task*>(what);
    const Access* written = placing_access(task.used());
    if (written == nullptr) return fmt::format("the kernel {}", task.kernel->name);
    const TileRef& tile = written->tile;
    return fmt::format("the kernel {}, writing {}({}, {})", task.kernel->name, tile.matrix->name(), tile.index.i,
                       tile.index.j);
}

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
    std::array<InlineAttachment::Room, Task::max_accesses> rooms;
    std::size_t count = 0;
    for (const Access& access : task.used()) {
        Tile& tile = tiles[count] = tile_of(access.tile);
        tile.view = access.view;
        tile.checks = checks_;
        if (writes(access.mode) && access.tile.matrix->compressible(access.tile.index)) {
            rooms[count] = {attachment_of(access.tile), access.tile.index};
            tile.room = &rooms[count];
        }
        ++count;
    }
    const RunningKernel running(describe_task, &task);
    const KernelResult result = task.kernel->cpu({{tiles.data(), count}, task.arguments.data()});
    if (result.failure != Failure::none) stream.failure.raise(status_of(*task.kernel, result));
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

void InlineEngine::fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) {
    if (stream.failure.raised()) return into->arrive(Arrival::failure);
    copy_values(tile_of(tile), tile.matrix->type(), into->bytes().data());
    into->arrive(Arrival::value);
}

Status InlineEngine::wait(StreamState& stream) { return stream.failure.take(); }
void InlineEngine::set_workers(StreamState&, WorkerSet workers) { check_workers(workers, worker_count()); }

}  // namespace tesela
