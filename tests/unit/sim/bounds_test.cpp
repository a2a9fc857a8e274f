#include "support.hpp"
#include "support/brute_force_lp.hpp"
#include "support/random_stream.hpp"
#include "support/seed.hpp"
#include "tesela/sim/schedule_trace.hpp"
#include "tesela/trace/analysis.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace tesela::bounds_test {
namespace {

using namespace testing;

constexpr Index tiles = 6;

std::vector<KernelTime> random_kernels(Draw& draw, Index missing) {
    std::map<std::string, double> seconds;
    for (const char* kernel : {"dpotrf", "dsyrk", "dgemm", "dlaset"})
        if (missing == 0 || !draw.one_in(missing)) seconds[kernel] = 1e-4 * static_cast<double>(draw.between(1, 40));
    if (seconds.empty()) seconds["dgemm"] = 1e-3;
    return kernels(seconds);
}

/// One to three node types of one or two nodes, with cores that can do everything and up to two kinds of GPUs.
Platform random_platform(Draw& draw) {
    std::vector<NodeType> types;
    for (Index t = draw.between(1, 3); t > 0; --t) {
        types.push_back(cores(fmt::format("type{}", t), draw.between(1, 2), draw.between(1, 4)));
        types.back().workers.front().kernels = random_kernels(draw, 0);
        for (Index g = draw.below(3); g > 0; --g) {
            types.back() = with_gpus(types.back(), {.count = draw.between(1, 2), .streams = draw.between(1, 2)});
            types.back().workers.back().name = fmt::format("gpus{}", g);
            types.back().workers.back().kernels = random_kernels(draw, 4);
        }
    }
    return platform_of(types);
}

/// The tiles of a task differ.
void random_work(Stream& s, Draw& draw, const Matrix<double>& A) {
    for (Index count = draw.between(1, 60); count > 0; --count) {
        const Index first = draw.below(tiles);
        const Index second = (first + draw.between(1, tiles - 1)) % tiles;
        const Index third = (second + 1 + (first == (second + 1) % tiles ? 1 : 0)) % tiles;
        switch (draw.below(6)) {
            case 0: s.submit(tasks::potrf(A(first, 0))); break;
            case 1: s.submit(tasks::syrk(-1, A(first, 0), 1, A(second, 0))); break;
            case 2: s.submit(tasks::laset({}, A(first, 0))); break;
            case 3: s.move(A(first, 0), NodeId{draw.below(s.engine().node_count())}); break;
            default: s.submit(tasks::gemm(1, A(first, 0), A(second, 0), 1, A(third, 0)));
        }
    }
}

/// A random stream on a random platform, simulated once with a scheduler; its trace is read again.
struct TracedRun {
    SimulationResult result;
    trace::Trace trace;
};

TracedRun simulate_randomly(std::uint64_t seed, SimulatedScheduler scheduler, const std::string& file) {
    Draw draw(seed);
    Simulated simulated{.platform = random_platform(draw)};
    const Index nodes = node_count(simulated.platform);
    const Distribution owners = random_distribution({tiles, 1}, nodes, seed);
    SimulationOptions options{.scheduler = scheduler, .noise = draw.one_in(3) ? 0.3 : 0.0, .seed = seed};
    ScheduleTrace trace({.path = file}, simulated.platform);
    options.observers.push_back(&trace);
    simulate(simulated, options, [&](Stream& s) {
        const Matrix<double> A(s, Tiling::uniform({tiles * tile_size, tile_size}, {tile_size, tile_size}), owners,
                               {.memory = [](TileIndex) { return TileMemory{}; }});
        random_work(s, draw, A);
    });
    trace.close();
    TracedRun run{.result = simulated.result, .trace = trace::read_trace(file)};
    for (Index node = 0; node < nodes; ++node)
        std::filesystem::remove(trace::node_path(file, static_cast<std::uint32_t>(node)));
    return run;
}

TEST(Bounds, OfASimulatedTraceHoldUnderEverySchedulerAndAreTheSimulatorsOwn) {
    const std::string file =
        (std::filesystem::temp_directory_path() / fmt::format("tesela-bounds-{}", getpid())).string();
    const std::uint64_t first = testing::seed();
    for (std::uint64_t seed = first; seed < first + 2000; ++seed) {
        const TracedRun eager = simulate_randomly(seed, SimulatedScheduler::earliest_finish, file);
        const TracedRun listed = simulate_randomly(seed, SimulatedScheduler::priority, file);
        if (eager.result.tasks == 0) continue;  // moves alone
        const auto bounds = trace::lower_bounds(eager.trace, trace::dependency_graph(eager.trace));
        ASSERT_TRUE(bounds.has_value());
        const double shortest = std::min(eager.result.makespan, listed.result.makespan);
        EXPECT_LE(bounds->lower(), shortest * (1 + 1e-9)) << "seed " << seed;
        EXPECT_LE(eager.result.lower_bound, shortest * (1 + 1e-9)) << "seed " << seed;
        EXPECT_NEAR(bounds->area, eager.result.area_bound, 1e-9 * eager.result.area_bound) << "seed " << seed;
        // The simulator's own knows of the messages too, and what waits for them.
        EXPECT_LE(bounds->critical_path, eager.result.critical_path * (1 + 1e-9)) << "seed " << seed;
        EXPECT_GT(bounds->critical_path, 0) << "seed " << seed;
        const auto again = trace::lower_bounds(listed.trace, trace::dependency_graph(listed.trace));
        ASSERT_TRUE(again.has_value());
        EXPECT_NEAR(again->area, bounds->area, 1e-9 * bounds->area) << "of another scheduler, seed " << seed;
    }
}

TEST(Bounds, OfASmallStreamAreTheOptimumOfTheLinearProgram) {
    // Two nodes, one of them with two kinds of GPUs; what runs where is given.
    Simulated simulated{
        .platform = platform_of({cores("plain", 1, 3), with_gpus(with_gpus(cores("mixed", 1, 2), {}), {.count = 2})})};
    simulated.platform.node_types[1].workers[1].kernels = kernels({{"dgemm", 0.5e-3}, {"dpotrf", 0.6e-3}});
    simulated.platform.node_types[1].workers[2].name = "other";
    simulated.platform.node_types[1].workers[2].kernels = kernels({{"dgemm", 0.9e-3}, {"dlaset", 0.04e-3}});
    simulate(simulated, {}, [](Stream& s) {
        const Matrix<double> A(s, Tiling::uniform({12 * tile_size, tile_size}, {tile_size, tile_size}),
                               Distribution({12, 1}, 2, {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
        for (Index i = 0; i < 12; ++i) s.submit(tasks::laset({}, A(i, 0)));
        for (Index i = 3; i < 8; ++i) s.submit(tasks::potrf(A(i, 0)));
        for (Index i = 3; i < 12; ++i) s.submit(tasks::gemm(1, A(0, 0), A(1, 0), 1, A(i, 0)));
    });
    const double never = std::numeric_limits<double>::infinity();
    const FractionalLoad mixed{.amounts = {9, 5, 9},
                               .seconds = {{0.1e-3, never, 0.04e-3}, {0.7e-3, 0.6e-3, never}, {2.3e-3, 0.5e-3, 0.9e-3}},
                               .machines = {2, 1, 2}};
    const double optimum = std::max(by_brute_force(mixed), 3 * 0.1e-3 / 3);
    EXPECT_NEAR(simulated.result.area_bound, optimum, 1e-9 * optimum);
}

}  // namespace
}  // namespace tesela::bounds_test
