#include "geo_stream.hpp"
#include "schedule_check.hpp"
#include "support/random_stream.hpp"
#include "support/seed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tesela::checked_streams_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// "sgemm" as "dgemm", in half the time.
void add_single_precision(WorkerGroup& group) {
    const std::vector<KernelTime> in_double = group.kernels;
    for (KernelTime kernel : in_double) {
        kernel.kernel.front() = 's';
        for (TimedCall& call : std::get<TimedKernel>(kernel.time).seconds) call.value /= 2;
        group.kernels.push_back(kernel);
    }
}

/// Five nodes of cores of one kind each, where the order of tasks is checked too; or the nodes of mixed_platform().
Platform any_platform(Draw& draw) {
    Platform platform =
        draw.one_in(2) ? platform_of({cores("a", 3, 2), cores("b", 2, 5, {2.5e9, 1e-5})}) : mixed_platform();
    if (draw.one_in(3))
        for (NodeType& type : platform.node_types) {
            type.runtime.task = 0.05e-3;
            type.runtime.turn = draw.of<double>({0.0, 0.02e-3, 0.4e-3});
        }
    for (NodeType& type : platform.node_types)
        for (WorkerGroup& group : type.workers) add_single_precision(group);
    return platform;
}

/// What a stream is checked with beside itself.
struct Circumstances {
    double noise = 0;
    CriticalWorker critical = CriticalWorker::none;
};

SimulationOptions any_options(Draw& draw, const Circumstances& circumstances) {
    return {
        .scheduler = draw.of<SimulatedScheduler>({SimulatedScheduler::earliest_finish, SimulatedScheduler::priority}),
        .noise = circumstances.noise,
        .seed = static_cast<std::uint64_t>(draw.below(1000)),
        .submission_seconds = draw.of<double>({0.0, 6.2e-6, 1e-3}),
        .critical = circumstances.critical};
}

// --- random tasks

/// How tasks of a random stream may differ from ordinary ones.
struct Unusual {
    bool commuting = false;
    bool critical = false;
    bool limited = false;
};

/// Products and other tasks on a column of tiles. Those that commute add to tiles from all nodes.
template <class T>
class RandomTasks {
public:
    RandomTasks(Stream& s, Draw& draw, const Unusual& unusual) : s_(s), draw_(draw), unusual_(unusual) {}

    void submit_some() {
        const Index rows = draw_.between(4, 12);
        const auto owners =
            random_distribution({rows, 1}, s_.engine().node_count(), static_cast<std::uint64_t>(draw_.below(1000)));
        const Matrix<T> A(s_, Tiling::uniform({rows * tile_size, tile_size}, {tile_size, tile_size}), owners,
                          {.memory = [](TileIndex) { return TileMemory{}; }});
        for (Index count = draw_.between(20, 80); count > 0; --count) {
            submit_one(A);
            if (draw_.one_in(40)) require_done(s_.wait());
        }
    }

private:
    void submit_one(const Matrix<T>& A) {
        const Index rows = A.tiling().grid().rows;
        const Index first = draw_.below(rows);
        const Index second = (first + draw_.between(1, rows - 1)) % rows;
        switch (draw_.below(8)) {
            case 0: return submit(tasks::potrf(A(first, 0)));
            case 1: return submit(tasks::laset({}, A(first, 0)));
            case 2: return submit(tasks::syrk(-1, A(first, 0), 1, A(second, 0)));
            case 3: (void)s_.move(A(first, 0), any_node()); return;
            default: return add_products(A, first, second);
        }
    }
    /// Several to one tile, so that they meet there.
    void add_products(const Matrix<T>& A, Index first, Index second) {
        const Index rows = A.tiling().grid().rows;
        for (Index k = draw_.between(1, 5); k > 0; --k) {
            Index other = draw_.below(rows);
            while (other == first || other == second) other = (other + 1) % rows;
            Task task = tasks::gemm(1, A(first, 0), A(other, 0), 1, A(second, 0));
            if (unusual_.commuting) task.accesses[2].mode = AccessMode::commute;
            if (draw_.one_in(4)) task.on(any_node());
            submit(task);
        }
    }
    void submit(Task task) {
        task.priority = static_cast<std::int32_t>(draw_.below(4));
        if (unusual_.critical && draw_.one_in(3)) task.critical();
        if (unusual_.limited && draw_.one_in(3)) task.needs(reader);
        s_.submit(task);
    }
    NodeId any_node() { return NodeId{draw_.below(s_.engine().node_count())}; }

    static constexpr LimitedResource reader{"reader", 3};
    Stream& s_;
    Draw& draw_;
    Unusual unusual_;
};

/// A random stream on a random platform.
Simulated simulate_tasks(std::uint64_t seed, const Unusual& unusual, const Circumstances& circumstances = {},
                         const std::function<void(Draw&, Platform&)>& change = {}) {
    Draw draw(seed);
    Simulated simulated{.platform = any_platform(draw)};
    if (change) change(draw, simulated.platform);
    simulate(simulated, any_options(draw, circumstances), [&](Stream& s) {
        if (draw.one_in(3))
            RandomTasks<float>(s, draw, unusual).submit_some();
        else
            RandomTasks<double>(s, draw, unusual).submit_some();
    });
    return simulated;
}

/// So many streams, drawn from the seed of this run.
void check_streams(std::uint64_t count, const std::function<Simulated(std::uint64_t)>& simulated) {
    for (std::uint64_t seed = testing::seed(); seed < testing::seed() + count; ++seed)
        ASSERT_EQ(ScheduleCheck(simulated(seed)).broken(), "") << "seed " << seed;
}

/// Few of some kernels and of the resource that tasks name, on some node types.
void limit_some(Draw& draw, Platform& platform) {
    for (NodeType& type : platform.node_types)
        for (const char* name : {"dgemm", "dpotrf", "dcmg", "reader"})
            if (draw.one_in(2)) type.limits[name] = draw.between(1, 3);
}

TEST(CheckedStreams, KeepAllRulesWhereTasksCommute) {
    check_streams(100, [](std::uint64_t seed) { return simulate_tasks(seed, {.commuting = true}); });
}

TEST(CheckedStreams, KeepAllRulesWhereTasksAreCritical) {
    check_streams(100, [](std::uint64_t seed) {
        return simulate_tasks(seed, {.critical = true}, {.critical = CriticalWorker::shared_core});
    });
}

TEST(CheckedStreams, KeepAllRulesWhereDurationsAreNoisy) {
    check_streams(100, [](std::uint64_t seed) {
        return simulate_tasks(seed, {.commuting = seed % 2 == 0, .critical = true}, {.noise = 0.3});
    });
}

TEST(CheckedStreams, KeepAllRulesWhereResourcesAreLimited) {
    check_streams(100, [](std::uint64_t seed) {
        return simulate_tasks(seed, {.commuting = seed % 2 == 0, .limited = true}, {}, limit_some);
    });
}

TEST(CheckedStreams, KeepAllRulesWhereMemoriesAreSmall) {
    check_streams(100, [](std::uint64_t seed) {
        return simulate_tasks(seed, {.commuting = true}, {}, [](Draw& draw, Platform& platform) {
            for (NodeType& type : platform.node_types) {
                type.memory = static_cast<double>(draw.between(2, 10)) * tile_of_doubles;
                for (WorkerGroup& group : type.workers)
                    if (group.processor == Processor::gpu)
                        group.memory = static_cast<double>(draw.between(3, 6)) * tile_of_doubles;
            }
        });
    });
}

TEST(CheckedStreams, KeepAllRulesWithEverythingAtOnce) {
    check_streams(100, [](std::uint64_t seed) {
        return simulate_tasks(seed, {.commuting = true, .critical = true, .limited = true},
                              {.noise = 0.2, .critical = CriticalWorker::shared_core}, limit_some);
    });
}

// --- geostatistics

/// One step of paper 000 after the other.
geo::Overlap overlap_of(std::uint64_t number) { return geo::overlap_names[number % geo::overlap_names.size()].first; }

Simulated simulate_likelihood(std::uint64_t seed) {
    Draw draw(seed);
    Simulated simulated{.platform = for_geo(any_platform(draw))};
    if (draw.one_in(2)) limit_some(draw, simulated.platform);
    const geo::Overlap overlap = overlap_of(seed);
    const Circumstances circumstances{
        .noise = draw.one_in(2) ? 0.2 : 0.0,
        .critical = overlap == geo::Overlap::oversubscribe ? CriticalWorker::shared_core : CriticalWorker::none};
    const Index tiles = draw.between(2, 7);
    simulate(simulated, any_options(draw, circumstances), [&](Stream& s) {
        evaluate_likelihood(s, random_distribution({tiles, tiles}, 5, seed), overlap);
    });
    return simulated;
}

TEST(CheckedStreams, KeepAllRulesInEveryStepOfALikelihood) { check_streams(40, simulate_likelihood); }

}  // namespace
}  // namespace tesela::checked_streams_test
