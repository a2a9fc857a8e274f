#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/resident_memory.hpp"
#include "harness/timing.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"

#include <vector>

namespace tesela::bench {
namespace {

struct OverheadOptions {
    Index tasks = 100'000;
    int repetitions = 5;
    EngineOptions engine;
};

void add_options(CLI::App& command, OverheadOptions& options) {
    command.add_option("--tasks", options.tasks, "Tasks per repetition")->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    add_engine_options(command, options.engine);
}

using ReadTile = TileSpan<const double>;
KernelResult do_nothing(const NoArguments&, ReadTile, ReadTile, TileSpan<double>) noexcept { return {}; }
const auto empty_kernel = make_kernel<do_nothing>("empty");

/// Tasks that read two tiles and update a third, over 64 tiles that one node owns.
class Load {
public:
    Load(StarpuEngine& engine, NodeId owner)
        : stream_(engine),
          matrix_(stream_, Tiling::uniform({64, 1}, {1, 1}),
                  Distribution({64, 1}, engine.node_count(),
                               std::vector<std::int32_t>(64, static_cast<std::int32_t>(owner.number())))) {
        fill(stream_, matrix_.view(), {});
        require_done(stream_.wait());
    }

    double run(Index tasks) {
        return seconds_of([&] {
            submit(tasks);
            require_done(stream_.wait());
        });
    }
    /// Submission alone; what is pending is waited for afterwards.
    double submit_only(Index tasks) {
        const double seconds = seconds_of([&] { submit(tasks); });
        require_done(stream_.wait());
        return seconds;
    }

private:
    void submit(Index tasks) {
        for (Index t = 0; t < tasks; ++t)
            stream_.submit(Task(empty_kernel, read(matrix_(t % 64, 0)), read(matrix_((t + 17) % 64, 0)),
                                read_write(matrix_((t + 31) % 64, 0))));
    }
    Stream stream_;
    Matrix<double> matrix_;
};

/// Empty tasks with three tiles each, submission included; how much memory grows while they run; and, on several nodes,
/// what a task costs on a node that it does not concern.
Report measure_overhead(const OverheadOptions& options) {
    if (options.tasks < 1 || options.repetitions < 1) throw Error("--tasks and --repetitions must be at least 1");
    const auto engine = start_engine(options.engine);
    const auto tasks = static_cast<double>(options.tasks);
    Report report{.figures = {{"tasks", options.tasks}, {"handles", 3}, {"workers", engine->worker_count()}}};
    Best best;
    double grown = 0;
    {
        Load load(*engine, NodeId{0});
        load.run(std::min<Index>(options.tasks, 50'000));  // the first tasks fill the allocator's lists
        const double before = resident_bytes();
        for (int r = 0; r < options.repetitions; ++r) best.add(load.run(options.tasks));
        grown = resident_bytes() - before;
    }
    const double microseconds = 1e6 * best.seconds() / tasks;
    report.figures["microseconds_per_task"] = microseconds;
    report.figures["memory_growth_bytes"] = grown;
    if (engine->node_count() > 1) {
        Load elsewhere(*engine, NodeId{engine->node_count() - 1});
        Best pruned;
        for (int r = 0; r < options.repetitions; ++r) pruned.add(elsewhere.submit_only(options.tasks));
        report.figures["nanoseconds_per_task_elsewhere"] =
            1e9 * pruned.seconds() / tasks;  // node 0 prints, and owns none
    }
    if (engine->worker_count() == 2 && options.tasks >= 100'000)  // fewer are begun rather than run
        report.checks = {at_most("2 workers: microseconds per task", microseconds, 8)};
    return report;
}

}  // namespace

Experiment overhead() {
    return experiment("overhead",
                      "What a task costs beyond its work; exit code 1 if 100000 tasks or more take longer than 8 "
                      "microseconds each on 2 workers",
                      add_options, measure_overhead);
}

}  // namespace tesela::bench
