#include "tesela/flow/recording.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tesela {
namespace {

class RecordedAttachment final : public Attachment {
public:
    RecordedAttachment(MatrixSpec matrix, const std::shared_ptr<Recording*>& recording)
        : Attachment(std::move(matrix)),
          recording_(recording),
          number_(static_cast<std::int32_t>((*recording)->matrices.size())),
          first_datum_(static_cast<std::int32_t>((*recording)->data.size())) {}
    ~RecordedAttachment() override {
        if (const auto recording = recording_.lock())
            (*recording)->grids[static_cast<std::size_t>(number_)].given_up =
                static_cast<std::uint32_t>((*recording)->items.size());
    }
    RecordedAttachment(const RecordedAttachment&) = delete;
    RecordedAttachment& operator=(const RecordedAttachment&) = delete;
    RecordedAttachment(RecordedAttachment&&) = delete;
    RecordedAttachment& operator=(RecordedAttachment&&) = delete;

    [[nodiscard]] std::int32_t number() const { return number_; }
    [[nodiscard]] std::int32_t datum(TileIndex tile) const {
        return first_datum_ + static_cast<std::int32_t>(position(tile));
    }

private:
    std::weak_ptr<Recording*> recording_;
    std::int32_t number_;
    std::int32_t first_datum_;
};

std::int32_t datum_of(const TileRef& ref) { return static_cast<RecordedAttachment*>(ref.matrix)->datum(ref.index); }

std::int32_t matrix_of(const Attachment& matrix) { return static_cast<const RecordedAttachment&>(matrix).number(); }

/// Walks a recorded stream and tells `message` of each message.
template <class Message>
class Replay {
public:
    Replay(const Recording& recording, Directory directory, Message message)
        : recording_(recording),
          directory_(std::move(directory)),
          message_(std::move(message)) {}

    void run() {
        for (const RecordedItem& item : recording_.items) step(item);
    }

    // Effects of the directory:
    void send(std::size_t datum, std::int32_t from, std::span<const std::int32_t> to) {
        for (const std::int32_t node : to)
            message_(Transfer{.datum = static_cast<std::int64_t>(datum),
                              .version = directory_.version(datum),
                              .from = from,
                              .to = node,
                              .bytes = static_cast<double>(recording_.data[datum].bytes)});
    }
    void take(std::size_t, std::int32_t) {}
    void drop(std::size_t, std::int32_t) {}

private:
    void step(const RecordedItem& item) {
        if (item.kind == RecordedItem::Kind::task) return task(item);
        if (item.kind == RecordedItem::Kind::exchange) return exchange(item);
        follow_placement(recording_, item, directory_, *this);
    }

    void task(const RecordedItem& item) {
        struct Place {
            Directory& directory;
            std::size_t datum;
            Replay& effects;
        };
        follow_task(
            recording_.accesses_of(item), node_of(recording_, item, directory_),
            [&](const RecordedAccess& access) {
                return Place{directory_, static_cast<std::size_t>(access.datum), *this};
            },
            [] {});
    }

    void exchange(const RecordedItem& item) {
        const RecordedExchange& whole = recording_.exchanges[item.exchange];
        if (&item == &recording_.items[whole.first_item])
            for (const Parcel& parcel : parcels_of(recording_, whole, directory_).parcels)
                if (parcel.from != parcel.to)
                    message_(Transfer{.version = static_cast<std::uint32_t>(parcel.number),
                                      .from = static_cast<std::int32_t>(parcel.from.number()),
                                      .to = static_cast<std::int32_t>(parcel.to.number()),
                                      .bytes = static_cast<double>(parcel.bytes)});
        directory_.written(static_cast<std::size_t>(recording_.accesses_of(item).back().datum), *this);
    }

    const Recording& recording_;
    Directory directory_;
    Message message_;
};

Directory directory_at_start(const Recording& recording, const std::map<std::string, Distribution>& distributions) {
    Directory directory(recording.nodes);
    for (const RecordedDatum& datum : recording.data) {
        const auto other = distributions.find(recording.matrices[static_cast<std::size_t>(datum.matrix)]);
        directory.add(other == distributions.end()
                          ? datum.owner
                          : static_cast<std::int32_t>(other->second.owner(datum.index).number()),
                      datum.value);
    }
    return directory;
}

/// Who owns the tiles of a matrix now.
Distribution owners_now(const Recording& recording, std::int32_t matrix, const Directory& directory) {
    const RecordedMatrix& grid = recording.grids[static_cast<std::size_t>(matrix)];
    std::vector<std::int32_t> owners;
    for (Index tile = 0; tile < grid.tiles.count(); ++tile)
        owners.push_back(directory.owner(static_cast<std::size_t>(grid.first_datum + tile)));
    return {grid.tiles, directory.nodes(), std::move(owners)};
}

}  // namespace

Index Recording::task_count() const {
    return std::count_if(items.begin(), items.end(),
                         [](const RecordedItem& item) { return item.kind == RecordedItem::Kind::task; });
}

double Recording::flops() const {
    double total = 0;
    for (const RecordedItem& item : items) total += item.cost.flops;
    return total;
}

std::map<std::string, Index> Recording::count_by_kernel() const {
    std::map<std::string, Index> counts;
    for (const RecordedItem& item : items)
        if (item.kind == RecordedItem::Kind::task) ++counts[item.kernel->name];
    return counts;
}

std::map<KernelStep, Index> Recording::count_by_step() const {
    std::map<KernelStep, Index> counts;
    for (const RecordedItem& item : items)
        if (item.kind == RecordedItem::Kind::task)
            ++counts[{item.kernel->name, phases[static_cast<std::size_t>(item.phase)], item.step}];
    return counts;
}

Transfers count_transfers(const Recording& recording) { return count_transfers(recording, {}); }

Transfers count_transfers(const Recording& recording, const std::map<std::string, Distribution>& distributions) {
    for (const auto& [name, distribution] : distributions) {
        if (std::find(recording.matrices.begin(), recording.matrices.end(), name) == recording.matrices.end())
            throw Error("no matrix called {} was recorded", name);
        if (distribution.nodes() > recording.nodes)
            throw Error("the distribution for matrix {} has {} nodes; the recording has {}", name, distribution.nodes(),
                        recording.nodes);
    }
    Transfers total;
    total.matrix.assign(static_cast<std::size_t>(recording.nodes * recording.nodes), 0);
    Replay(recording, directory_at_start(recording, distributions), [&](const Transfer& message) {
        ++total.messages;
        total.bytes += message.bytes;
        total.matrix[static_cast<std::size_t>(message.from * recording.nodes + message.to)] += message.bytes;
    }).run();
    return total;
}

std::vector<Transfer> list_transfers(const Recording& recording) {
    std::vector<Transfer> messages;
    Replay(recording, directory_at_start(recording, {}), [&](const Transfer& message) {
        messages.push_back(message);
    }).run();
    return messages;
}

std::int32_t node_of(const Recording& recording, const RecordedItem& item, const Directory& directory) {
    if (item.placement == Placement::named) return item.node;
    const RecordedAccess* placing = placing_access(recording.accesses_of(item));
    return placing == nullptr ? item.node : directory.owner(static_cast<std::size_t>(placing->datum));
}

std::vector<std::int32_t> readers_of(const Recording& recording, const RecordedItem& item, const Directory& directory) {
    const RecordedReaders& wanted = recording.shares[item.first_part];
    return list_readers(wanted.nodes, wanted.owners_of, [&](const RecordedBlock& block, TileIndex tile) {
        return directory.owner(recording.datum(block.matrix, tile));
    });
}

Parcels parcels_of(const Recording& recording, const RecordedExchange& exchange, const Directory& directory) {
    const Distribution from = owners_now(recording, exchange.from, directory);
    const Distribution to = owners_now(recording, exchange.to, directory);
    return exchange_parcels(*exchange.overlay, {from, to}, exchange.element_bytes, exchange.options);
}

RecordingEngine::RecordingEngine(Index nodes) {
    if (nodes < 1) throw Error("a recording needs at least one node; it has {}", nodes);
    recording_.nodes = nodes;
}

Recording RecordingEngine::take() {
    current_ = std::make_shared<Recording*>(&recording_);
    return std::exchange(recording_, {.nodes = recording_.nodes});
}

std::unique_ptr<StreamState> RecordingEngine::open(const StreamOptions& options) {
    return std::make_unique<StreamState>(options);
}

std::unique_ptr<Attachment> RecordingEngine::attach(StreamState&, MatrixSpec spec) {
    auto attached = std::make_unique<RecordedAttachment>(std::move(spec), current_);
    const std::int32_t matrix = attached->number();
    recording_.matrices.push_back(attached->name());
    const GridSize tiles = attached->tiling().grid();
    recording_.grids.push_back({.first_datum = attached->datum({0, 0}), .tiles = tiles});
    const auto value = attached->has_callers_memory() ? Directory::Value::given : Directory::Value::none;
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j)
            recording_.data.push_back({matrix,
                                       {i, j},
                                       attached->shape({i, j}),
                                       attached->message_bytes({i, j}),
                                       static_cast<std::int32_t>(attached->owner({i, j}).number()),
                                       value});
    return attached;
}

void RecordingEngine::submit(StreamState& stream, const Task& task) {
    std::array<TileShape, Task::max_accesses> shapes;
    RecordedItem item{.placement = task.placement,
                      .urgency = task.urgency,
                      .access_count = static_cast<std::uint32_t>(task.access_count),
                      .node = static_cast<std::int32_t>(task.node),
                      .kernel = task.kernel,
                      .step = task.step,
                      .priority = task.priority,
                      .phase = phase_number(stream, task.phase),
                      .first_access = static_cast<std::uint32_t>(recording_.accesses.size())};
    if (task.resource != nullptr) item.resource = resource_number(*task.resource);
    std::size_t count = 0;
    for (const Access& access : task.used()) {
        shapes[count++] = access.tile.shape();
        recording_.accesses.push_back({datum_of(access.tile), access.mode});
    }
    item.cost = task.kernel->cost({shapes.data(), count}, task.arguments.data());
    recording_.items.push_back(item);
}

std::uint8_t RecordingEngine::resource_number(const LimitedResource& resource) {
    const std::size_t number = number_of(recording_.resources, resource) + 1;
    if (number > std::numeric_limits<std::uint8_t>::max()) throw Error("too many limited resources: at most 255");
    return static_cast<std::uint8_t>(number);
}

RecordedItem& RecordingEngine::add(RecordedItem::Kind kind, TileRef tile, NodeId node) {
    recording_.items.push_back({.kind = kind,
                                .access_count = 1,
                                .node = static_cast<std::int32_t>(node.number()),
                                .first_access = static_cast<std::uint32_t>(recording_.accesses.size())});
    recording_.accesses.push_back({datum_of(tile), AccessMode::read});
    return recording_.items.back();
}

/// Streams number their phases each for itself.
PhaseId RecordingEngine::phase_number(const StreamState& stream, PhaseId phase) {
    auto& names = recording_.phases;
    const std::string& name = stream.phases[static_cast<std::size_t>(phase)];
    auto& known = phases_of_[&stream];
    if (known.size() < stream.phases.size()) known.resize(stream.phases.size(), 0);
    PhaseId& number = known[static_cast<std::size_t>(phase)];
    // A new stream may stand where an old one was.
    if (names[static_cast<std::size_t>(number)] == name) return number;
    number = static_cast<PhaseId>(std::find(names.begin(), names.end(), name) - names.begin());
    if (static_cast<std::size_t>(number) == names.size()) names.push_back(name);
    return number;
}

void RecordingEngine::exchange(StreamState& stream, const Exchange& exchange) {
    const PhaseId phase = phase_number(stream, exchange.phase);
    const auto first_item = static_cast<std::uint32_t>(recording_.items.size());
    recording_.exchanges.push_back({.overlay = exchange.overlay,
                                    .from = matrix_of(*exchange.from),
                                    .to = matrix_of(*exchange.to),
                                    .element_bytes = element_bytes(exchange.from->type()),
                                    .options = exchange.options,
                                    .first_item = first_item});
    for_each_target(*exchange.overlay, [&](TileIndex tile) { add_target(exchange, tile, phase); });
    recording_.exchanges.back().items = static_cast<std::uint32_t>(recording_.items.size()) - first_item;
}

void RecordingEngine::add_target(const Exchange& exchange, TileIndex target, PhaseId phase) {
    RecordedItem item{.kind = RecordedItem::Kind::exchange,
                      .node = static_cast<std::int32_t>(exchange.to->owner(target).number()),
                      .first_part = static_cast<std::uint32_t>(recording_.parts.size()),
                      .kernel = &SegmentKernels::copy,
                      .priority = exchange.options.priority,
                      .phase = phase,
                      .first_access = static_cast<std::uint32_t>(recording_.accesses.size()),
                      .exchange = static_cast<std::uint32_t>(recording_.exchanges.size() - 1)};
    const auto element = static_cast<Index>(element_bytes(exchange.from->type()));
    exchange.overlay->for_each_in(target, [&](const Segment& segment) {
        const Index bytes = segment.shape.count() * element;
        recording_.accesses.push_back({datum_of({exchange.from, segment.from}), AccessMode::read});
        recording_.parts.push_back(bytes);
        item.cost.bytes += 2.0 * static_cast<double>(bytes);
        ++item.access_count;
    });
    const bool filled = exchange.overlay->covers(target);
    recording_.accesses.push_back(
        {datum_of({exchange.to, target}), filled ? AccessMode::write : AccessMode::read_write});
    ++item.access_count;
    recording_.items.push_back(item);
}

bool RecordingEngine::move(StreamState&, TileRef tile, NodeId to) {
    add(RecordedItem::Kind::move, tile, to);
    return true;
}

void RecordingEngine::share(StreamState&, TileRef tile, const Readers& readers, std::int32_t priority) {
    RecordedItem& item = add(RecordedItem::Kind::share, tile, tile.owner());
    item.priority = priority;
    item.first_part = static_cast<std::uint32_t>(recording_.shares.size());
    RecordedReaders& wanted = recording_.shares.emplace_back();
    for (const NodeId node : readers.nodes) wanted.nodes.push_back(static_cast<std::int32_t>(node.number()));
    for (const TileBlock& block : readers.owners_of)
        wanted.owners_of.push_back({matrix_of(*block.matrix), block.first, block.last});
}

void RecordingEngine::retire(StreamState&, TileRef tile) { add(RecordedItem::Kind::retire, tile, tile.owner()); }

void RecordingEngine::fetch(StreamState&, TileRef tile, std::shared_ptr<Fetched> into) {
    add(RecordedItem::Kind::fetch, tile, tile.owner());
    into->arrive(false);
}

Status RecordingEngine::wait(StreamState&) { return {}; }

void RecordingEngine::set_workers(StreamState&, WorkerSet workers) {
    recording_.items.push_back(
        {.kind = RecordedItem::Kind::workers, .first_part = static_cast<std::uint32_t>(recording_.worker_sets.size())});
    recording_.worker_sets.push_back(std::move(workers));
}

}  // namespace tesela
