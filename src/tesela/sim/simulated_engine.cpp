#include "tesela/sim/simulated_engine.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/base/units.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/sim/internal/bounds.hpp"
#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/executor.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

namespace tesela {
namespace {

/// A stream as the simulated engine keeps it.
class SimulatedStreamState final : public StreamState {
public:
    SimulatedStreamState(const StreamOptions& options, std::uint16_t stream) : StreamState(options), number(stream) {}
    std::uint16_t number;
};
SimulatedStreamState& stream_of(StreamState& stream) { return static_cast<SimulatedStreamState&>(stream); }

Platform checked(Platform platform) {
    check_platform(platform);
    return platform;
}

SimulationOptions checked(SimulationOptions options) {
    const auto require = [](double value, const char* what) {
        if (!(value >= 0) || !std::isfinite(value)) throw Error("{} must not be negative; it is {}", what, value);
    };
    require(options.noise, "the noise");
    require(options.submission_seconds, "the time to submit a task");
    require(options.passing_seconds, "the time to pass over a task");
    if (!options.network) throw Error("a simulation needs a network model");
    return options;
}

}  // namespace

class SimulatedEngine::Implementation {
public:
    Implementation(Platform described, SimulationOptions chosen)
        : platform(checked(std::move(described))),
          options(checked(std::move(chosen))),
          cluster(platform, options.critical),
          recorder(tesela::node_count(platform)),
          durations(platform),
          resources(platform),
          copies(static_cast<std::int32_t>(cluster.nodes())),
          executor(cluster, durations, copies, options) {
        const SimulatedRun run{.platform = &platform,
                               .recording = &recorder.recording(),
                               .stream_of_item = &stream_of_item,
                               .position_of_item = &position_of_item,
                               .streams = &streams,
                               .rank_of_datum = &ranks,
                               .exchanges = &exchanges,
                               .durations = [this](std::uint32_t work, std::int32_t node) {
                                   return durations.of_groups(work,
                                                              cluster.type_of_node[static_cast<std::size_t>(node)]);
                               }};
        for (ScheduleObserver* observer : options.observers) observer->begin(run);
    }

    /// Says which stream the items recorded last belong to.
    void know_items(const SimulatedStreamState& stream) {
        stream_of_item.resize(recorder.recording().items.size(), stream.number);
    }

    void simulate(std::uint16_t waiting);
    /// Numbers that exist on some node, and a worker left on each.
    void check_workers(const WorkerSet& workers) const;

    Platform platform;
    SimulationOptions options;
    sim::Cluster cluster;
    RecordingEngine recorder;
    sim::Durations durations;
    sim::ResourceNumbers resources;
    sim::Copies copies;
    sim::Executor executor;
    std::vector<SimulatedStream> streams;
    std::vector<Index> limits;
    std::vector<std::uint16_t> stream_of_item;
    std::vector<std::uint32_t> position_of_item;
    std::vector<Index> ranks;
    std::vector<double> bytes;
    std::vector<SimulatedExchange> exchanges;
    std::vector<std::uint32_t> submitted;  // tasks and fetches, per stream
    std::uint32_t simulated = 0;
    SimulationResult result;

private:
    void know_data();
    void know_exchanges(std::vector<SimulatedExchange> of_section);
    void know_positions();
    [[nodiscard]] std::uint32_t tasks_of(const RecordedItem& item, std::uint32_t number) const;
};

void SimulatedEngine::Implementation::know_exchanges(std::vector<SimulatedExchange> of_section) {
    for (SimulatedExchange& exchange : of_section) {
        if (!exchanges.empty())
            exchange.parcels_before =
                exchanges.back().parcels_before + static_cast<std::int64_t>(exchanges.back().parcels.size());
        exchanges.push_back(std::move(exchange));
    }
}

/// Where the items that were simulated last are among the tasks of their streams.
void SimulatedEngine::Implementation::know_positions() {
    const auto& items = recorder.recording().items;
    submitted.resize(streams.size(), 0);
    for (std::size_t item = position_of_item.size(); item < items.size(); ++item) {
        std::uint32_t& position = submitted[stream_of_item[item]];
        position_of_item.push_back(position);
        position += tasks_of(items[item], static_cast<std::uint32_t>(item));
    }
}

/// How many tasks and fetches an item counts as; the parcels of an exchange count at its first.
std::uint32_t SimulatedEngine::Implementation::tasks_of(const RecordedItem& item, std::uint32_t number) const {
    using Kind = RecordedItem::Kind;
    if (item.kind == Kind::task || item.kind == Kind::fetch) return 1;
    if (item.kind != Kind::exchange || number != recorder.recording().exchanges[item.exchange].first_item) return 0;
    return static_cast<std::uint32_t>(2 * exchanges[item.exchange].parcels.size());
}

/// Ranks and bytes of the tiles that were attached since the last time.
void SimulatedEngine::Implementation::know_data() {
    const Recording& recording = recorder.recording();
    for (std::size_t d = ranks.size(); d < recording.data.size(); ++d) {
        const RecordedDatum& datum = recording.data[d];
        TileShape shape = datum.shape;
        if (options.ranks.rank && datum.bytes > 0)
            shape.rank = options.ranks.rank(recording.matrices[static_cast<std::size_t>(datum.matrix)], datum.index);
        ranks.push_back(shape.rank);
        bytes.push_back(tile_bytes(shape, static_cast<double>(datum.bytes)));
    }
    copies.know(recording, bytes);
}

void SimulatedEngine::Implementation::check_workers(const WorkerSet& workers) const {
    if (workers.empty()) return;
    std::size_t most = 0;
    for (std::size_t node = 0; node < cluster.nodes(); ++node) {
        const std::size_t here = cluster.workers_of(static_cast<std::int32_t>(node));
        most = std::max(most, here);
        if (std::none_of(workers.begin(), workers.end(), [&](int w) { return w >= 0 && std::cmp_less(w, here); }))
            throw Error("none of the workers given exists on node {}, which has {}, numbered from 0", node, here);
    }
    tesela::check_workers(workers, static_cast<int>(most));
}

void SimulatedEngine::Implementation::simulate(std::uint16_t waiting) {
    const std::uint32_t first = std::exchange(simulated, static_cast<std::uint32_t>(recorder.recording().items.size()));
    // A stream that ends because of an error waits too; there is nothing to predict then.
    if (first == simulated || std::uncaught_exceptions() > 0) return;
    know_data();
    const Random random(options.seed);
    const sim::SectionInput input{
        .recording = recorder.recording(),
        .platform = platform,
        .type_of_node = cluster.type_of_node,
        .stream_of_item = stream_of_item,
        .resources = resources,
        .ranks = ranks,
        .ranks_change_durations = !options.duration_factor,
        .noise = [&](std::uint32_t item, std::uint32_t part) {
            const double factor = options.duration_factor ? options.duration_factor(recorder.recording(), item) : 1;
            if (options.noise == 0) return factor;
            return factor * std::exp(options.noise * random.normal({item, part}) - options.noise * options.noise / 2);
        }};
    sim::Section section = sim::build_section(input, first, copies, durations);
    know_exchanges(std::move(section.exchanges));
    know_positions();
    const double area = sim::area_bound(section, cluster, durations);
    result.area_bound += area;
    result.critical_path += section.critical_path;
    result.lower_bound += std::max(area, section.critical_path);
    result.tasks += section.tasks;
    executor.run(section, {.recording = recorder.recording(),
                           .resources = resources.limits(),
                           .throttle = {.limit = limits, .stream_of_item = stream_of_item},
                           .waiting = waiting});
}

SimulatedEngine::SimulatedEngine(Platform platform, SimulationOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(platform), std::move(options))) {}
SimulatedEngine::~SimulatedEngine() = default;

Index SimulatedEngine::node_count() const { return static_cast<Index>(implementation_->cluster.nodes()); }

int SimulatedEngine::worker_count() const {
    int workers = 0;
    for (const sim::Place& place : implementation_->cluster.places_of(0)) workers += place.is_gpu() ? 1 : place.slots;
    return workers;
}

Index SimulatedEngine::total_workers() const {
    Index workers = 0;
    for (const NodeType& type : implementation_->platform.node_types)
        for (const WorkerGroup& group : type.workers) workers += type.count * group.count;
    return workers;
}

const Platform& SimulatedEngine::platform() const { return implementation_->platform; }
const Recording& SimulatedEngine::recording() const { return implementation_->recorder.recording(); }

std::unique_ptr<StreamState> SimulatedEngine::open(const StreamOptions& options) {
    auto& self = *implementation_;
    self.check_workers(options.workers);
    const auto number = static_cast<std::uint16_t>(self.streams.size());
    self.executor.allow(number, options.workers);
    self.streams.push_back({number, options.name});
    self.limits.push_back(options.max_pending);
    return std::make_unique<SimulatedStreamState>(options, number);
}

std::unique_ptr<Attachment> SimulatedEngine::attach(StreamState& stream, MatrixSpec spec) {
    if (spec.distribution.nodes() > node_count())
        throw Error("matrix {} is distributed over {} nodes; the platform has {}", spec.name, spec.distribution.nodes(),
                    node_count());
    return implementation_->recorder.attach(stream, std::move(spec));
}

void SimulatedEngine::submit(StreamState& stream, const Task& task) {
    implementation_->recorder.submit(stream, task);
    implementation_->know_items(stream_of(stream));
}

bool SimulatedEngine::move(StreamState& stream, TileRef tile, NodeId to) {
    const bool moved = implementation_->recorder.move(stream, tile, to);
    implementation_->know_items(stream_of(stream));
    return moved;
}

void SimulatedEngine::exchange(StreamState& stream, const Exchange& exchange) {
    implementation_->recorder.exchange(stream, exchange);
    implementation_->know_items(stream_of(stream));
}

void SimulatedEngine::share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) {
    implementation_->recorder.share(stream, tile, readers, priority);
    implementation_->know_items(stream_of(stream));
}

void SimulatedEngine::retire(StreamState& stream, TileRef tile) {
    implementation_->recorder.retire(stream, tile);
    implementation_->know_items(stream_of(stream));
}

void SimulatedEngine::fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) {
    implementation_->recorder.fetch(stream, tile, std::move(into));
    implementation_->know_items(stream_of(stream));
}

Status SimulatedEngine::wait(StreamState& stream) {
    implementation_->simulate(stream_of(stream).number);
    return {};
}

void SimulatedEngine::set_workers(StreamState& stream, WorkerSet workers) {
    auto& self = *implementation_;
    if (self.options.scheduler == SimulatedScheduler::earliest_finish)
        throw Error(
            "the scheduler earliest_finish gives tasks to workers before they are free, so the workers of a stream "
            "cannot change: use the scheduler priority");
    self.check_workers(workers);
    self.recorder.set_workers(stream, std::move(workers));
    self.know_items(stream_of(stream));
}

SimulationResult SimulatedEngine::result() const {
    const auto& self = *implementation_;
    SimulationResult result = self.result;
    result.makespan = self.executor.now();
    result.transfers = self.executor.messages();
    result.bytes = self.executor.bytes();
    result.flops = self.recorder.recording().flops();
    double busy = 0;
    double workers = 0;
    for (std::size_t node = 0; node < self.cluster.nodes(); ++node) {
        double here = 0;
        for (const sim::Place& place : self.cluster.places[self.cluster.type_of_node[node]]) here += place.capacity();
        busy += self.executor.busy(node);
        workers += here;
        result.node_utilisation.push_back(result.makespan > 0 ? self.executor.busy(node) / (here * result.makespan)
                                                              : 0);
        result.memory_peak.push_back(self.executor.memory_peak(node));
        const NodeType& type = self.cluster.type(static_cast<std::int32_t>(node));
        if (result.memory_peak.back() > type.memory)
            result.warnings.push_back(fmt::format("node {} ({}) needs {} for its tiles and has {}", node, type.name,
                                                  format_bytes(result.memory_peak.back()), format_bytes(type.memory)));
    }
    if (result.makespan > 0) result.utilisation = busy / (workers * result.makespan);
    return result;
}

}  // namespace tesela
