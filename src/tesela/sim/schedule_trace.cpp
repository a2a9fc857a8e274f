#include "tesela/sim/schedule_trace.hpp"

#include "tesela/flow/exchange.hpp"
#include "tesela/trace/busy_time.hpp"
#include "tesela/trace/collector.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela {
namespace {

/// Parcels of exchanges are numbered beyond all tiles.
constexpr std::uint64_t first_parcel = std::uint64_t{1} << 40U;

/// How many workers share one device.
Index streams_of(const WorkerGroup& group) { return group.processor == Processor::gpu ? group.streams : 1; }

std::uint64_t number_of_run() {
    return static_cast<std::uint64_t>(trace::Collector::now()) * 1000003U + static_cast<std::uint64_t>(getpid());
}

}  // namespace

/// One collector per simulated node, and what each of them has been told of names.
class ScheduleTrace::Files {
public:
    Files(const trace::Options& options, const Platform& platform, CriticalWorker critical) {
        const auto nodes = static_cast<std::uint32_t>(node_count(platform));
        const std::uint64_t run = number_of_run();
        for (std::uint32_t node = 0; node < nodes; ++node)
            nodes_.push_back({.collector = std::make_unique<trace::Collector>(
                                  options, trace::NodeOfRun{.node = node, .nodes = nodes, .run = run})});
        // Readers count time from the moment when the first file was opened.
        begin_ = trace::Collector::now();
        for (std::uint32_t node = 0; node < nodes; ++node) describe(node, platform, critical);
    }

    void begin(const SimulatedRun& run) { run_ = run; }

    void put(const ScheduledTask& task);
    void put(const ScheduledMessage& message);
    void put(const ScheduledMemory& change) {
        collector(change.node)
            .put(trace::MemoryChange{.memory = static_cast<std::uint16_t>(change.memory),
                                     .time = at(change.time),
                                     .bytes = std::llround(change.bytes)});
    }
    void put(const ScheduledWait& wait) {
        collector(wait.node).put(
            trace::Wait{.reason = wait.reason, .stream = wait.stream, .start = at(wait.start), .end = at(wait.end)});
    }
    void close() {
        for (Node& node : nodes_) node.collector->close();
    }
    [[nodiscard]] bool wants(trace::Module module) const { return nodes_.front().collector->wants(module); }

private:
    struct Node {
        std::unique_ptr<trace::Collector> collector;
        std::map<const Kernel*, std::uint16_t> kernels{};
        std::map<std::pair<std::uint16_t, PhaseId>, std::uint16_t> phases{};
        std::map<std::int32_t, std::uint16_t> matrices{};
        std::map<std::uint16_t, bool> streams{};
        std::set<std::uint32_t> works{};
    };

    [[nodiscard]] std::int64_t at(double seconds) const { return begin_ + trace::nanoseconds(seconds); }
    [[nodiscard]] trace::Collector& collector(std::int32_t node) {
        return *nodes_[static_cast<std::size_t>(node)].collector;
    }

    void describe(std::uint32_t node, const Platform& platform, CriticalWorker critical) {
        const NodeType& type = node_type(platform, NodeId{static_cast<Index>(node)});
        trace::Collector& file = *nodes_[node].collector;
        file.define({{"type", "node"}, {"host", fmt::format("{} (simulated)", type.name)}});
        const auto workers = simulated_workers(type, critical);
        for (std::size_t w = 0; w < workers.size(); ++w) {
            nlohmann::json definition{
                {"type", "worker"},
                {"id", w},
                {"kind", kind_in_traces(workers[w].processor)},
                {"name", workers[w].name},
                {"group", workers[w].group},
                {"capacity", 1.0 / static_cast<double>(streams_of(type.workers[workers[w].group]))}};
            if (workers[w].card >= 0) definition["card"] = workers[w].card;
            file.define(definition);
        }
        file.define({{"type", "clock"}, {"at", begin_}, {"offset", 0}});
    }

    std::uint16_t kernel_number(Node& node, const Kernel& kernel) {
        const auto [entry, is_new] = node.kernels.try_emplace(&kernel, std::uint16_t{0});
        if (is_new) entry->second = node.collector->number_of("kernel", kernel.name);
        return entry->second;
    }
    std::uint16_t phase_number(Node& node, std::uint16_t stream, PhaseId phase) {
        if (node.streams.try_emplace(stream, true).second)
            node.collector->define({{"type", "stream"}, {"id", stream}, {"name", (*run_.streams)[stream].name}});
        const auto [entry, is_new] = node.phases.try_emplace({stream, phase}, std::uint16_t{0});
        if (is_new)
            entry->second = node.collector->number_of("phase", run_.recording->phases[static_cast<std::size_t>(phase)]);
        return entry->second;
    }
    std::uint16_t matrix_number(Node& node, std::int32_t datum);
    std::uint16_t parcels_number(Node& node, std::uint32_t exchange);
    [[nodiscard]] std::uint64_t parcel_datum(std::uint32_t exchange, std::uint64_t parcel) const {
        return first_parcel + static_cast<std::uint64_t>((*run_.exchanges)[exchange].parcels_before) + parcel;
    }
    /// A task as a trace shows it.
    struct Shown {
        std::vector<std::uint64_t> accesses;
        std::uint64_t position = 0;
        KernelCost cost;
        std::uint16_t matrix = trace::no_matrix;  ///< of the first tile that it writes
        TileIndex tile{};
        Index rank = dense_rank;
    };
    [[nodiscard]] Shown show(Node& node, const ScheduledTask& task);
    [[nodiscard]] Shown show_parcel(Node& node, const ScheduledTask& task);
    void show_tile(Node& node, std::int32_t datum, Shown& shown);
    void define_work(Node& node, const ScheduledTask& task);

    std::vector<Node> nodes_;
    std::int64_t begin_ = 0;
    SimulatedRun run_;
};

/// Tiles of a matrix follow each other among the data, row by row.
std::uint16_t ScheduleTrace::Files::matrix_number(Node& node, std::int32_t datum) {
    const RecordedDatum& tile = run_.recording->data[static_cast<std::size_t>(datum)];
    const auto [entry, is_new] =
        node.matrices.try_emplace(tile.matrix, static_cast<std::uint16_t>(node.matrices.size()));
    if (!is_new) return entry->second;
    const auto& data = run_.recording->data;
    const auto size_of = [](Index each, Index whole, Index rest) { return each * whole + rest; };
    auto first = static_cast<std::size_t>(datum);
    while (first > 0 && data[first - 1].matrix == tile.matrix) --first;
    auto last = static_cast<std::size_t>(datum);
    while (last + 1 < data.size() && data[last + 1].matrix == tile.matrix) ++last;
    node.collector->define({{"type", "matrix"},
                            {"id", entry->second},
                            {"name", run_.recording->matrices[static_cast<std::size_t>(tile.matrix)]},
                            {"first", first},
                            {"rows", data[last].index.i + 1},
                            {"cols", data[last].index.j + 1},
                            {"tile", {data[first].shape.rows, data[first].shape.cols}},
                            {"size",
                             {size_of(data[first].shape.rows, data[last].index.i, data[last].shape.rows),
                              size_of(data[first].shape.cols, data[last].index.j, data[last].shape.cols)}}});
    return entry->second;
}

/// As a matrix of their own, one below the other.
std::uint16_t ScheduleTrace::Files::parcels_number(Node& node, std::uint32_t exchange) {
    const std::int32_t key = -1 - static_cast<std::int32_t>(exchange);
    const auto [entry, is_new] = node.matrices.try_emplace(key, static_cast<std::uint16_t>(node.matrices.size()));
    if (is_new)
        node.collector->define({{"type", "matrix"},
                                {"id", entry->second},
                                {"name", "parcels"},
                                {"first", parcel_datum(exchange, 0)},
                                {"rows", (*run_.exchanges)[exchange].parcels.size()},
                                {"cols", 1},
                                {"tile", {1, 1}}});
    return entry->second;
}

void ScheduleTrace::Files::show_tile(Node& node, std::int32_t datum, Shown& shown) {
    shown.matrix = matrix_number(node, datum);
    shown.tile = run_.recording->data[static_cast<std::size_t>(datum)].index;
    shown.rank = (*run_.rank_of_datum)[static_cast<std::size_t>(datum)];
}

ScheduleTrace::Files::Shown ScheduleTrace::Files::show(Node& node, const ScheduledTask& task) {
    const RecordedItem& item = run_.recording->items[task.item];
    Shown shown{.position = (*run_.position_of_item)[task.item], .cost = item.cost};
    const auto accesses = run_.recording->accesses_of(item);
    for (const RecordedAccess& access : accesses)
        shown.accesses.push_back(
            trace::pack_access(static_cast<std::uint64_t>(access.datum), static_cast<trace::Use>(access.mode)));
    const auto written = std::ranges::find_if(accesses, [](const RecordedAccess& a) { return writes(a.mode); });
    show_tile(node, (written == accesses.end() ? accesses.front() : *written).datum, shown);
    return shown;
}

/// As the StarPU engine shows it: the tiles that it reads and writes, and the parcel between them.
ScheduleTrace::Files::Shown ScheduleTrace::Files::show_parcel(Node& node, const ScheduledTask& task) {
    const std::uint32_t exchange = run_.recording->items[task.item].exchange;
    const auto number = static_cast<std::uint64_t>(task.parcel);
    const SimulatedParcel& parcel = (*run_.exchanges)[exchange].parcels[number];
    const std::string_view kernel = task.kernel->name;
    const bool packs = kernel == ParcelTaskNames::pack;
    const bool unpacks = kernel == ParcelTaskNames::unpack;
    Shown shown{.position = (*run_.position_of_item)[task.item] + 2 * number + (packs ? 0 : 1),
                .cost = {.bytes = 2 * static_cast<double>(parcel.bytes)}};
    const auto [sources, targets] = shown_tiles(unpacks ? 0 : parcel.sources.size(), packs ? 0 : parcel.targets.size());
    const std::uint64_t in_between = parcel_datum(exchange, number);
    if (unpacks) shown.accesses.push_back(trace::pack_access(in_between, trace::Use::read));
    for (std::size_t k = 0; k < sources; ++k)
        shown.accesses.push_back(trace::pack_access(static_cast<std::uint64_t>(parcel.sources[k]), trace::Use::read));
    for (std::size_t k = 0; k < targets; ++k)
        shown.accesses.push_back(
            trace::pack_access(static_cast<std::uint64_t>(parcel.targets[k]), trace::Use::disjoint));
    if (!packs) {
        show_tile(node, parcel.targets.front(), shown);
        return shown;
    }
    shown.accesses.push_back(trace::pack_access(in_between, trace::Use::write));
    shown.matrix = parcels_number(node, exchange);
    shown.tile = {static_cast<Index>(task.parcel), 0};
    return shown;
}

void ScheduleTrace::Files::put(const ScheduledTask& task) {
    Node& node = nodes_[static_cast<std::size_t>(task.node)];
    const RecordedItem& item = run_.recording->items[task.item];
    const std::uint16_t stream = (*run_.stream_of_item)[task.item];
    const Shown shown = task.parcel == ScheduledTask::no_parcel ? show(node, task) : show_parcel(node, task);
    const std::size_t accesses = std::min<std::size_t>(shown.accesses.size(), 9);
    std::array<trace::Record, 3> records;
    std::size_t count = 1;
    const trace::TaskCreated created{.access_count = static_cast<std::uint8_t>(accesses),
                                     .kernel = kernel_number(node, *task.kernel),
                                     .step = item.step,
                                     .time = at(task.submitted),
                                     .id = trace::task_id(stream, shown.position),
                                     .priority = item.priority,
                                     .i = static_cast<std::int32_t>(shown.tile.i),
                                     .j = static_cast<std::int32_t>(shown.tile.j),
                                     .phase = phase_number(node, stream, item.phase),
                                     .matrix = shown.matrix,
                                     .first_access = shown.accesses.front()};
    records[0] = to_record(created);
    trace::TaskAccesses more{.id = created.id};
    for (std::size_t k = 1; k < accesses; ++k) {
        more.access[more.count++] = shown.accesses[k];
        if (more.count < more.access.size() && k + 1 < accesses) continue;
        records[count++] = to_record(more);
        more.count = 0;
    }
    node.collector->put(std::span{records.data(), count});
    node.collector->put(trace::TaskRan{.worker = static_cast<std::uint16_t>(task.worker),
                                       .rank = static_cast<std::int16_t>(shown.rank),
                                       .id = created.id,
                                       .ready = at(task.ready),
                                       .start = at(task.start),
                                       .end = at(task.end),
                                       .flops = static_cast<float>(shown.cost.flops),
                                       .bytes = static_cast<float>(shown.cost.bytes)});
    define_work(node, task);
    node.collector->put(trace::TaskModelled{.work = task.work, .id = created.id, .factor = task.factor});
}

/// How long it takes on each group of the node's workers, once for all tasks that agree in it.
void ScheduleTrace::Files::define_work(Node& node, const ScheduledTask& task) {
    if (!node.works.insert(task.work).second) return;
    nlohmann::json seconds = nlohmann::json::array();
    for (const double s : run_.durations(task.work, task.node))
        seconds.push_back(std::isfinite(s) ? nlohmann::json(s) : nlohmann::json(nullptr));
    node.collector->define({{"type", "work"}, {"id", task.work}, {"seconds", seconds}});
}

void ScheduleTrace::Files::put(const ScheduledMessage& message) {
    const bool parcel = message.carries == ScheduledMessage::Carries::parcel;
    const std::uint32_t exchange = run_.recording->items[message.item].exchange;
    trace::Message record{.kind = trace::RecordKind::send,
                          .peer = static_cast<std::uint16_t>(message.to),
                          .priority = message.priority,
                          .tag = parcel ? parcel_datum(exchange, message.version)
                                        : static_cast<std::uint64_t>(message.datum) |
                                              static_cast<std::uint64_t>(message.version & 0x7fffU) << 48U,
                          .posted = at(message.posted),
                          .start = at(message.start),
                          .end = at(message.sent),
                          .bytes = static_cast<std::uint64_t>(message.bytes)};
    for (const std::int32_t n : {message.from, message.to}) {
        Node& node = nodes_[static_cast<std::size_t>(n)];
        (void)(parcel ? parcels_number(node, exchange) : matrix_number(node, message.datum));
    }
    collector(message.from).put(record);
    record.kind = trace::RecordKind::receive;
    record.peer = static_cast<std::uint16_t>(message.from);
    record.end = at(message.arrival);
    collector(message.to).put(record);
}

ScheduleTrace::ScheduleTrace(const trace::Options& options, const Platform& platform, CriticalWorker critical)
    : files_(std::make_unique<Files>(options, platform, critical)) {}
ScheduleTrace::~ScheduleTrace() = default;

void ScheduleTrace::begin(const SimulatedRun& run) { files_->begin(run); }
void ScheduleTrace::task(const ScheduledTask& task) {
    if (files_->wants(trace::Module::tasks)) files_->put(task);
}
void ScheduleTrace::message(const ScheduledMessage& message) {
    if (files_->wants(trace::Module::comms)) files_->put(message);
}
void ScheduleTrace::memory(const ScheduledMemory& change) {
    if (files_->wants(trace::Module::memory)) files_->put(change);
}
void ScheduleTrace::wait(const ScheduledWait& wait) {
    if (files_->wants(trace::Module::tasks)) files_->put(wait);
}
void ScheduleTrace::close() { files_->close(); }

}  // namespace tesela
