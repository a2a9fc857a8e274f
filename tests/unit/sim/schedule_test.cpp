#include "schedule_check.hpp"
#include "sim_process.hpp"
#include "support.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <queue>

namespace tesela::schedule_test {
namespace {

using namespace testing;

Simulated simulated_on(const Platform& platform, Algorithm algorithm, Index tiles, const Distribution& owners,
                       const SimulationOptions& options = {}) {
    Simulated simulated{.platform = platform};
    simulate(simulated, options, [&](Stream& s) { submit(s, algorithm, tiles, owners); });
    return simulated;
}

RC_GTEST_PROP(Schedule, KeepsAllRules, ()) {
    const auto algorithm = *rc::gen::element(Algorithm::cholesky, Algorithm::lu, Algorithm::product);
    const Index tiles = *rc::gen::inRange<Index>(1, algorithm == Algorithm::cholesky ? 14 : 8);
    const bool cores_only = algorithm == Algorithm::lu || *rc::gen::arbitrary<bool>();  // no dgetrf on these GPUs
    const Platform platform =
        cores_only ? platform_of({cores("a", 3, 2), cores("b", 2, 5, {2.5e9, 1e-5})}) : mixed_platform();
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    const Distribution owners = random_distribution({tiles, tiles}, 5, seed);
    SimulationOptions options{
        .scheduler = *rc::gen::element(SimulatedScheduler::earliest_finish, SimulatedScheduler::priority),
        .submission_seconds = *rc::gen::element(0.0, 6.2e-6, 1e-3)};
    const Simulated simulated = simulated_on(platform, algorithm, tiles, owners, options);
    RC_ASSERT(ScheduleCheck(simulated).broken() == "");
}

TEST(Schedule, KeepsAllRulesWithSimGrid) {
    if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
    const auto good = in_child([] {
        const Simulated simulated = simulated_on(mixed_platform(), Algorithm::cholesky, 14,
                                                 random_distribution({14, 14}, 5, 1), {.network = simgrid_network});
        const std::string broken = ScheduleCheck(simulated).broken();
        if (!broken.empty()) fmt::print("{}\n", broken);
        return std::vector<double>{broken.empty() ? 1.0 : 0.0};
    });
    EXPECT_EQ(good, std::vector<double>{1});
}

/// Fourteen nodes in three kinds, as 6 + 6 + 2 of paper 000: 20 cores, 26 cores with two GPUs, 22 with two faster ones.
Platform fourteen_nodes() {
    Platform platform =
        platform_of({cores("che", 6, 18, {1.25e9, 2e-5}), with_gpus(cores("chi", 6, 26, {1.25e9, 2e-5}), {.count = 2}),
                     with_gpus(cores("cho", 2, 22, {3.125e9, 2e-5}), {.count = 2})});
    for (NodeType& type : platform.node_types)
        for (WorkerGroup& group : type.workers) {
            const double rate = group.processor == Processor::cpu ? 3e10 : type.name == "chi" ? 2.6e11 : 3.6e12;
            group.memory *= 8;
            group.kernels.clear();
            for (const auto& [name, share] :
                 {std::pair{"dpotrf", 0.6}, {"dtrsm", 0.9}, {"dsyrk", 0.95}, {"dgemm", 1.0}})
                group.kernels.push_back({.kernel = name, .time = RatedKernel{.rate = rate * share}});
        }
    platform.subnets = {{"a", {6.25e9, 1e-6}, ""}, {"b", {6.25e9, 1e-6}, ""}};
    put_into_subnets(platform, {"a", "a", "b"});
    return platform;
}

std::vector<double> makespan_of_cholesky(const NetworkModel& network, Index tiles, const Distribution& owners) {
    constexpr Index size = 960;
    SimulatedEngine engine(fourteen_nodes(), {.network = network});
    Stream s(engine);
    cholesky(s, Matrix<double>(s, Tiling::square(tiles * size, size), owners,
                               {.stored = Stored::lower, .memory = [](TileIndex) { return TileMemory{}; }}));
    require_done(s.wait());
    return {engine.result().makespan};
}

TEST(Schedule, IsTheSameWithinTwoPercentInBothNetworkModels) {
    if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
    for (const Distribution& owners : {squarest_block_cyclic({60, 60}, 14), random_distribution({60, 60}, 14, 5)}) {
        const double ports = makespan_of_cholesky(ports_network, 60, owners)[0];
        const auto simgrid = in_child([&] { return makespan_of_cholesky(simgrid_network, 60, owners); });
        ASSERT_EQ(simgrid.size(), 1U);
        EXPECT_NEAR(ports, simgrid[0], 0.02 * simgrid[0]);
    }
}

/// The textbook: whenever a worker of a node is free, it takes the ready task with the highest priority.
double list_schedule(const Recording& recording, const std::vector<Index>& workers) {
    const TaskGraph graph = dependency_graph(recording);
    std::vector<std::uint32_t> missing(graph.size());
    std::vector<std::vector<std::uint32_t>> successors(graph.size());
    for (std::uint32_t v = 0; v < graph.size(); ++v) {
        missing[v] = static_cast<std::uint32_t>(graph.predecessors_of(v).size());
        for (const std::uint32_t u : graph.predecessors_of(v)) successors[u].push_back(v);
    }
    const auto durations = core_kernels();
    const auto duration = [&](std::uint32_t v) {
        return kernel_seconds({.kernels = durations}, recording.items[v].kernel->name, {.tile = tile_size}).value();
    };
    using Ready = std::pair<std::int32_t, std::int64_t>;  // priority, minus the position in the stream
    std::vector<std::priority_queue<Ready>> ready(workers.size());
    std::vector<Index> idle = workers;
    using End = std::pair<double, std::uint32_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> running;
    std::vector<std::uint32_t> released;
    for (std::uint32_t v = 0; v < graph.size(); ++v)
        if (missing[v] == 0) released.push_back(v);
    double now = 0;
    while (true) {
        while (!released.empty()) {
            const std::uint32_t v = released.back();
            released.pop_back();
            const RecordedItem& item = recording.items[v];
            if (item.kind == RecordedItem::Kind::task)
                ready[static_cast<std::size_t>(item.node)].push({item.priority, -static_cast<std::int64_t>(v)});
        }
        for (std::size_t node = 0; node < ready.size(); ++node)
            while (idle[node] > 0 && !ready[node].empty()) {
                const auto v = static_cast<std::uint32_t>(-ready[node].top().second);
                ready[node].pop();
                --idle[node];
                running.push({now + duration(v), v});
            }
        if (running.empty()) return now;
        now = running.top().first;
        while (!running.empty() && running.top().first == now) {
            const std::uint32_t v = running.top().second;
            running.pop();
            ++idle[static_cast<std::size_t>(recording.items[v].node)];
            for (const std::uint32_t next : successors[v])
                if (--missing[next] == 0) released.push_back(next);
        }
    }
}

RC_GTEST_PROP(Schedule, IsThatOfAListSchedulerWithInfiniteBandwidthAndOneKindOfWorker, ()) {
    const auto algorithm = *rc::gen::element(Algorithm::cholesky, Algorithm::lu, Algorithm::product);
    const Index tiles = *rc::gen::inRange<Index>(1, algorithm == Algorithm::cholesky ? 16 : 9);
    const Index nodes = *rc::gen::inRange<Index>(1, 5);
    const Index workers = *rc::gen::inRange<Index>(1, 6);
    const auto owners = random_distribution({tiles, tiles}, nodes, *rc::gen::inRange<std::uint64_t>(0, 1000));
    const Platform platform = platform_of({cores("node", nodes, workers, {1e30, 0})});
    const SimulationOptions options{
        .scheduler = *rc::gen::element(SimulatedScheduler::earliest_finish, SimulatedScheduler::priority),
        .submission_seconds = 0,
        .passing_seconds = 0};
    const Simulated simulated = simulated_on(platform, algorithm, tiles, owners, options);
    const double expected =
        list_schedule(simulated.recording, std::vector<Index>(static_cast<std::size_t>(nodes), workers));
    RC_ASSERT(std::abs(simulated.result.makespan - expected) <= 1e-12);
}

TEST(Schedule, IsTheSameEveryTime) {
    const Distribution owners = random_distribution({12, 12}, 5, 3);
    const auto once = simulated_on(mixed_platform(), Algorithm::cholesky, 12, owners, {.noise = 0.1, .seed = 4});
    const auto again = simulated_on(mixed_platform(), Algorithm::cholesky, 12, owners, {.noise = 0.1, .seed = 4});
    const auto other = simulated_on(mixed_platform(), Algorithm::cholesky, 12, owners, {.noise = 0.1, .seed = 5});
    EXPECT_EQ(once.result.makespan, again.result.makespan);
    EXPECT_NE(once.result.makespan, other.result.makespan);
    ASSERT_EQ(once.schedule->tasks.size(), again.schedule->tasks.size());
    for (std::size_t k = 0; k < once.schedule->tasks.size(); ++k)
        EXPECT_EQ(once.schedule->tasks[k].start, again.schedule->tasks[k].start);
}

TEST(Schedule, WithNoiseIsNotShorterThanItsOwnBounds) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto noisy = simulated_on(platform_of({cores("node", 1, 1)}), Algorithm::cholesky, 8,
                                        squarest_block_cyclic({8, 8}, 1), {.noise = 0.3, .seed = seed});
        // One worker has no choice: the area bound is the work itself, and only submission comes on top.
        EXPECT_GE(noisy.result.makespan, noisy.result.area_bound);
        EXPECT_NEAR(noisy.result.makespan, noisy.result.area_bound, 1e-4);
    }
}

}  // namespace
}  // namespace tesela::schedule_test
