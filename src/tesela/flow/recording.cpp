#include "tesela/flow/recording.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tesela {
namespace {

class RecordedAttachment final : public Attachment {
public:
    RecordedAttachment(MatrixSpec matrix, std::int32_t first_datum)
        : Attachment(std::move(matrix)),
          first_datum_(first_datum) {}
    [[nodiscard]] std::int32_t datum(TileIndex tile) const {
        return first_datum_ + static_cast<std::int32_t>(position(tile));
    }

private:
    std::int32_t first_datum_;
};

std::int32_t datum_of(const TileRef& ref) { return static_cast<RecordedAttachment*>(ref.matrix)->datum(ref.index); }

/// Which nodes hold each datum while a recorded stream is replayed.
class Copies {
public:
    explicit Copies(const Recording& recording, const std::map<std::string, Distribution>& distributions)
        : recording_(recording),
          words_((recording.nodes + 63) / 64),
          held_(recording.data.size() * static_cast<std::size_t>(words_), 0) {
        for (const RecordedDatum& datum : recording.data) {
            const auto other = distributions.find(recording.matrices[static_cast<std::size_t>(datum.matrix)]);
            owner_.push_back(other == distributions.end()
                                 ? datum.owner
                                 : static_cast<std::int32_t>(other->second.owner(datum.index).number()));
        }
        for (std::size_t d = 0; d < recording.data.size(); ++d) hold(d, owner_[d]);
        result_.matrix.assign(static_cast<std::size_t>(recording.nodes * recording.nodes), 0);
    }

    [[nodiscard]] std::int32_t owner(std::size_t datum) const { return owner_[datum]; }

    void need(std::size_t datum, std::int32_t node) {
        if (holds(datum, node)) return;
        send(datum, owner_[datum], node);
        hold(datum, node);
    }
    void written(std::size_t datum, std::int32_t node) {
        forget(datum);
        hold(datum, node);
        if (node != owner_[datum]) send(datum, node, owner_[datum]);
        hold(datum, owner_[datum]);
    }
    void move(std::size_t datum, std::int32_t to) {
        need(datum, to);
        owner_[datum] = to;
        retire(datum);
    }
    void retire(std::size_t datum) {
        forget(datum);
        hold(datum, owner_[datum]);
    }
    /// Part of a datum goes to a node and is not kept there.
    void send_part(std::size_t datum, std::int32_t to, Index bytes) {
        if (owner_[datum] != to) send_bytes(static_cast<double>(bytes), owner_[datum], to);
    }
    [[nodiscard]] Transfers take() { return std::move(result_); }

private:
    [[nodiscard]] std::size_t word(std::size_t datum, std::int32_t node) const {
        return datum * static_cast<std::size_t>(words_) + static_cast<std::size_t>(node / 64);
    }
    [[nodiscard]] static std::uint64_t bit(std::int32_t node) { return std::uint64_t{1} << (node % 64); }
    [[nodiscard]] bool holds(std::size_t datum, std::int32_t node) const {
        return (held_[word(datum, node)] & bit(node)) != 0;
    }
    void hold(std::size_t datum, std::int32_t node) { held_[word(datum, node)] |= bit(node); }
    void forget(std::size_t datum) {
        for (Index w = 0; w < words_; ++w)
            held_[datum * static_cast<std::size_t>(words_) + static_cast<std::size_t>(w)] = 0;
    }
    void send(std::size_t datum, std::int32_t from, std::int32_t to) {
        send_bytes(static_cast<double>(recording_.data[datum].bytes), from, to);
    }
    void send_bytes(double bytes, std::int32_t from, std::int32_t to) {
        ++result_.messages;
        result_.bytes += bytes;
        result_.matrix[static_cast<std::size_t>(from * recording_.nodes + to)] += bytes;
    }

    const Recording& recording_;
    Index words_;
    std::vector<std::uint64_t> held_;
    std::vector<std::int32_t> owner_;
    Transfers result_;
};

std::int32_t node_of(const Recording& recording, const RecordedItem& item, const Copies& copies) {
    if (item.placement == Placement::named) return item.node;
    for (const RecordedAccess& access : recording.accesses_of(item))
        if (writes(access.mode)) return copies.owner(static_cast<std::size_t>(access.datum));
    return item.node;
}

void replay_task(const Recording& recording, const RecordedItem& item, Copies& copies) {
    const std::int32_t node = node_of(recording, item, copies);
    for (const RecordedAccess& access : recording.accesses_of(item))
        if (reads(access.mode)) copies.need(static_cast<std::size_t>(access.datum), node);
    for (const RecordedAccess& access : recording.accesses_of(item))
        if (writes(access.mode)) copies.written(static_cast<std::size_t>(access.datum), node);
}

void replay_exchange(const Recording& recording, const RecordedItem& item, Copies& copies) {
    const auto accesses = recording.accesses_of(item);
    const auto parts = recording.parts_of(item);
    const auto target = static_cast<std::size_t>(accesses.back().datum);
    for (std::size_t k = 0; k < parts.size(); ++k)
        copies.send_part(static_cast<std::size_t>(accesses[k].datum), copies.owner(target), parts[k]);
    copies.written(target, copies.owner(target));
}

void replay(const Recording& recording, const RecordedItem& item, Copies& copies) {
    const auto first = [&] { return static_cast<std::size_t>(recording.accesses[item.first_access].datum); };
    switch (item.kind) {
        case RecordedItem::Kind::task: replay_task(recording, item, copies); break;
        case RecordedItem::Kind::exchange: replay_exchange(recording, item, copies); break;
        case RecordedItem::Kind::move: copies.move(first(), item.node); break;
        case RecordedItem::Kind::retire: copies.retire(first()); break;
        case RecordedItem::Kind::fetch:
            for (std::int32_t node = 0; node < recording.nodes; ++node) copies.need(first(), node);
            break;
        case RecordedItem::Kind::workers: break;
    }
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
    Copies copies(recording, distributions);
    for (const RecordedItem& item : recording.items) replay(recording, item, copies);
    return copies.take();
}

RecordingEngine::RecordingEngine(Index nodes) {
    if (nodes < 1) throw Error("a recording needs at least one node; it has {}", nodes);
    recording_.nodes = nodes;
}

std::unique_ptr<StreamState> RecordingEngine::open(const StreamOptions& options) {
    return std::make_unique<StreamState>(options);
}

std::unique_ptr<Attachment> RecordingEngine::attach(StreamState&, MatrixSpec spec) {
    auto attached =
        std::make_unique<RecordedAttachment>(std::move(spec), static_cast<std::int32_t>(recording_.data.size()));
    const auto matrix = static_cast<std::int32_t>(recording_.matrices.size());
    recording_.matrices.push_back(attached->name());
    const GridSize tiles = attached->tiling().grid();
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j)
            recording_.data.push_back({matrix,
                                       {i, j},
                                       attached->shape({i, j}),
                                       attached->bytes({i, j}),
                                       static_cast<std::int32_t>(attached->owner({i, j}).number())});
    return attached;
}

void RecordingEngine::submit(StreamState& stream, const Task& task) {
    know_phases(stream);
    std::array<TileShape, Task::max_accesses> shapes;
    RecordedItem item{.placement = task.placement,
                      .urgency = task.urgency,
                      .access_count = static_cast<std::uint32_t>(task.access_count),
                      .node = static_cast<std::int32_t>(task.node),
                      .kernel = task.kernel,
                      .step = task.step,
                      .priority = task.priority,
                      .phase = task.phase,
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

void RecordingEngine::add(RecordedItem::Kind kind, TileRef tile, NodeId node) {
    recording_.items.push_back({.kind = kind,
                                .access_count = 1,
                                .node = static_cast<std::int32_t>(node.number()),
                                .first_access = static_cast<std::uint32_t>(recording_.accesses.size())});
    recording_.accesses.push_back({datum_of(tile), AccessMode::read});
}

void RecordingEngine::know_phases(const StreamState& stream) {
    if (recording_.phases.size() != stream.phases.size()) recording_.phases = stream.phases;
}

void RecordingEngine::exchange(StreamState& stream, const Exchange& exchange) {
    know_phases(stream);
    const Overlay::TileRange tiles = exchange.overlay->target_tiles();
    for (Index j = tiles.first.j; j < tiles.last.j; ++j)
        for (Index i = tiles.first.i; i < tiles.last.i; ++i)
            if (exchange.overlay->touches({i, j})) add_target(exchange, {i, j});
}

void RecordingEngine::add_target(const Exchange& exchange, TileIndex target) {
    RecordedItem item{.kind = RecordedItem::Kind::exchange,
                      .node = static_cast<std::int32_t>(exchange.to->owner(target).number()),
                      .first_part = static_cast<std::uint32_t>(recording_.parts.size()),
                      .kernel = &SegmentKernels::copy,
                      .priority = exchange.options.priority,
                      .phase = exchange.phase,
                      .first_access = static_cast<std::uint32_t>(recording_.accesses.size())};
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

void RecordingEngine::move(StreamState&, TileRef tile, NodeId to) { add(RecordedItem::Kind::move, tile, to); }

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
