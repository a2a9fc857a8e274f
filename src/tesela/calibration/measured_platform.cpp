#include "tesela/calibration/measured_platform.hpp"

#include "tesela/base/median.hpp"
#include "tesela/base/version.hpp"
#include "tesela/calibration/memory_bandwidth.hpp"
#include "tesela/calibration/runtime_costs.hpp"
#include "tesela/kernels/low_rank_speed.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tesela::calibration {
namespace {

// A node alone cannot know its network. The placeholder is what two processes on it would see at best.
constexpr double placeholder_latency = 1e-6;

NodeMeasurement measure_node(StarpuEngine& engine, CalibrationOptions timing) {
    timing.workers = engine.worker_count();
    timing.cores = engine.worker_cores();
    // The same rounds on all nodes: those that share a machine would be faster while another has ended its own.
    if (engine.node_count() > 1) timing.most_rounds = std::min(timing.most_rounds, 2);
    engine.barrier();  // nodes that share a machine begin together, so that they disturb each other
    engine.pause();
    const Index copied = timing.walked_bytes > 0 ? timing.walked_bytes : bytes_beyond_caches();
    NodeMeasurement measured{.samples = time_kernels(timing),
                             .copy_bandwidth = measure_copy_bandwidth(copied, timing.workers)};
    engine.resume();
    return measured;
}

/// "chifflet" of "chifflet-3.lille.example": what machines of one kind share.
std::string type_name(const std::string& host) {
    const auto end = std::ranges::find_if(host, [](unsigned char c) { return std::isalpha(c) == 0; });
    const std::string name(host.begin(), end);
    return name.empty() ? "node" : name;
}

/// What calls take of the clock on the wall where all workers share the time that control groups leave the node:
/// samples count the time of processors.
std::vector<KernelTime> within_quota(std::vector<KernelTime> kernels, const NodeDescription& node, Load load) {
    const int busy = load == Load::busy ? node.workers : 1;
    if (node.quota <= 0 || node.quota >= busy) return kernels;
    for (KernelTime& kernel : kernels) scale(kernel, busy / node.quota);
    return kernels;
}

MeasuredNode describe(const NodeDescription& node, const NodeMeasurement& measured, Load load) {
    return {.description = fmt::format("{} workers of {} cores, {} accelerators, {}", node.workers, node.cores,
                                       node.accelerators, node.blas),
            .type = {.name = type_name(node.host),
                     .count = 1,
                     .memory = node.memory_bytes,
                     .memory_bandwidth = 2 * measured.copy_bandwidth,
                     .nic = {.bandwidth = measured.copy_bandwidth, .latency = placeholder_latency},
                     .subnet = {},
                     .workers = {{.name = "cores",
                                  .processor = Processor::cpu,
                                  .count = node.workers,
                                  .kernels = within_quota(kernel_times(measured.samples, load), node, load)}}}};
}

/// What every node has measured, on every node: each sends a platform of itself.
std::vector<MeasuredNode> gather(StarpuEngine& engine, const MeasuredNode& mine) {
    const nlohmann::json text =
        Platform{.name = mine.type.name, .node_types = {mine.type}, .subnets = {}, .description = mine.description};
    std::vector<MeasuredNode> nodes;
    for (const std::string& one : engine.gather(text.dump())) {
        const auto platform = nlohmann::json::parse(one).get<Platform>();
        nodes.push_back({platform.description, platform.node_types.front()});
    }
    return nodes;
}

/// The network of each type is that between its first node and another one; that of the first type is returned too.
std::optional<NetworkTimes> measure_networks(StarpuEngine& engine, NodeTypes& nodes) {
    if (engine.node_count() == 1) return std::nullopt;
    std::optional<NetworkTimes> first;
    for (std::size_t t = 0; t < nodes.types.size(); ++t) {
        const auto node = std::ranges::find(nodes.type_of, t) - nodes.type_of.begin();
        const auto times = measure_network(engine, {.first = static_cast<int>(node), .second = node == 0 ? 1 : 0});
        nodes.types[t].nic = {.bandwidth = times.bandwidth, .latency = times.latency, .source = Source::measured};
        if (!first) first = times;
    }
    return first;
}

/// What the runtime system takes: of each type the median of its nodes.
void measure_runtimes(StarpuEngine& engine, NodeTypes& nodes, const std::optional<NetworkTimes>& network) {
    constexpr std::array fields{&RuntimeCosts::submission, &RuntimeCosts::passing, &RuntimeCosts::task,
                                &RuntimeCosts::turn,       &RuntimeCosts::message, &RuntimeCosts::message_bandwidth};
    const RuntimeCosts mine = measure_runtime_costs(engine, network);
    auto text = nlohmann::json::array();
    for (const auto field : fields) text.push_back(mine.*field);
    std::vector<nlohmann::json> all;
    for (const std::string& one : engine.gather(text.dump())) all.push_back(nlohmann::json::parse(one));
    for (std::size_t t = 0; t < nodes.types.size(); ++t) {
        nodes.types[t].runtime.source = Source::measured;
        std::size_t column = 0;
        for (const auto field : fields) {
            std::vector<double> values;
            for (std::size_t node = 0; node < all.size(); ++node)
                if (nodes.type_of[node] == t) values.push_back(all[node][column].get<double>());
            nodes.types[t].runtime.*field = median(std::move(values));
            ++column;
        }
    }
}

/// How much longer recompression takes than products: the median of all nodes. The workers stand still meanwhile.
LogCurve measure_recompression(StarpuEngine& engine) {
    engine.pause();
    LogCurve curve = measure_low_rank_speed().recompression;
    engine.resume();
    for (CurvePoint& point : curve) point.y = median(engine.gather(point.y));
    return curve;
}

/// Types in the order of the nodes, so that a platform numbers these as the engine does: where nodes of a type do not
/// stand side by side it is listed several times.
NodeTypes in_order_of_nodes(const NodeTypes& nodes) {
    NodeTypes runs;
    std::vector<int> listed(nodes.types.size(), 0);
    for (std::size_t node = 0; node < nodes.type_of.size(); ++node) {
        const std::size_t type = nodes.type_of[node];
        if (node == 0 || nodes.type_of[node - 1] != type) {
            runs.types.push_back(nodes.types[type]);
            runs.types.back().count = 0;
            if (++listed[type] > 1) runs.types.back().name += fmt::format("_{}", listed[type]);
        }
        ++runs.types.back().count;
        runs.type_of.push_back(runs.types.size() - 1);
    }
    return runs;
}

/// How steady the durations of this node were: the middle and the worst drift, in words.
std::string describe_steadiness(const std::vector<KernelSample>& samples, Load load) {
    std::vector<double> drifts;
    for (const KernelSample& sample : samples) drifts.push_back(sample.under(load).drift);
    if (drifts.empty()) return "";
    const double worst = std::ranges::max(drifts);
    return fmt::format(" The two best rounds of each kernel differ by {:.1f} %, at worst {:.1f} %.",
                       100 * median(std::move(drifts)), 100 * worst);
}

std::string describe_platform(const StarpuEngine& engine, const std::string& first_node, Load load,
                              const NodeMeasurement& here) {
    const bool alone = engine.node_count() == 1;
    return fmt::format(
        "Measured by tesela calibrate {} on {} node{} ({}): CPU kernels with {}.{} {}", version, engine.node_count(),
        alone ? "" : "s", first_node, load == Load::busy ? "all workers busy" : "one worker at a time",
        describe_steadiness(here.samples, load),
        alone ? "The network was not measured: nic is a placeholder, the bandwidth of a copy in memory."
        : engine.description().nodes_here > 1 ? "Several nodes were on one machine: nic is between processes of it."
                                              : "nic is by MPI between two nodes.");
}

}  // namespace

MeasuredNodes measure_nodes(StarpuEngine& engine, const CalibrationOptions& timing, Load load) {
    NodeMeasurement here = measure_node(engine, timing);
    const auto nodes = gather(engine, describe(engine.description(), here, load));
    return {.nodes = group_alike(nodes), .description = nodes.front().description, .here = std::move(here)};
}

MeasuredPlatform measure_platform(StarpuEngine& engine, const CalibrationOptions& timing, Load load,
                                  const std::string& name) {
    const auto [nodes, description, here] = measure_nodes(engine, timing, load);
    NodeTypes types = nodes;
    const auto network = measure_networks(engine, types);
    measure_runtimes(engine, types, network);
    const LogCurve recompression = measure_recompression(engine);
    types = in_order_of_nodes(types);
    const std::string first_host = engine.gather(engine.description().host).front();
    return {.platform = {.name = name.empty() ? first_host : name,
                         .node_types = types.types,
                         .subnets = {},
                         .description = describe_platform(engine, description, load, here),
                         .recompression = recompression},
            .type_of = types.type_of,
            .here = here,
            .network = network};
}

}  // namespace tesela::calibration
