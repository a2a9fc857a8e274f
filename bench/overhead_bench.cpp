#include "overhead_bench.hpp"

#include "checks.hpp"
#include "resident_memory.hpp"
#include "timing.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"

#include <vector>

namespace tesela::bench {
namespace {

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

}  // namespace

nlohmann::ordered_json overhead_benchmark(StarpuEngine& engine, const OverheadOptions& options) {
    if (options.tasks < 1 || options.repetitions < 1) throw Error("--tasks and --repetitions must be at least 1");
    const auto tasks = static_cast<double>(options.tasks);
    nlohmann::ordered_json result{{"tasks", options.tasks}, {"handles", 3}, {"workers", engine.worker_count()}};
    Best best;
    double grown = 0;
    {
        Load load(engine, NodeId{0});
        load.run(std::min<Index>(options.tasks, 50'000));  // the first tasks fill the allocator's lists
        const double before = resident_bytes();
        for (int r = 0; r < options.repetitions; ++r) best.add(load.run(options.tasks));
        grown = resident_bytes() - before;
    }
    result["microseconds_per_task"] = 1e6 * best.seconds() / tasks;
    result["memory_growth_bytes"] = grown;
    if (engine.node_count() > 1) {
        Load elsewhere(engine, NodeId{engine.node_count() - 1});
        Best pruned;
        for (int r = 0; r < options.repetitions; ++r) pruned.add(elsewhere.submit_only(options.tasks));
        result["nanoseconds_per_task_elsewhere"] = 1e9 * pruned.seconds() / tasks;  // node 0 prints, and owns none
    }
    result["checks"] = nlohmann::ordered_json::array();
    if (engine.worker_count() == 2 && options.tasks >= 100'000)  // fewer are begun rather than run
        result["checks"].push_back(
            at_most("2 workers: microseconds per task", result.at("microseconds_per_task").get<double>(), 8));
    return result;
}

}  // namespace tesela::bench
