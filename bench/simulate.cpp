#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/in_children.hpp"
#include "harness/resident_memory.hpp"
#include "harness/timing.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/processor_time.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"
#include "tesela/sim/simulate_recording.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

struct SimulateOptions {
    std::vector<Index> tasks{10'000, 100'000, 1'000'000};
    std::string platform = "grid5000-lille";
    std::string nodes = "6che+6chi+2cho";
    std::string network;  ///< empty: both
    int repetitions = 5;
    double most_seconds = 1.5;
    std::string table;
};

void add_simulate_options(CLI::App& command, SimulateOptions& options) {
    comma_separated(command.add_option("--tasks", options.tasks, "Tasks of each case, at most"));
    command.add_option("--platform", options.platform, "A platform file, or the name of a ready-made platform")
        ->capture_default_str();
    command.add_option("--nodes", options.nodes, "Nodes of the platform to use, by number and type; all if empty")
        ->capture_default_str();
    command
        .add_option("--network", options.network,
                    "ports or simgrid (default: both, simgrid up to 100000 tasks if it is there)")
        ->check(CLI::IsMember({"ports", "simgrid"}));
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    command.add_option("--most-seconds", options.most_seconds, "What a million tasks may take at most, with ports")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_option("--table", options.table, "CSV file for the rows");
}

constexpr Index simulated_tile = 960;
/// SimGrid takes several times as long, so that more than this is left out unless it is asked for alone.
constexpr Index most_simgrid_tasks = 100'000;

/// The limit is for large graphs: small ones have more messages to a task.
constexpr Index least_checked_tasks = 500'000;

constexpr Index cholesky_tasks(Index tiles) { return tiles * (tiles + 1) * (tiles + 2) / 6; }

/// The largest matrix whose Cholesky factorisation has at most so many tasks.
Index tiles_for(Index tasks) {
    Index tiles = 1;
    while (cholesky_tasks(tiles + 1) <= tasks) ++tiles;
    return tiles;
}

/// What is simulated.
struct SimulatedCase {
    const Platform& platform;
    Tiling tiling;
    Distribution owners;
};

SimulatedCase make_case(const Platform& platform, Index tiles) {
    DistributionRequest request;
    request.workload.operation = Operation::cholesky;
    request.workload.density = full_density({tiles, tiles});
    request.nodes = node_count(platform);
    request.powers = update_powers(platform, simulated_tile);
    return {platform, Tiling::square(tiles * simulated_tile, simulated_tile), make_family("1d1d_triangle", request)};
}

Distribution all_on_first_node(GridSize grid, Index nodes) {
    return {grid, nodes, std::vector<std::int32_t>(static_cast<std::size_t>(grid.count()), 0)};
}

/// What one measurement found.
struct SimulatorCost {
    double seconds = 0;
    double processor_seconds = 0;
    double bytes = 0;  ///< by which memory had grown at most
    double makespan = 0;
};

template <class Work>
SimulatorCost cost_of(const Work& work) {
    const double before = resident_bytes();
    const double processor_before = processor_seconds();
    SimulatorCost cost;
    cost.seconds = seconds_of([&] { cost.makespan = work(); });
    cost.processor_seconds = processor_seconds() - processor_before;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    cost.bytes = std::max(0.0, 1024.0 * static_cast<double>(usage.ru_maxrss) - before);
    return cost;
}

template <class Work>
SimulatorCost cost_apart(const Work& work) {
    return in_children<SimulatorCost>({[&] { return cost_of(work); }}).front();
}

double only_walk(const SimulatedCase& what) {
    RecordingEngine engine(node_count(what.platform));
    Stream stream(engine);
    run_operation(stream, Operation::cholesky, what.tiling, what.owners);
    return 0;
}

Recording recording_of(const SimulatedCase& what) {
    RecordingEngine engine(node_count(what.platform));
    Stream stream(engine);
    run_operation(stream, Operation::cholesky, what.tiling, what.owners);
    return engine.take();
}

/// What was recorded with other owners: without the walk.
double simulate_again(const Recording& recording, const SimulatedCase& what, const NetworkModel& network) {
    return simulate_recording(recording, what.platform, {.network = network},
                              {{recording.matrices.front(), what.owners}})
        .makespan;
}

double simulate_once(const SimulatedCase& what, const NetworkModel& network) {
    SimulatedEngine engine(what.platform, {.network = network});
    Stream stream(engine);
    run_operation(stream, Operation::cholesky, what.tiling, what.owners);
    return engine.result().makespan;
}

Row measure_case(const SimulatedCase& what, const std::string& network, int repetitions) {
    const NetworkModel model = network == "simgrid" ? simgrid_network : ports_network;
    SimulatedCase elsewhere = what;
    elsewhere.owners = all_on_first_node(what.tiling.grid(), node_count(what.platform));
    const Recording recording = recording_of(elsewhere);
    Best walked, whole, processor, again;
    SimulatorCost last;
    for (int r = 0; r < repetitions; ++r) {
        const SimulatorCost replay = cost_apart([&] { return simulate_again(recording, what, model); });
        again.add(replay.seconds);
        walked.add(cost_apart([&] { return only_walk(what); }).seconds);
        last = cost_apart([&] { return simulate_once(what, model); });
        whole.add(last.seconds);
        processor.add(last.processor_seconds);
        if (replay.makespan != last.makespan)
            throw Error("simulated again it takes {} s instead of {}", replay.makespan, last.makespan);
    }
    const Index tasks = cholesky_tasks(what.tiling.grid().rows);
    return {{"network", network},
            {"tiles", what.tiling.grid().rows},
            {"tasks", tasks},
            {"walk_seconds", walked.seconds()},
            {"seconds", whole.seconds()},
            {"again_seconds", again.seconds()},
            {"processor_seconds", processor.seconds()},
            {"tasks_per_second", static_cast<double>(tasks) / whole.seconds()},
            {"memory_bytes", last.bytes},
            {"makespan", last.makespan}};
}

Check check_of_case(const Row& row, double most_seconds) {
    return at_most(fmt::format("seconds per million tasks, {} of them, with ports", row.at("tasks").get<Index>()),
                   1e6 * row.at("seconds").get<double>() / row.at("tasks").get<double>(), most_seconds);
}

std::vector<std::string> networks_of(const SimulateOptions& options) {
    if (!options.network.empty()) return {options.network};
    if (has_simgrid()) return {"ports", "simgrid"};
    return {"ports"};
}

/// How long the simulator takes, and how much memory, for Cholesky with about so many tasks: the walk of the algorithm
/// alone, the whole simulation, and that of a recording which was made with other owners.
Report run_simulate(const SimulateOptions& options) {
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    if (options.tasks.empty() || std::ranges::min(options.tasks) < 1) throw Error("--tasks must be at least 1");
    const Platform platform = read_platform(options.platform, options.nodes);
    Report report{.figures = {{"platform", platform.name}, {"nodes", node_count(platform)}}};
    for (const std::string& network : networks_of(options))
        for (const Index tasks : options.tasks) {
            if (options.network.empty() && network == "simgrid" && tasks > most_simgrid_tasks) continue;
            const Row& row = report.rows.emplace_back(
                measure_case(make_case(platform, tiles_for(tasks)), network, options.repetitions));
            if (network == "ports" && row.at("tasks").get<Index>() >= least_checked_tasks)
                report.checks.push_back(check_of_case(row, options.most_seconds));
        }
    if (!options.table.empty()) write_table(options.table, report.rows, Digits::measured);
    return report;
}

}  // namespace

Experiment simulate() {
    return experiment(
        "simulate",
        "How long the simulator takes for Cholesky, and how much memory; exit code 1 if it is slower than "
        "--most-seconds",
        add_simulate_options, run_simulate);
}

}  // namespace tesela::bench
