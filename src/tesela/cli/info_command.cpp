#include "tesela/cli/commands.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/processor_time.hpp"
#include "tesela/base/version.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/flow/matrix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace tesela::cli {
namespace {

struct StartTime {
    Clock::time_point* at;
};
KernelResult note_start(const StartTime& start, TileSpan<double>) noexcept {
    *start.at = Clock::now();
    return {};
}
const auto start_kernel = make_kernel<note_start>("start");

/// Seconds from submission to the start of a task on an engine that has been idle.
double start_latency(Stream& stream, const TileOf<double>& tile) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Clock::time_point started;
    const Clock::time_point submitted = Clock::now();
    stream.submit(Task(start_kernel, {&started}, write(tile)));
    require_done(stream.wait());
    return std::chrono::duration<double>(started - submitted).count();
}

Json measure_idle(StarpuEngine& engine, double seconds) {
    Stream stream(engine);
    const Distribution here({1, 1}, engine.node_count(), {static_cast<std::int32_t>(engine.this_node().number())});
    Matrix<double> tile(stream, Tiling::square(1, 1), here);
    const double cpu = processor_seconds();
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const double used = processor_seconds() - cpu;
    const double elapsed = seconds_since(start);
    std::vector<double> latencies;
    for (int i = 0; i < 20; ++i) latencies.push_back(start_latency(stream, tile(0, 0)));
    return {{"idle_seconds", elapsed},
            {"idle_core_percent", 100 * used / elapsed},
            {"start_latency_median_us", 1e6 * median(latencies)},
            {"start_latency_max_us", 1e6 * *std::ranges::max_element(latencies)}};
}

struct InfoOptions {
    RunOptions run;
    double idle_seconds = 0;
};

int info(const InfoOptions& options) {
    const double idle_seconds = options.idle_seconds;
    if (idle_seconds > 3600) throw Error("--idle takes 0 to 3600 seconds, not {}", idle_seconds);
    RunOptions quiet = options.run;
    quiet.quiet = true;
    quiet.shows_warnings = true;
    const auto engine = start_engine(quiet);
    const NodeDescription& node = engine->description();
    Json results{{"version", version},
                 {"nodes", engine->node_count()},
                 {"host", node.host},
                 {"cores", node.cores},
                 {"workers", node.workers},
                 {"accelerators", node.accelerators},
                 {"starpu", node.starpu},
                 {"starpu_origin", node.starpu_origin},
                 {"starpu_cores", node.starpu_cores},
                 {"scheduler", node.scheduler},
                 {"blas", node.blas},
                 {"blas_core", node.blas_core},
                 {"blas_core_replaced", node.blas_core_replaced},
                 {"blas_threads", node.blas_threads},
                 {"vectors", node.vectors},
                 {"memory_bytes", node.memory_bytes},
                 {"warnings", node.warnings}};
    const auto lines = engine->start_lines();
    if (!options.run.json && engine->is_first())
        for (const std::string& line : lines) fmt::print("{}\n", line);
    if (idle_seconds > 0) results.update(measure_idle(*engine, idle_seconds));
    print_results(*engine, results, options.run.json);
    return success;
}

void add_info_options(CLI::App& command, InfoOptions& options) {
    add_engine_options(command, options.run);
    add_json_option(command, options.run);
    at_least(command.add_option("--idle", options.idle_seconds,
                                "Stay idle for so many seconds, then report processor use and start latency"),
             0.0);
}

}  // namespace

Command info_command() { return command("info", "Show this build and the nodes it runs on", add_info_options, info); }

}  // namespace tesela::cli
