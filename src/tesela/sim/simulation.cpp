#include "tesela/sim/internal/simulation.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/base/units.hpp"
#include "tesela/platform/main_memory.hpp"
#include "tesela/sim/internal/bounds.hpp"
#include "tesela/sim/kernel_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::sim {
namespace {

/// A product needs two tiles that are read and one that is written.
std::vector<std::string> cards_without_room(const Platform& platform, double tile_bytes) {
    std::vector<std::string> warnings;
    for (const NodeType& type : platform.node_types)
        for (const WorkerGroup& group : type.workers)
            if (group.processor == Processor::gpu && group.memory < 3 * tile_bytes)
                warnings.push_back(fmt::format(
                    "the GPUs of {} have {} each, too little for a product of three tiles, {}: cores compute those",
                    type.name, format_bytes(group.memory), format_bytes(3 * tile_bytes)));
    return warnings;
}

Platform checked(Platform platform) {
    check_platform(platform);
    return platform;
}

SimulationOptions checked(SimulationOptions options) {
    const auto require = [](double value, const char* what) {
        if (!(value >= 0) || !std::isfinite(value)) throw Error("{} must be a number from 0 on; it is {}", what, value);
    };
    require(options.noise, "the noise");
    if (options.noise > 1)
        throw Error("the noise must be at most 1; it is {}: durations would have no mean worth simulating",
                    options.noise);
    require(options.submission_seconds.value_or(0), "the time to submit a task");
    require(options.passing_seconds.value_or(0), "the time to pass over a task");
    if (!options.network) throw Error("a simulation needs a network model");
    return options;
}

}  // namespace

Simulation::Simulation(Platform platform, SimulationOptions options, const Recording& recording)
    : platform_(checked(std::move(platform))),
      options_(checked(std::move(options))),
      recording_(recording),
      cluster_(platform_, options_.critical),
      durations_(platform_),
      resources_(platform_),
      copies_(static_cast<std::int32_t>(cluster_.nodes())),
      executor_(cluster_, durations_, copies_, options_) {
    const SimulatedRun run{.platform = &platform_,
                           .recording = &recording_,
                           .stream_of_item = &stream_of_item_,
                           .position_of_item = &position_of_item_,
                           .streams = &streams_,
                           .rank_of_datum = &ranks_,
                           .exchanges = &exchanges_,
                           .durations = [this](std::uint32_t work, std::int32_t node) {
                               return durations_.of_groups(work, cluster_.type_of_node[static_cast<std::size_t>(node)]);
                           }};
    for (ScheduleObserver* observer : options_.observers) observer->begin(run);
}

void Simulation::replace_owners(const std::map<std::string, Distribution>& distributions) {
    check_distributions(recording_, distributions, static_cast<Index>(cluster_.nodes()));
    owners_ = owners_at_start(recording_, distributions);
}

void Simulation::know_streams() {
    for (std::size_t n = streams_.size(); n < recording_.streams.size(); ++n) {
        const RecordedStream& stream = recording_.streams[n];
        const auto number = static_cast<std::uint16_t>(n);
        executor_.allow(number, stream.workers);
        streams_.push_back({number, stream.name});
        limits_.push_back(stream.max_pending);
        submitted_.push_back(0);
    }
}

void Simulation::know_items() {
    stream_of_item_.reserve(recording_.items.size());
    for (std::size_t item = stream_of_item_.size(); item < recording_.items.size(); ++item)
        stream_of_item_.push_back(recording_.items[item].stream);
}

/// Ranks and bytes of the tiles that were attached since the last time.
void Simulation::know_data() {
    for (std::size_t d = owners_.size(); d < recording_.data.size(); ++d) owners_.push_back(recording_.data[d].owner);
    for (std::size_t d = ranks_.size(); d < recording_.data.size(); ++d) {
        const RecordedDatum& datum = recording_.data[d];
        const TileShape shape = ranked_shape(recording_, datum, options_.ranks);
        const auto whole = static_cast<double>(datum.bytes);
        ranks_.push_back(shape.rank);
        bytes_.push_back(tile_bytes(shape, whole));
        message_bytes_.push_back(tile_bytes(sent_shape(shape, options_.ranks.sent_rank), whole));
    }
    copies_.know(recording_, owners_, bytes_);
}

/// They are numbered as in the recording, where those that were skipped count too.
void Simulation::know_exchanges(const SectionItems& items, std::vector<SimulatedExchange> of_section) {
    std::uint32_t item = items.first;
    while (item < items.end && recording_.items[item].kind != RecordedItem::Kind::exchange) ++item;
    if (item < items.end) exchanges_.resize(recording_.items[item].exchange);
    for (SimulatedExchange& exchange : of_section) {
        if (!exchanges_.empty())
            exchange.parcels_before =
                exchanges_.back().parcels_before + static_cast<std::int64_t>(exchanges_.back().parcels.size());
        exchanges_.push_back(std::move(exchange));
    }
}

/// Where items are among the tasks of their streams.
void Simulation::know_positions(std::uint32_t end) {
    for (auto item = static_cast<std::uint32_t>(position_of_item_.size()); item < end; ++item) {
        std::uint32_t& position = submitted_[stream_of_item_[item]];
        position_of_item_.push_back(position);
        position += tasks_of(recording_.items[item], item);
    }
}

/// How many tasks and fetches an item counts as; the parcels of an exchange count at its first.
std::uint32_t Simulation::tasks_of(const RecordedItem& item, std::uint32_t number) const {
    using Kind = RecordedItem::Kind;
    if (item.kind == Kind::task || item.kind == Kind::fetch) return 1;
    if (item.kind != Kind::exchange || number != recording_.exchanges[item.exchange].first_item) return 0;
    if (item.exchange >= exchanges_.size()) return 0;  // skipped
    return static_cast<std::uint32_t>(2 * exchanges_[item.exchange].parcels.size());
}

double Simulation::factor_of(std::uint32_t item, std::uint32_t part) const {
    const double factor = options_.duration_factor ? options_.duration_factor(recording_, item) : 1;
    if (options_.noise == 0) return factor;
    const double z = Random(options_.seed).normal({item, part});
    return factor * std::exp(options_.noise * z - options_.noise * options_.noise / 2);
}

void Simulation::skip() { simulated_ = static_cast<std::uint32_t>(recording_.items.size()); }

void Simulation::run_to_end() {
    const auto end = static_cast<std::uint32_t>(recording_.items.size());
    if (simulated_ < end)
        run({end, recording_.items.back().stream}, static_cast<std::uint32_t>(recording_.waits.size()));
}

void Simulation::run(const RecordedWait& until, std::uint32_t number) {
    const SectionItems items{.first = std::exchange(simulated_, until.items), .end = until.items, .wait = number};
    know_items();
    know_data();
    const SectionInput input{.recording = recording_,
                             .owners = owners_,
                             .platform = platform_,
                             .type_of_node = cluster_.type_of_node,
                             .stream_of_item = stream_of_item_,
                             .resources = resources_,
                             .ranks = ranks_,
                             .message_bytes = message_bytes_,
                             .ranks_change_durations = !options_.duration_factor,
                             .noise = [this](std::uint32_t item, std::uint32_t part) { return factor_of(item, part); }};
    Section section = build_section(input, items, copies_, durations_);
    know_exchanges(items, std::move(section.exchanges));
    know_positions(items.end);
    const double area = area_bound(section, cluster_, durations_);
    result_.area_bound += area;
    result_.critical_path += section.critical_path;
    result_.lower_bound += std::max(area, section.critical_path);
    result_.tasks += section.tasks;
    executor_.run(section, {.recording = recording_,
                            .resources = resources_.limits(),
                            .throttle = {.limit = limits_, .stream_of_item = stream_of_item_},
                            .waiting = until.stream});
}

void Simulation::check_workers(const WorkerSet& workers) const {
    if (workers.empty()) return;
    std::size_t most = 0;
    for (std::size_t node = 0; node < cluster_.nodes(); ++node) {
        const std::size_t here = cluster_.workers_of(static_cast<std::int32_t>(node));
        most = std::max(most, here);
        if (std::none_of(workers.begin(), workers.end(), [&](int w) { return w >= 0 && std::cmp_less(w, here); }))
            throw Error("none of the workers given exists on node {}, which has {}, numbered from 0", node, here);
    }
    tesela::check_workers(workers, static_cast<int>(most));
}

void Simulation::check_workers_may_change() const {
    if (options_.scheduler == SimulatedScheduler::earliest_finish)
        throw Error(
            "the scheduler earliest_finish gives tasks to workers before they are free, so the workers of a stream "
            "cannot change: use the scheduler priority");
}

SimulationResult Simulation::result() const {
    SimulationResult result = result_;
    result.makespan = executor_.now();
    result.transfers = executor_.messages();
    result.bytes = executor_.bytes();
    result.flops = recording_.flops();
    result.utilisation = executor_.use().utilisation();
    for (std::size_t node = 0; node < cluster_.nodes(); ++node) {
        result.node_utilisation.push_back(executor_.use().utilisation(node));
        result.memory_peak.push_back(executor_.memory_peak(node));
        result.node_gpus.push_back(executor_.gpu_traffic(node));
    }
    for (const MemoryShortage& shortage : memory_shortages(platform_, result.memory_peak, NeededFor::tiles_and_copies))
        result.warnings.push_back(describe(shortage));
    for (std::string& warning : cards_without_room(platform_, copies_.most_bytes()))
        result.warnings.push_back(std::move(warning));
    return result;
}

}  // namespace tesela::sim
