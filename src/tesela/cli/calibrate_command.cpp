#include "tesela/cli/commands.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/base/version.hpp"
#include "tesela/calibration/measured_platform.hpp"
#include "tesela/cli/all_specimens.hpp"
#include "tesela/cli/blas_restart.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/io/platform_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace tesela::cli {
namespace {

using calibration::KernelSample;
using calibration::Load;
using calibration::MeasuredPlatform;
using calibration::NodeMeasurement;

struct CalibrateOptions {
    RunOptions run;
    std::string out = "machine.json";
    std::string merge;  ///< the file that durations are merged into; empty: a file is written
    std::string type;   ///< of nodes, there
    std::string name;
    ElementType precision = ElementType::f64;
    std::vector<std::string> kernels;  ///< none: all of the precision
    calibration::CalibrationOptions timing;
    bool alone = false;

    [[nodiscard]] Load load() const { return alone ? Load::alone : Load::busy; }
};

/// The options, with a bar on this line.
calibration::CalibrationOptions shown_on(ProgressLine& line, calibration::CalibrationOptions timing) {
    timing.progress = [&line](Index done, Index of, const std::string& next) { line.show_bar(done, of, next); };
    return timing;
}

MeasuredPlatform measure(StarpuEngine& engine, const CalibrateOptions& options) {
    ProgressLine line(wants_progress(options.run));
    return measure_platform(engine, shown_on(line, options.timing), options.load(), options.name);
}

calibration::MeasuredNodes measure_kernels(StarpuEngine& engine, const CalibrateOptions& options) {
    ProgressLine line(wants_progress(options.run));
    return measure_nodes(engine, shown_on(line, options.timing), options.load());
}

// --- output
// -------------------------------------------------------------------------------------------------------------

std::string rate(const KernelSample& sample, Load load) {
    const double seconds = sample.under(load).mean;
    if (sample.cost.flops >= sample.cost.bytes) return format_flops(sample.cost.flops / seconds);
    return fmt::format("{:.1f} GB/s", sample.cost.bytes / seconds / 1e9);
}

/// How much the slow calls and the best one are away from the mean.
std::string spread(const calibration::Spread& spread) {
    return fmt::format("-{:.0f}/+{:.0f}%", 100 * (1 - spread.best / spread.mean),
                       100 * (spread.slow / spread.mean - 1));
}

void print_table(const std::vector<KernelSample>& samples, Load load) {
    fmt::print("{:<10} {:>5} {:>7} {:>11} {:>11} {:>11} {:>6} {:>14}\n", "kernel", "tile", "calls", "alone", "busy",
               "spread", "drift", "rate");
    auto sorted = samples;
    std::ranges::stable_sort(sorted, {}, [](const KernelSample& s) { return s.kernel; });
    for (const auto& sample : sorted)
        fmt::print("{:<10} {:>5} {:>7} {:>11} {:>11} {:>11} {:>5.1f}% {:>14}\n",
                   sample.kernel + (sample.shape == CallShape::narrow ? "|" : ""), sample.tile,
                   sample.under(load).calls, format_seconds(sample.alone.mean), format_seconds(sample.busy.mean),
                   spread(sample.under(load)), 100 * sample.under(load).drift, rate(sample, load));
}

/// Samples whose two best rounds do not agree, or of which one call in ten took a quarter longer than the mean: the
/// machine did something else too.
Index count_unsteady(const std::vector<KernelSample>& samples, Load load) {
    return std::ranges::count_if(samples, [&](const KernelSample& sample) {
        const calibration::Spread& spread = sample.under(load);
        return spread.drift > calibration::steady_drift || spread.slow > 1.25 * spread.mean;
    });
}

void print_runtime(const RuntimeCosts& runtime) {
    fmt::print("a task          {} to submit, {} of a worker beside its kernel", format_seconds(runtime.submission),
               format_seconds(runtime.task));
    if (runtime.turn > 0) fmt::print(", {} after the one before it", format_seconds(runtime.turn));
    fmt::print("\n");
    if (runtime.message_bandwidth == 0 && runtime.message == 0) return;
    fmt::print("a message       {} of busy workers", format_seconds(runtime.message));
    if (runtime.message_bandwidth > 0) fmt::print(", and a second for {:.2f} GB", runtime.message_bandwidth / 1e9);
    fmt::print("\n");
}

void print_recompression(const LogCurve& recompression) {
    std::vector<std::string> each;
    for (const auto& [rank, slowness] : recompression)
        each.push_back(fmt::format("{:.1f} at rank {:g}", slowness, rank));
    fmt::print("recompression   takes {} times as long per operation as a dense product\n", fmt::join(each, ", "));
}

void print_summary(const NodeMeasurement& measured, Load load, const std::optional<NetworkTimes>& network) {
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

Json to_json(const calibration::Spread& spread) {
    return {{"mean", spread.mean},   {"best", spread.best},     {"slow", spread.slow},
            {"calls", spread.calls}, {"rounds", spread.rounds}, {"drift", spread.drift}};
}

Json to_json(const NetworkTimes& network) {
    Json points = Json::array();
    for (const auto& point : network.points) points.push_back({{"bytes", point.bytes}, {"seconds", point.seconds}});
    return {{"latency", network.latency},
            {"bandwidth", network.bandwidth},
            {"bidirectional_bandwidth", network.bidirectional_bandwidth},
            {"points", points}};
}

Json to_json(const RuntimeCosts& runtime) {
    return {{"submission", runtime.submission},
            {"passing", runtime.passing},
            {"task", runtime.task},
            {"turn", runtime.turn},
            {"message", runtime.message},
            {"message_bandwidth", runtime.message_bandwidth}};
}

Json to_json(const CalibrateOptions& options, const NodeMeasurement& measured) {
    Json samples = Json::array();
    for (const auto& sample : measured.samples)
        samples.push_back({{"kernel", sample.kernel},
                           {"tile", sample.tile},
                           {"shape", sample.shape == CallShape::square ? "square" : "narrow"},
                           {"flops", sample.cost.flops},
                           {"bytes", sample.cost.bytes},
                           {"alone", to_json(sample.alone)},
                           {"busy", to_json(sample.busy)}});
    return {{"out", options.merge.empty() ? options.out : options.merge},
            {"load", options.alone ? "alone" : "busy"},
            {"unsteady", count_unsteady(measured.samples, options.load())},
            {"copy_bandwidth", measured.copy_bandwidth},
            {"samples", samples}};
}

Json to_json(const CalibrateOptions& options, const MeasuredPlatform& all) {
    Json json = to_json(options, all.here);
    json["network"] = all.network ? to_json(*all.network) : Json();
    json["runtime"] = to_json(all.platform.node_types.front().runtime);
    json["recompression"] = nlohmann::json(all.platform)["recompression"];
    return json;
}

// --- the command
// ----------------------------------------------------------------------------------------------------------

bool has_type(const Platform& platform, const std::string& name) {
    return std::ranges::find(platform.node_types, name, &NodeType::name) != platform.node_types.end();
}

/// The type of a platform whose nodes were measured: the one that is named, one of the same name, or the only one.
std::string type_in(const Platform& platform, const NodeType& measured, const std::string& named) {
    if (!named.empty()) return named;
    const bool known = has_type(platform, measured.name) || platform.node_types.size() > 1;
    return known ? measured.name : platform.node_types.front().name;
}

int merge(const CalibrateOptions& options, StarpuEngine& engine) {
    const Platform platform = tesela::read_platform(options.merge, "");
    if (const std::string ready = find_platform(options.merge); ready != options.merge)
        throw Error("{} is a ready-made platform: copy {} and merge into the copy", options.merge, ready);
    // What is wrong is said before the work.
    if (engine.is_first()) require_writable(options.merge);
    if (!options.type.empty() && !has_type(platform, options.type)) (void)choose_nodes(platform, "1" + options.type);
    const auto measured = measure_kernels(engine, options);
    const std::vector<NodeType>& types = measured.nodes.types;
    if (types.size() > 1 && !options.type.empty())
        throw Error("--type names one type of node, and the nodes at hand are of {}", types.size());
    if (types.size() > 1 && platform.node_types.size() == 1)
        throw Error("the nodes at hand are of {} types, and {} has one", types.size(), options.merge);
    if (!engine.is_first()) return success;
    std::vector<TypeDurations> durations;
    for (const NodeType& type : types)
        durations.push_back({type_in(platform, type, options.type), type.workers.front().kernels});
    merge_durations(options.merge, durations);
    if (options.run.json) {
        fmt::print("{}\n", to_json(options, measured.here).dump(2));
        return success;
    }
    print_table(measured.here.samples, options.load());
    print_summary(measured.here, options.load(), std::nullopt);
    for (const auto& [type, kernels] : durations)
        fmt::print("merged          {} kernels of {} into {}\n", kernels.size(), type, options.merge);
    return success;
}

int write_platform(const CalibrateOptions& options, StarpuEngine& engine) {
    const bool first = engine.is_first();
    std::optional<OutputFile> file;
    if (first) file.emplace(options.out);
    const MeasuredPlatform all = measure(engine, options);
    const auto& [platform, type_of, measured, network] = all;
    if (!first) return success;
    check_platform(platform);
    file->write(nlohmann::json(platform).dump(1) + "\n");
    file->commit();
    if (options.run.json) {
        fmt::print("{}\n", to_json(options, all).dump(2));
    } else if (!is_standard_output(options.out)) {
        print_table(measured.samples, options.load());
        print_summary(measured, options.load(), network);
        print_runtime(platform.node_types.front().runtime);
        print_recompression(platform.recompression);
        fmt::print("written         {}\n", options.out);
    }
    return success;
}

int calibrate(CalibrateOptions options) {
    if (is_standard_output(options.out) && options.run.json)
        throw Error("--out - and --json both want standard output; give --out a file");
    options.timing.specimens = options.kernels.empty() ? of_type(all_specimens(), options.precision)
                                                       : of_kernels(all_specimens(), options.kernels);
    calibration::check(options.timing);
    const auto engine = start_engine(options.run);
    if (engine->is_first() && engine->description().accelerators > 0)
        fmt::print(stderr, "tesela calibrate: only cores are measured; describe accelerators in the file by hand\n");
    return options.merge.empty() ? write_platform(options, *engine) : merge(options, *engine);
}

void add_calibrate_options(CLI::App& command, CalibrateOptions& options) {
    fit_blas_before(command);
    auto* out = command.add_option("-o,--out", options.out, "Platform file to write; - is standard output");
    auto* name = command.add_option("--name", options.name, "Name of the platform (default: the host's)");
    out->capture_default_str();
    auto* merged = command.add_option("--merge", options.merge,
                                      "Put the durations into this platform file instead, and leave all else in it");
    merged->excludes(out)->excludes(name);
    command
        .add_option("--type", options.type, "Type of node there (default: that of the host's name, or the only one)")
        ->needs(merged);
    comma_separated(command.add_option("--kernels", options.kernels,
                                       "Kernels to time, as dgemm,dpotrf (default: all of --precision)"));
    comma_separated(command.add_option("--tile-sizes", options.timing.tiles, "Tile sizes to time, as 256,512"))
        ->capture_default_str();
    command
        .add_option("--seconds", options.timing.seconds,
                    "Seconds to time each kernel, tile size and load (at least seven calls)")
        ->capture_default_str();
    add_choice(command, "--precision", options.precision, precision_names,
               "double or single: which kernels, unless --kernels names them");
    auto* all = command.add_flag("--busy")->description("Keep durations with all workers busy, as in a run (default)");
    command.add_flag("--alone", options.alone, "Keep durations of one worker while the others are idle")->excludes(all);
    add_workers_option(command, options.run);
    add_quiet_option(command, options.run.quiet);
    add_json_option(command, options.run);
}

}  // namespace

Command calibrate_command() {
    return command("calibrate",
                   "Time kernels, memory and, under mpirun, the network of the nodes at hand; write a platform file",
                   add_calibrate_options, calibrate);
}

}  // namespace tesela::cli
