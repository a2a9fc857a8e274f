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
        const auto recording = recording_.lock();
        if (!recording) return;
        RecordedMatrix& recorded = (*recording)->grids[static_cast<std::size_t>(number_)];
        recorded.given_up = static_cast<std::uint32_t>((*recording)->items.size());
        recorded.waits_before = static_cast<std::uint32_t>((*recording)->waits.size());
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

/// A stream as the recording engine keeps it.
class RecordedStreamState final : public StreamState {
public:
    RecordedStreamState(const StreamOptions& options, std::uint16_t stream) : StreamState(options), number(stream) {}
    std::uint16_t number;
    /// Where its phases are among those of the recording, as far as they are known.
    std::vector<PhaseId> known_phases;
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
    const std::vector<std::int32_t> owners = owners_at_start(recording, distributions);
    for (std::size_t d = 0; d < owners.size(); ++d) directory.add(owners[d], recording.data[d].value);
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

void check_distributions(const Recording& recording, const std::map<std::string, Distribution>& distributions,
                         Index nodes) {
    for (const auto& [name, distribution] : distributions) {
        if (std::find(recording.matrices.begin(), recording.matrices.end(), name) == recording.matrices.end())
            throw Error("no matrix called {} was recorded", name);
        if (distribution.nodes() > nodes)
            throw Error("the distribution for matrix {} has {} nodes; the recording has {}", name, distribution.nodes(),
                        nodes);
    }
    for (std::size_t m = 0; m < recording.matrices.size(); ++m) {
        const auto other = distributions.find(recording.matrices[m]);
        if (other == distributions.end() || other->second.grid() == recording.grids[m].tiles) continue;
        const GridSize tiles = recording.grids[m].tiles;
        throw Error("matrix {} has {}x{} tiles, but its distribution is for {}x{}", recording.matrices[m], tiles.rows,
                    tiles.cols, other->second.grid().rows, other->second.grid().cols);
    }
}

std::vector<std::int32_t> owners_at_start(const Recording& recording,
                                          const std::map<std::string, Distribution>& distributions) {
    std::vector<std::int32_t> owners;
    owners.reserve(recording.data.size());
    const Distribution* other = nullptr;
    for (std::size_t d = 0; d < recording.data.size(); ++d) {
        const RecordedDatum& datum = recording.data[d];
        if (d == 0 || datum.matrix != recording.data[d - 1].matrix) {
            const auto found = distributions.find(recording.matrices[static_cast<std::size_t>(datum.matrix)]);
            other = found == distributions.end() ? nullptr : &found->second;
        }
        owners.push_back(other == nullptr ? datum.owner
                                          : static_cast<std::int32_t>(other->owner(datum.index).number()));
    }
    return owners;
}

Transfers count_transfers(const Recording& recording) { return count_transfers(recording, {}); }

Transfers count_transfers(const Recording& recording, const std::map<std::string, Distribution>& distributions) {
    check_distributions(recording, distributions, recording.nodes);
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
    return std::exchange(recording_, {.nodes = recording_.nodes, .streams = recording_.streams});
}

std::uint16_t RecordingEngine::number_of(const StreamState& stream) {
    return static_cast<const RecordedStreamState&>(stream).number;
}

std::unique_ptr<StreamState> RecordingEngine::open(const StreamOptions& options) {
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    if (recording_.streams.size() > most) throw Error("too many streams: at most {} can be recorded", most + 1);
    const auto number = static_cast<std::uint16_t>(recording_.streams.size());
    recording_.streams.push_back({options.name, options.max_pending, options.workers});
    return std::make_unique<RecordedStreamState>(options, number);
}

std::unique_ptr<Attachment> RecordingEngine::attach(StreamState&, MatrixSpec spec) {
    auto attached = std::make_unique<RecordedAttachment>(std::move(spec), current_);
    const std::int32_t matrix = attached->number();
    recording_.matrices.push_back(attached->name());
    const GridSize tiles = attached->tiling().grid();
    recording_.grids.push_back(
        {.first_datum = attached->datum({0, 0}), .tiles = tiles, .allocation = attached->allocation()});
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
                      .first_access = static_cast<std::uint32_t>(recording_.accesses.size()),
                      .stream = number_of(stream),
                      .reductions = task.reductions};
    if (task.resource != nullptr) item.resource = resource_number(*task.resource);
    std::size_t count = 0;
    for (const Access& access : task.used()) {
        shapes[count++] = access.shape();
        recording_.accesses.push_back({datum_of(access.tile), access.mode});
    }
    item.cost = task.kernel->cost({shapes.data(), count}, task.arguments.data());
    recording_.items.push_back(item);
}

std::uint8_t RecordingEngine::resource_number(const LimitedResource& resource) {
    const std::size_t number = tesela::number_of(recording_.resources, resource) + 1;
    if (number > std::numeric_limits<std::uint8_t>::max()) throw Error("too many limited resources: at most 255");
    return static_cast<std::uint8_t>(number);
}

RecordedItem& RecordingEngine::add(RecordedItem::Kind kind, const StreamState& stream, TileRef tile, NodeId node) {
    recording_.items.push_back({.kind = kind,
                                .access_count = 1,
                                .node = static_cast<std::int32_t>(node.number()),
                                .first_access = static_cast<std::uint32_t>(recording_.accesses.size()),
                                .stream = number_of(stream)});
    recording_.accesses.push_back({datum_of(tile), AccessMode::read});
    return recording_.items.back();
}

/// Streams number their phases each for itself.
PhaseId RecordingEngine::phase_number(StreamState& stream, PhaseId phase) {
    auto& names = recording_.phases;
    const std::string& name = stream.phases[static_cast<std::size_t>(phase)];
    auto& known = static_cast<RecordedStreamState&>(stream).known_phases;
    if (known.size() < stream.phases.size()) known.resize(stream.phases.size(), 0);
    PhaseId& number = known[static_cast<std::size_t>(phase)];
    // What is known may be of a recording that has been taken.
    if (std::cmp_less(number, names.size()) && names[static_cast<std::size_t>(number)] == name) return number;
    number = static_cast<PhaseId>(std::find(names.begin(), names.end(), name) - names.begin());
    if (static_cast<std::size_t>(number) == names.size()) names.push_back(name);
    return number;
}

void RecordingEngine::exchange(StreamState& stream, const Exchange& exchange) {
    const RecordedItem like{.kind = RecordedItem::Kind::exchange,
                            .kernel = &SegmentKernels::copy,
                            .priority = exchange.options.priority,
                            .phase = phase_number(stream, exchange.phase),
                            .exchange = static_cast<std::uint32_t>(recording_.exchanges.size()),
                            .stream = number_of(stream)};
    const auto first_item = static_cast<std::uint32_t>(recording_.items.size());
    recording_.exchanges.push_back({.overlay = exchange.overlay,
                                    .from = matrix_of(*exchange.from),
                                    .to = matrix_of(*exchange.to),
                                    .element_bytes = element_bytes(exchange.from->type()),
                                    .options = exchange.options,
                                    .first_item = first_item});
    for_each_target(*exchange.overlay, [&](TileIndex tile) { add_target(exchange, tile, like); });
    recording_.exchanges.back().items = static_cast<std::uint32_t>(recording_.items.size()) - first_item;
}

void RecordingEngine::add_target(const Exchange& exchange, TileIndex target, const RecordedItem& of_exchange) {
    RecordedItem item = of_exchange;
    item.node = static_cast<std::int32_t>(exchange.to->owner(target).number());
    item.first_part = static_cast<std::uint32_t>(recording_.parts.size());
    item.first_access = static_cast<std::uint32_t>(recording_.accesses.size());
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

bool RecordingEngine::move(StreamState& stream, TileRef tile, NodeId to) {
    add(RecordedItem::Kind::move, stream, tile, to);
    return true;
}

void RecordingEngine::share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) {
    RecordedItem& item = add(RecordedItem::Kind::share, stream, tile, tile.owner());
    item.priority = priority;
    item.first_part = static_cast<std::uint32_t>(recording_.shares.size());
    RecordedReaders& wanted = recording_.shares.emplace_back();
    for (const NodeId node : readers.nodes) wanted.nodes.push_back(static_cast<std::int32_t>(node.number()));
    for (const TileBlock& block : readers.owners_of)
        wanted.owners_of.push_back({matrix_of(*block.matrix), block.first, block.last});
}

void RecordingEngine::retire(StreamState& stream, TileRef tile) {
    add(RecordedItem::Kind::retire, stream, tile, tile.owner());
}

void RecordingEngine::discard(StreamState& stream, TileRef tile) {
    add(RecordedItem::Kind::discard, stream, tile, tile.owner());
}

void RecordingEngine::fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) {
    add(RecordedItem::Kind::fetch, stream, tile, tile.owner());
    into->arrive(Arrival::no_data);
}

Status RecordingEngine::wait(StreamState& stream) {
    const auto items = static_cast<std::uint32_t>(recording_.items.size());
    const std::uint32_t before = recording_.waits.empty() ? 0 : recording_.waits.back().items;
    if (items > before) recording_.waits.push_back({items, number_of(stream)});
    return {};
}

void RecordingEngine::set_workers(StreamState& stream, WorkerSet workers) {
    recording_.items.push_back({.kind = RecordedItem::Kind::workers,
                                .first_part = static_cast<std::uint32_t>(recording_.worker_sets.size()),
                                .stream = number_of(stream)});
    recording_.worker_sets.push_back(std::move(workers));
}

}  // namespace tesela
