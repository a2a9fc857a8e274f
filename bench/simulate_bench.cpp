#include "simulate_bench.hpp"

#include "in_children.hpp"
#include "resident_memory.hpp"
#include "table.hpp"
#include "timing.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/processor_time.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"
#include "tesela/sim/simulate_recording.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

namespace tesela::bench {
namespace {

constexpr Index tile = 960;
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
struct Case {
    const Platform& platform;
    Tiling tiling;
    Distribution owners;
};

Case make_case(const Platform& platform, Index tiles) {
    DistributionRequest request;
    request.workload.operation = Operation::cholesky;
    request.workload.density = full_density({tiles, tiles});
    request.nodes = node_count(platform);
    request.powers = update_powers(platform, tile);
    return {platform, Tiling::square(tiles * tile, tile), make_family("1d1d_triangle", request)};
}

Distribution all_on_first_node(GridSize grid, Index nodes) {
    return {grid, nodes, std::vector<std::int32_t>(static_cast<std::size_t>(grid.count()), 0)};
}

/// What one measurement found.
struct Measured {
    double seconds = 0;
    double processor_seconds = 0;
    double bytes = 0;  ///< by which memory had grown at most
    double makespan = 0;
};

template <class Work>
Measured measure(const Work& work) {
    const double before = resident_bytes();
    const double processor_before = processor_seconds();
    Measured measured;
    measured.seconds = seconds_of([&] { measured.makespan = work(); });
    measured.processor_seconds = processor_seconds() - processor_before;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    measured.bytes = std::max(0.0, 1024.0 * static_cast<double>(usage.ru_maxrss) - before);
    return measured;
}

template <class Work>
Measured measure_apart(const Work& work) {
    return in_children<Measured>({[&] { return measure(work); }}).front();
}

double walk(const Case& what) {
    RecordingEngine engine(node_count(what.platform));
    Stream stream(engine);
    run_operation(stream, Operation::cholesky, what.tiling, what.owners);
    return 0;
}

Recording record(const Case& what) {
    RecordingEngine engine(node_count(what.platform));
    Stream stream(engine);
    run_operation(stream, Operation::cholesky, what.tiling, what.owners);
    return engine.take();
}

/// What was recorded with other owners: without the walk.
double simulate_again(const Recording& recording, const Case& what, const NetworkModel& network) {
    return simulate_recording(recording, what.platform, {.network = network},
                              {{recording.matrices.front(), what.owners}})
        .makespan;
}

double simulate(const Case& what, const NetworkModel& network) {
    SimulatedEngine engine(what.platform, {.network = network});
    Stream stream(engine);
    run_operation(stream, Operation::cholesky, what.tiling, what.owners);
    return engine.result().makespan;
}

nlohmann::ordered_json measure_case(const Case& what, const std::string& network, int repetitions) {
    const NetworkModel model = network == "simgrid" ? simgrid_network : ports_network;
    Case elsewhere = what;
    elsewhere.owners = all_on_first_node(what.tiling.grid(), node_count(what.platform));
    const Recording recording = record(elsewhere);
    Best walked, whole, processor, again;
    Measured last;
    for (int r = 0; r < repetitions; ++r) {
        const Measured replay = measure_apart([&] { return simulate_again(recording, what, model); });
        again.add(replay.seconds);
        walked.add(measure_apart([&] { return walk(what); }).seconds);
        last = measure_apart([&] { return simulate(what, model); });
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

nlohmann::ordered_json check_of(const nlohmann::ordered_json& row, double most_seconds) {
    const double per_million = 1e6 * row.at("seconds").get<double>() / row.at("tasks").get<double>();
    return {{"bar", fmt::format("seconds per million tasks, {} of them, with ports", row.at("tasks").get<Index>())},
            {"value", per_million},
            {"limit", most_seconds},
            {"met", per_million <= most_seconds}};
}

std::vector<std::string> networks_of(const SimulateBenchOptions& options) {
    if (!options.network.empty()) return {options.network};
    if (has_simgrid()) return {"ports", "simgrid"};
    return {"ports"};
}

}  // namespace

nlohmann::ordered_json simulate_benchmark(const SimulateBenchOptions& options) {
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    if (options.tasks.empty() || std::ranges::min(options.tasks) < 1) throw Error("--tasks must be at least 1");
    const Platform platform = cli::read_platform(options.platform, options.nodes);
    auto rows = nlohmann::ordered_json::array();
    auto checks = nlohmann::ordered_json::array();
    for (const std::string& network : networks_of(options))
        for (const Index tasks : options.tasks) {
            if (options.network.empty() && network == "simgrid" && tasks > most_simgrid_tasks) continue;
            rows.push_back(measure_case(make_case(platform, tiles_for(tasks)), network, options.repetitions));
            if (network == "ports" && rows.back().at("tasks").get<Index>() >= least_checked_tasks)
                checks.push_back(check_of(rows.back(), options.most_seconds));
        }
    if (!options.table.empty()) write_table(options.table, {rows.begin(), rows.end()}, Digits::measured);
    return {{"platform", platform.name}, {"nodes", node_count(platform)}, {"rows", rows}, {"checks", checks}};
}

}  // namespace tesela::bench
