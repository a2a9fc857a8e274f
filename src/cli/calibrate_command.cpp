#include "tesela/cli/calibrate_command.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/base/version.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/plan/calibrate.hpp"
#include "tesela/plan/memory_bandwidth.hpp"
#include "tesela/starpu/network.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

namespace tesela::cli {
namespace {

using Clock = std::chrono::steady_clock;
using plan::CallShape;
using plan::KernelSample;
using plan::Load;

struct CalibrateOptions {
    RunOptions run;
    std::string out = "machine.json";
    std::string name;
    std::string precision = "double";
    plan::CalibrationOptions timing;
    bool alone = false;

    [[nodiscard]] Load load() const { return alone ? Load::alone : Load::busy; }
};

// A node alone cannot know its network. The placeholder is what two processes on it would see at best.
constexpr double placeholder_latency = 1e-6;

/// What this node has measured of itself.
struct Measured {
    std::vector<KernelSample> samples;
    double copy_bandwidth = 0;
};

/// A bar on a terminal, drawn by node 0; nothing in a pipe.
class ProgressBar {
public:
    ProgressBar(const Engine& engine, const RunOptions& options)
        : active_(engine.this_node() == NodeId{0} && !options.quiet && isatty(STDERR_FILENO) != 0) {}
    ~ProgressBar() {
        if (active_) fmt::print(stderr, "\r\033[K");
    }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    ProgressBar(ProgressBar&&) = delete;
    ProgressBar& operator=(ProgressBar&&) = delete;

    void show(Index done, Index of, const std::string& next) {
        if (!active_) return;
        constexpr Index width = 30;
        const Index filled = width * done / of;
        const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
        const std::string left =
            done == 0
                ? ""
                : ", about " + format_seconds(elapsed * static_cast<double>(of - done) / static_cast<double>(done)) +
                      " left";
        fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}/{} {}{}", "", filled, "", width - filled, done, of, next, left);
        std::fflush(stderr);
    }

private:
    bool active_;
    Clock::time_point start_ = Clock::now();
};

Measured measure(StarpuEngine& engine, const CalibrateOptions& options) {
    ProgressBar bar(engine, options.run);
    plan::CalibrationOptions timing = options.timing;
    timing.workers = engine.worker_count();
    timing.progress = [&](Index done, Index of, const std::string& next) { bar.show(done, of, next); };
    (void)gather_texts(engine, "");  // nodes that share a machine begin together, so that they disturb each other
    engine.pause();
    Measured measured{.samples = plan::time_kernels(timing),
                      .copy_bandwidth = plan::measure_copy_bandwidth(plan::bytes_beyond_caches(), timing.workers)};
    engine.resume();
    return measured;
}

/// "chifflet" of "chifflet-3.lille.example": what machines of one kind share.
std::string type_name(const std::string& host) {
    const auto end = std::ranges::find_if(host, [](unsigned char c) { return std::isalpha(c) == 0; });
    const std::string name(host.begin(), end);
    return name.empty() ? "node" : name;
}

plan::MeasuredNode describe(const NodeDescription& node, const Measured& measured, Load load) {
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
                                  .kernels = plan::kernel_times(measured.samples, load)}}}};
}

/// What every node has measured, on every node: each sends a platform of itself.
std::vector<plan::MeasuredNode> gather(StarpuEngine& engine, const plan::MeasuredNode& mine) {
    const nlohmann::json text =
        Platform{.name = mine.type.name, .node_types = {mine.type}, .subnets = {}, .description = mine.description};
    std::vector<plan::MeasuredNode> nodes;
    for (const std::string& one : gather_texts(engine, text.dump())) {
        const auto platform = nlohmann::json::parse(one).get<Platform>();
        nodes.push_back({platform.description, platform.node_types.front()});
    }
    return nodes;
}

/// The network of each type is that between its first node and another one; that of the first type is returned too.
std::optional<NetworkTimes> measure_networks(StarpuEngine& engine, plan::NodeTypes& nodes) {
    if (engine.node_count() == 1) return std::nullopt;
    std::optional<NetworkTimes> first;
    for (std::size_t t = 0; t < nodes.types.size(); ++t) {
        const auto node = std::ranges::find(nodes.type_of, t) - nodes.type_of.begin();
        const auto times = measure_network(engine, {.first = NodeId{node}, .second = NodeId{node == 0 ? 1 : 0}});
        nodes.types[t].nic = {.bandwidth = times.bandwidth, .latency = times.latency, .source = Source::measured};
        if (!first) first = times;
    }
    return first;
}

std::string describe_platform(const StarpuEngine& engine, const std::string& first_node, Load load) {
    const bool alone = engine.node_count() == 1;
    return fmt::format(
        "Measured by tesela calibrate {} on {} node{} ({}): CPU kernels with {}. {}", version, engine.node_count(),
        alone ? "" : "s", first_node, load == Load::busy ? "all workers busy" : "one worker at a time",
        alone ? "The network was not measured: nic is a placeholder, the bandwidth of a copy in memory."
        : engine.description().nodes_here > 1 ? "Several nodes were on one machine: nic is between processes of it."
                                              : "nic is by MPI between two nodes.");
}

// --- output
// -------------------------------------------------------------------------------------------------------------

std::string rate(const KernelSample& sample, Load load) {
    const double seconds = sample.under(load).median;
    if (sample.cost.flops >= sample.cost.bytes) return format_flops(sample.cost.flops / seconds);
    return fmt::format("{:.1f} GB/s", sample.cost.bytes / seconds / 1e9);
}

/// How much the slow calls and the best one are away from the median.
std::string spread(const plan::Spread& spread) {
    return fmt::format("-{:.0f}/+{:.0f}%", 100 * (1 - spread.best / spread.median),
                       100 * (spread.slow / spread.median - 1));
}

void print_table(const std::vector<KernelSample>& samples, Load load) {
    fmt::print("{:<10} {:>5} {:>7} {:>11} {:>11} {:>11} {:>14}\n", "kernel", "tile", "calls", "alone", "busy", "spread",
               "rate");
    auto sorted = samples;
    std::ranges::stable_sort(sorted, {}, [](const KernelSample& s) { return s.kernel; });
    for (const auto& sample : sorted)
        fmt::print("{:<10} {:>5} {:>7} {:>11} {:>11} {:>11} {:>14}\n",
                   sample.kernel + (sample.shape == CallShape::narrow ? "|" : ""), sample.tile,
                   sample.under(load).calls, format_seconds(sample.alone.median), format_seconds(sample.busy.median),
                   spread(sample.under(load)), rate(sample, load));
}

/// Samples of which one call in ten took a quarter longer than the median: the machine did something else too.
Index count_unsteady(const std::vector<KernelSample>& samples, Load load) {
    return std::ranges::count_if(
        samples, [&](const KernelSample& s) { return s.under(load).slow > 1.25 * s.under(load).median; });
}

void print_summary(const Measured& measured, Load load, const std::optional<NetworkTimes>& network) {
    fmt::print(
        "\nkernel| has few columns, as a right-hand side. Spread and rate are those of the load that is kept.\n");
    fmt::print("copy in memory  {:.1f} GB/s\n", measured.copy_bandwidth / 1e9);
    if (const Index unsteady = count_unsteady(measured.samples, load); unsteady > 0)
        fmt::print("unsteady        {} of {} rows; measure again when nothing else runs\n", unsteady,
                   measured.samples.size());
    if (!network) return;
    fmt::print("network         {} latency, {:.2f} GB/s, {:.2f} GB/s each way when both send\n",
               format_seconds(network->latency), network->bandwidth / 1e9, network->bidirectional_bandwidth / 1e9);
}

Json to_json(const plan::Spread& spread) {
    return {{"median", spread.median}, {"best", spread.best}, {"slow", spread.slow}, {"calls", spread.calls}};
}

Json to_json(const NetworkTimes& network) {
    Json points = Json::array();
    for (const auto& point : network.points) points.push_back({{"bytes", point.bytes}, {"seconds", point.seconds}});
    return {{"latency", network.latency},
            {"bandwidth", network.bandwidth},
            {"bidirectional_bandwidth", network.bidirectional_bandwidth},
            {"points", points}};
}

Json to_json(const CalibrateOptions& options, const Measured& measured, const std::optional<NetworkTimes>& network) {
    Json samples = Json::array();
    for (const auto& sample : measured.samples)
        samples.push_back({{"kernel", sample.kernel},
                           {"tile", sample.tile},
                           {"shape", sample.shape == CallShape::square ? "square" : "narrow"},
                           {"flops", sample.cost.flops},
                           {"bytes", sample.cost.bytes},
                           {"alone", to_json(sample.alone)},
                           {"busy", to_json(sample.busy)}});
    return {{"out", options.out},
            {"load", options.alone ? "alone" : "busy"},
            {"unsteady", count_unsteady(measured.samples, options.load())},
            {"copy_bandwidth", measured.copy_bandwidth},
            {"network", network ? to_json(*network) : Json()},
            {"samples", samples}};
}

// --- the command
// ----------------------------------------------------------------------------------------------------------

int calibrate(CalibrateOptions options) {
    if (options.out == "-" && options.run.json)
        throw Error("--out - and --json both want standard output; give --out a file");
    if (options.timing.kernels.empty())
        options.timing.kernels =
            plan::kernel_names(options.precision == "double" ? ElementType::f64 : ElementType::f32);
    plan::check(options.timing);
    const auto engine = start_engine(options.run);
    const bool first = engine->this_node() == NodeId{0};
    std::optional<OutputFile> file;
    if (first) file.emplace(options.out);
    if (first && engine->description().accelerators > 0)
        fmt::print(stderr, "tesela calibrate: only cores are measured; describe accelerators in the file by hand\n");

    const Measured measured = measure(*engine, options);
    const auto mine = describe(engine->description(), measured, options.load());
    plan::NodeTypes nodes = plan::group_alike(gather(*engine, mine));
    const auto network = measure_networks(*engine, nodes);
    if (!first) return success;

    const std::string& host = engine->description().host;
    const Platform platform{.name = options.name.empty() ? host : options.name,
                            .node_types = nodes.types,
                            .subnets = {},
                            .description = describe_platform(*engine, mine.description, options.load())};
    check_platform(platform);
    file->write(nlohmann::json(platform).dump(1) + "\n");
    file->commit();
    if (options.run.json) {
        fmt::print("{}\n", to_json(options, measured, network).dump(2));
    } else if (options.out != "-") {
        print_table(measured.samples, options.load());
        print_summary(measured, options.load(), network);
        fmt::print("written         {}\n", options.out);
    }
    return success;
}

}  // namespace

void add_calibrate_command(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<CalibrateOptions>();
    CLI::App* command = app.add_subcommand(
        "calibrate", "Time kernels, memory and, under mpirun, the network of the nodes at hand; write a platform file");
    command->add_option("-o,--out", options->out, "Platform file to write; - is standard output")
        ->capture_default_str();
    command->add_option("--name", options->name, "Name of the platform (default: the host's)");
    command->add_option("--kernels", options->timing.kernels, "Only these, as dgemm,dpotrf")->delimiter(',');
    command->add_option("--tile-sizes", options->timing.tiles, "Tile sizes to time, as 256,512")
        ->delimiter(',')
        ->capture_default_str();
    command
        ->add_option("--seconds", options->timing.seconds, "For each kernel, tile size and load (at least seven calls)")
        ->capture_default_str();
    command
        ->add_option("--precision", options->precision, "double or single: which kernels, unless --kernels names them")
        ->check(CLI::IsMember({"double", "single"}))
        ->capture_default_str();
    auto* all = command->add_flag("--busy")->description("Keep durations with all workers busy, as in a run (default)");
    command->add_flag("--alone", options->alone, "Keep durations of one worker while the others are idle")
        ->excludes(all);
    command
        ->add_option("--workers", options->run.workers, "Workers per node (0: the cores divided among the nodes here)")
        ->capture_default_str();
    command->add_flag("--quiet", options->run.quiet, "No line per node and no progress");
    add_json_option(*command, options->run);
    command->callback(
        [=, &exit_code] { exit_code = run_guarded("tesela calibrate", [&] { return calibrate(*options); }); });
}

}  // namespace tesela::cli
