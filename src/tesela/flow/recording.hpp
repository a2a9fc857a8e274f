#pragma once

#include "tesela/base/large_array.hpp"
#include "tesela/flow/directory.hpp"
#include "tesela/flow/engine.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace tesela {

/// A tile or token that appears in a recording.
struct RecordedDatum {
    std::int32_t matrix = 0;
    TileIndex index{};
    TileShape shape{};
    std::size_t bytes = 0;
    /// Who owned it when it was attached.
    std::int32_t owner = 0;
    /// Whether the caller brought a value.
    Directory::Value value = Directory::Value::none;
};

/// Whether it has no elements: it is there for the order of tasks alone, and travels as one byte.
[[nodiscard]] inline bool is_token(const RecordedDatum& datum) { return datum.bytes < element_bytes(ElementType::f32); }

struct RecordedAccess {
    std::int32_t datum = 0;
    AccessMode mode = AccessMode::read;
};

/// Tiles of a recorded matrix, as TileBlock.
struct RecordedBlock {
    std::int32_t matrix = 0;
    TileIndex first{};
    TileIndex last{};
};

/// Who a datum is shared with, as Readers.
struct RecordedReaders {
    std::vector<std::int32_t> nodes;
    std::vector<RecordedBlock> owners_of;
};

/// An exchange as a whole; `items` of the recording from `first_item` on are its target tiles.
struct RecordedExchange {
    std::shared_ptr<const Overlay> overlay;
    std::int32_t from = 0;  ///< matrix
    std::int32_t to = 0;
    std::size_t element_bytes = 0;
    ExchangeOptions options{};
    std::uint32_t first_item = 0;
    std::uint32_t items = 0;
};

/// One entry of a recorded stream. `move`, `retire` and `discard` have one access and use `node` as the destination of
/// the move; `share` has one, and its readers are `shares[first_part]`; `fetch` has one access and brings it to every
/// node; `workers` has none: the stream's workers are from here on those of `worker_sets[first_part]`; `exchange` is
/// what one target tile gets of `exchanges[exchange]`: it reads parts of its sources, whose bytes are `parts`, and its
/// last access is the target.
struct RecordedItem {
    enum class Kind : std::uint8_t { task, move, retire, discard, fetch, exchange, workers, share };
    Kind kind = Kind::task;
    Placement placement = Placement::automatic;
    Urgency urgency = Urgency::ordinary;
    /// Position of the limited resource it needs in `resources`, from 1; 0 for none.
    std::uint8_t resource = 0;
    std::uint32_t access_count = 0;
    std::int32_t node = 0;
    std::uint32_t first_part = 0;
    const Kernel* kernel = nullptr;
    std::int32_t step = 0;
    std::int32_t priority = 0;
    PhaseId phase = 0;
    std::uint32_t first_access = 0;
    std::uint32_t exchange = 0;
    std::uint16_t stream = 0;
    Reductions reductions = Reductions::none;
    KernelCost cost{};
};

/// Key of the counts over a recording.
struct KernelStep {
    std::string kernel;
    std::string phase;
    std::int32_t step = 0;
    friend auto operator<=>(const KernelStep&, const KernelStep&) = default;
};

/// One message between nodes: a datum and its version, or a parcel of an exchange.
struct Transfer {
    static constexpr std::int64_t parcel = -1;
    std::int64_t datum = parcel;
    std::uint32_t version = 0;  ///< of a parcel: its number in the exchange
    std::int32_t from = 0;
    std::int32_t to = 0;
    double bytes = 0;
    friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

/// Messages and bytes that cross between nodes.
struct Transfers {
    Index messages = 0;
    double bytes = 0;
    /// Bytes per (from, to), row by row, nodes × nodes.
    std::vector<double> matrix;
};

/// A matrix of a recording: its tiles are `data` from `first_datum` on, row by row.
struct RecordedMatrix {
    static constexpr std::uint32_t kept = 0xffffffffU;
    std::int32_t first_datum = 0;
    GridSize tiles;
    Allocation allocation = Allocation::when_written;
    /// The numbers of items and of waits before it was given up: items from this one on do not use it. `kept` while it
    /// is there.
    std::uint32_t given_up = kept;
    std::uint32_t waits_before = 0;
};

/// A stream that was opened, by its number.
struct RecordedStream {
    std::string name;
    Index max_pending = 0;
    WorkerSet workers;
};

/// A wait of a stream, after so many items, of which some are new since the wait before.
struct RecordedWait {
    std::uint32_t items = 0;
    std::uint16_t stream = 0;
};

/// A stream as a value: every task, move, exchange, share, retire and change of workers in order of submission.
struct Recording {
    Index nodes = 1;
    std::vector<RecordedStream> streams;
    std::vector<RecordedWait> waits;
    std::vector<std::string> matrices;
    std::vector<RecordedMatrix> grids;    ///< of the matrices
    std::vector<std::string> phases{""};  ///< of all streams, each name once
    std::vector<RecordedDatum> data;
    LargeArray<RecordedAccess> accesses;
    std::vector<Index> parts;
    std::vector<ResourceLimit> resources;
    std::vector<WorkerSet> worker_sets;
    std::vector<RecordedReaders> shares;
    std::vector<RecordedExchange> exchanges;
    LargeArray<RecordedItem> items;

    [[nodiscard]] std::span<const RecordedAccess> accesses_of(const RecordedItem& item) const {
        return {accesses.data() + item.first_access, item.access_count};
    }
    [[nodiscard]] std::size_t datum(std::int32_t matrix, TileIndex tile) const {
        const RecordedMatrix& grid = grids[static_cast<std::size_t>(matrix)];
        return static_cast<std::size_t>(grid.first_datum + tile.i * grid.tiles.cols + tile.j);
    }
    [[nodiscard]] Index task_count() const;
    [[nodiscard]] double flops() const;
    [[nodiscard]] std::map<std::string, Index> count_by_kernel() const;
    [[nodiscard]] std::map<KernelStep, Index> count_by_step() const;
};

/// The node where a recorded task runs: the one that was named, or the owner of the first tile it writes now.
[[nodiscard]] std::int32_t node_of(const Recording& recording, const RecordedItem& item, const Directory& directory);
/// The nodes that a recorded `share` means now.
[[nodiscard]] std::vector<std::int32_t> readers_of(const Recording& recording, const RecordedItem& item,
                                                   const Directory& directory);
/// What a recorded step does to the directory that is neither a task nor an exchange: it only says where data are.
template <class Effects>
void follow_placement(const Recording& recording, const RecordedItem& item, Directory& directory, Effects& effects) {
    if (item.access_count == 0) return;
    const auto datum = static_cast<std::size_t>(recording.accesses[item.first_access].datum);
    switch (item.kind) {
        case RecordedItem::Kind::move: return directory.move(datum, item.node, effects);
        case RecordedItem::Kind::retire: return directory.retire(datum, effects);
        case RecordedItem::Kind::discard: return directory.discard(datum, effects);
        case RecordedItem::Kind::fetch: return directory.visit(datum, effects, [] {});
        case RecordedItem::Kind::share: return directory.share(datum, readers_of(recording, item, directory), effects);
        case RecordedItem::Kind::task:
        case RecordedItem::Kind::exchange:
        case RecordedItem::Kind::workers: return;
    }
}
/// The parcels of a recorded exchange with the owners of now.
[[nodiscard]] Parcels parcels_of(const Recording& recording, const RecordedExchange& exchange,
                                 const Directory& directory);

/// The messages of the recorded stream, as the StarPU engine sends them (see Directory), in the order of the stream.
[[nodiscard]] std::vector<Transfer> list_transfers(const Recording& recording);
/// What every node must receive for the recorded stream.
[[nodiscard]] Transfers count_transfers(const Recording& recording);
/// The same with other owners for the matrices named; automatically placed tasks follow their tiles.
[[nodiscard]] Transfers count_transfers(const Recording& recording,
                                        const std::map<std::string, Distribution>& distributions);

/// Throws Error unless the distributions are of matrices that were recorded, fit their tiles, and have no more than so
/// many nodes.
void check_distributions(const Recording& recording, const std::map<std::string, Distribution>& distributions,
                         Index nodes);
/// Who owns each datum when it is attached, with other owners for the matrices named.
[[nodiscard]] std::vector<std::int32_t> owners_at_start(const Recording& recording,
                                                        const std::map<std::string, Distribution>& distributions);

/// Records what is submitted instead of running it. Futures yield the caller's default.
class RecordingEngine : public Engine {
public:
    explicit RecordingEngine(Index nodes = 1);

    [[nodiscard]] const Recording& recording() const { return recording_; }
    /// Matrices that are given up later leave no trace in what is taken. A new recording begins, with the same streams.
    [[nodiscard]] Recording take();
    /// The number of a stream that this engine has opened.
    [[nodiscard]] static std::uint16_t number_of(const StreamState& stream);

    [[nodiscard]] NodeId this_node() const override { return NodeId{0}; }
    [[nodiscard]] Index node_count() const override { return recording_.nodes; }
    [[nodiscard]] int worker_count() const override { return 1; }

    std::unique_ptr<StreamState> open(const StreamOptions& options) override;
    std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) override;
    void submit(StreamState& stream, const Task& task) override;
    bool move(StreamState& stream, TileRef tile, NodeId to) override;
    void exchange(StreamState& stream, const Exchange& exchange) override;
    void share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) override;
    void retire(StreamState& stream, TileRef tile) override;
    void discard(StreamState& stream, TileRef tile) override;
    void fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) override;
    Status wait(StreamState& stream) override;
    void set_workers(StreamState& stream, WorkerSet workers) override;

private:
    RecordedItem& add(RecordedItem::Kind kind, const StreamState& stream, TileRef tile, NodeId node);
    void add_target(const Exchange& exchange, TileIndex target, const RecordedItem& of_exchange);
    [[nodiscard]] std::uint8_t resource_number(const LimitedResource& resource);
    [[nodiscard]] PhaseId phase_number(StreamState& stream, PhaseId phase);
    Recording recording_;
    /// Lives as long as matrices belong to this recording.
    std::shared_ptr<Recording*> current_ = std::make_shared<Recording*>(&recording_);
};

}  // namespace tesela
