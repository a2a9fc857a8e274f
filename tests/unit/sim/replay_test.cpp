#include "geo_stream.hpp"
#include "support.hpp"
#include "support/stream_messages.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/sim/simulate_recording.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tesela::replay_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// All that can be seen of a simulation.
struct Outcome {
    SimulationResult result;
    Schedule schedule;
};

/// The first difference, in words; empty if both are the same to the last bit.
std::string difference(const Outcome& a, const Outcome& b) {
    const auto numbers = [](const SimulationResult& r) {
        std::vector<double> all{r.makespan,
                                r.area_bound,
                                r.critical_path,
                                r.lower_bound,
                                static_cast<double>(r.tasks),
                                r.flops,
                                r.bytes,
                                r.utilisation,
                                static_cast<double>(r.transfers)};
        all.insert(all.end(), r.node_utilisation.begin(), r.node_utilisation.end());
        all.insert(all.end(), r.memory_peak.begin(), r.memory_peak.end());
        return all;
    };
    if (numbers(a.result) != numbers(b.result))
        return fmt::format("results differ: {} and {}", fmt::join(numbers(a.result), " "),
                           fmt::join(numbers(b.result), " "));
    if (a.result.warnings != b.result.warnings) return "warnings differ";
    const auto task = [](const ScheduledTask& t) {
        return std::tuple(t.item, t.node, t.worker, t.submitted, t.ready, t.start, t.end, t.work, t.factor, t.kernel,
                          t.parcel);
    };
    if (!std::ranges::equal(a.schedule.tasks, b.schedule.tasks, {}, task, task)) return "tasks differ";
    const auto message = [](const ScheduledMessage& m) {
        return std::tuple(m.datum, m.from, m.to, m.priority, m.item, m.version, m.bytes, m.posted, m.start, m.sent,
                          m.arrival);
    };
    if (!std::ranges::equal(a.schedule.messages, b.schedule.messages, {}, message, message)) return "messages differ";
    const auto memory = [](const ScheduledMemory& m) { return std::tuple(m.node, m.memory, m.time, m.bytes); };
    if (!std::ranges::equal(a.schedule.memory_changes, b.schedule.memory_changes, {}, memory, memory))
        return "memory differs";
    const auto wait = [](const ScheduledWait& w) { return std::tuple(w.node, w.stream, w.reason, w.start, w.end); };
    if (!std::ranges::equal(a.schedule.waits, b.schedule.waits, {}, wait, wait)) return "waits differ";
    return {};
}

using Submission = std::function<void(Engine&)>;

void submitted(Outcome& outcome, const Platform& platform, SimulationOptions options, const Submission& submit) {
    options.observers.push_back(&outcome.schedule);
    SimulatedEngine engine(platform, options);
    submit(engine);
    outcome.result = engine.result();
}

void replayed(Outcome& outcome, const Recording& recording, const Platform& platform, SimulationOptions options,
              const std::map<std::string, Distribution>& distributions = {}) {
    options.observers.push_back(&outcome.schedule);
    outcome.result = simulate_recording(recording, platform, options, distributions);
}

Recording recorded(Index nodes, const Submission& submit) {
    RecordingEngine engine(nodes);
    submit(engine);
    return engine.recording();
}

/// Durations of another machine.
Platform other_durations(Platform platform, Draw& draw) {
    for (NodeType& type : platform.node_types)
        for (WorkerGroup& group : type.workers)
            for (KernelTime& kernel : group.kernels)
                if (auto* timed = std::get_if<TimedKernel>(&kernel.time))
                    for (auto& point : timed->seconds) point.value *= 0.5 + 0.01 * static_cast<double>(draw.below(200));
    return platform;
}

SimulationOptions any_options(Draw& draw) {
    return {.scheduler = draw.one_in(2) ? SimulatedScheduler::earliest_finish : SimulatedScheduler::priority,
            .noise = draw.one_in(2) ? 0.2 : 0.0,
            .seed = static_cast<std::uint64_t>(draw.below(100)),
            .allocation = {.policy = static_cast<MemoryPolicy>(draw.below(3)),
                           .pinned = {.seconds = 0.3e-3},
                           .on_gpu = {.seconds = 0.2e-3}}};
}

TEST(SimulateRecording, IsTheSimulationOfTheStreamThatWasRecorded) {
    for (const Index nodes : {1, 2, 5})
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const RandomStream stream{.seed = seed};
            const Submission submit = [&](Engine& engine) { (void)play(engine, stream); };
            Draw draw(seed);
            const SimulationOptions options = any_options(draw);
            Outcome live, again;
            submitted(live, plain_platform(nodes), options, submit);
            replayed(again, recorded(nodes, submit), plain_platform(nodes), options);
            ASSERT_EQ(difference(live, again), "") << nodes << " nodes, seed " << seed;
        }
}

TEST(SimulateRecording, OfAnAlgorithmUnderOtherDistributionsAndDurationsIsThatOfSubmittingItAnew) {
    constexpr Index tiles = 7;
    for (const Algorithm algorithm : {Algorithm::cholesky, Algorithm::lu, Algorithm::product}) {
        const auto submit = [&](const Distribution& owners) -> Submission {
            return [&, owners](Engine& engine) {
                Stream s(engine);
                testing::submit(s, algorithm, tiles, owners);
            };
        };
        const Recording recording = recorded(5, submit(squarest_block_cyclic({tiles, tiles}, 5)));
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Draw draw(seed);
            const Distribution owners = random_distribution({tiles, tiles}, 5, seed);
            const Platform platform = other_durations(mixed_platform(), draw);
            const SimulationOptions options = any_options(draw);
            std::map<std::string, Distribution> distributions;
            for (const std::string& name : recording.matrices) distributions.emplace(name, owners);
            Outcome live, again;
            submitted(live, platform, options, submit(owners));
            replayed(again, recording, platform, options, distributions);
            ASSERT_EQ(difference(live, again), "") << "algorithm " << static_cast<int>(algorithm) << ", seed " << seed;
        }
    }
}

/// Tasks, shares, retirements, redistributions, waits, temporary matrices and streams that do not look at who owns
/// what.
void any_work(Engine& engine, std::uint64_t seed, const Distribution& of_A, const Distribution& of_B) {
    Draw draw(seed);
    Stream first(engine, {.name = "first", .max_pending = draw.between(3, 100)});
    Stream second(engine, {.name = "second"});
    const GridSize grid = of_A.grid();
    const Matrix<double> A = given(first, grid.rows, of_A, draw.one_in(2) ? Stored::full : Stored::lower);
    const Matrix<double> B(first, Tiling::square(grid.rows * tile_size, 60), of_B,
                           {.name = "B", .allocation = Allocation::at_once});
    const auto tile = [&] {
        const Index i = draw.below(grid.rows);
        return A(i, draw.below(i + 1)).stored();
    };
    for (Index k = 0; k < 60; ++k) {
        Stream& s = draw.one_in(3) ? second : first;
        const auto a = tile(), b = tile(), c = tile();
        switch (draw.below(9)) {
            case 0: s.submit(tasks::potrf(a)); break;
            case 1: s.share_with_owners(a, {A.view().block({0, 0}, {grid.rows, 1})}, 2); break;
            case 2: s.retire(a); break;
            case 3: require_done(s.wait()); break;
            case 4:
                if (A.view().part() == Part::all) redistribute(s, A.view(), B.view(), {.message_bytes = 70'000});
                break;
            case 5: (void)s.fetch(a); break;
            case 6: {
                const Matrix<double> temporary(s, A.tiling(), of_A, {.name = "A", .allocation = Allocation::at_once});
                s.submit(tasks::laset({}, temporary(0, 0)));
                s.submit(tasks::gemm(1, a, b, 0, temporary(1, 0)));
                break;
            }
            default:
                if (!(a == c) && !(b == c) && !(a == b)) s.submit(tasks::gemm(1, a, b, 1, c).at(0, 3));
        }
    }
}

TEST(SimulateRecording, OfARandomStreamUnderOtherDistributionsIsThatOfSubmittingItAnew) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const GridSize of_A{4, 4};
        const GridSize of_B{7, 7};
        const auto owners = [&](GridSize grid, std::uint64_t number) { return random_distribution(grid, 5, number); };
        const auto submit = [&](std::uint64_t number) -> Submission {
            return
                [&, number](Engine& engine) { any_work(engine, seed, owners(of_A, number), owners(of_B, number + 1)); };
        };
        Draw draw(seed);
        const SimulationOptions options = any_options(draw);
        Outcome live, again;
        submitted(live, mixed_platform(), options, submit(100 + seed));
        replayed(again, recorded(5, submit(1)), mixed_platform(), options,
                 {{"A", owners(of_A, 100 + seed)}, {"B", owners(of_B, 101 + seed)}});
        ASSERT_EQ(difference(live, again), "") << "seed " << seed;
    }
}

void evaluate_likelihood(Engine& engine, const Distribution& owners, geo::Overlap overlap) {
    Stream s(engine);
    testing::evaluate_likelihood(s, owners, overlap);
}

TEST(SimulateRecording, OfALikelihoodUnderOtherDurationsIsThatOfSubmittingItAnew) {
    for (const geo::Overlap overlap : {geo::Overlap::sync, geo::Overlap::oversubscribe}) {
        const Submission submit = [&](Engine& engine) {
            evaluate_likelihood(engine, random_distribution({6, 6}, 5, 3), overlap);
        };
        const Recording recording = recorded(5, submit);
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            Draw draw(seed);
            const Platform platform = other_durations(for_geo(mixed_platform()), draw);
            const SimulationOptions options = any_options(draw);
            Outcome live, again;
            submitted(live, platform, options, submit);
            replayed(again, recording, platform, options);
            ASSERT_EQ(difference(live, again), "") << "seed " << seed;
        }
    }
}

TEST(SimulateRecording, RefusesOtherOwnersWherePartialSumsWouldBeOthers) {
    const Recording recording = recorded(5, [](Engine& engine) {
        evaluate_likelihood(engine, random_distribution({6, 6}, 5, 3), geo::Overlap::sync);
    });
    const std::string error = error_of([&] {
        (void)simulate_recording(recording, for_geo(mixed_platform()), {},
                                 {{"Sigma", random_distribution({6, 6}, 5, 4)}});
    });
    EXPECT_THAT(error, HasSubstr("reduce"));
    EXPECT_THAT(error, HasSubstr("submitted again"));
}

TEST(SimulateRecording, TakesMoreNodesThanWereRecordedAndFewerWhereNoneIsMissing) {
    const auto submit = [&](const Distribution& owners) -> Submission {
        return [owners](Engine& engine) {
            Stream s(engine);
            testing::submit(s, Algorithm::cholesky, 6, owners);
        };
    };
    const Recording recording = recorded(3, submit(random_distribution({6, 6}, 3, 1)));
    for (const Index nodes : {2, 5}) {
        const Distribution owners = random_distribution({6, 6}, nodes, 2);
        const Platform platform = platform_of({cores("node", nodes, 2)});
        Outcome live, again;
        submitted(live, platform, {}, submit(owners));
        replayed(again, recording, platform, {}, {{"A", owners}});
        EXPECT_EQ(difference(live, again), "") << nodes << " nodes";
    }
    EXPECT_THAT(error_of([&] { (void)simulate_recording(recording, platform_of({cores("node", 2, 2)})); }),
                HasSubstr("has tiles on node 2"));
}

TEST(SimulateRecording, SaysWhatDoesNotFit) {
    const Recording recording = recorded(5, [](Engine& engine) {
        Stream s(engine);
        testing::submit(s, Algorithm::cholesky, 3, random_distribution({3, 3}, 5, 1));
    });
    const auto with = [&](const char* name, const Distribution& owners) {
        return error_of([&] { (void)simulate_recording(recording, mixed_platform(), {}, {{name, owners}}); });
    };
    EXPECT_THAT(with("K", random_distribution({3, 3}, 5, 1)), HasSubstr("no matrix called K"));
    EXPECT_THAT(with("A", random_distribution({4, 4}, 5, 1)), HasSubstr("3x3 tiles"));
    EXPECT_THAT(with("A", random_distribution({3, 3}, 6, 1)), HasSubstr("6 nodes"));
    const Recording changes = recorded(1, [](Engine& engine) {
        Stream s(engine);
        s.set_workers({0});
        zero_tiles(s, 2);
    });
    const Platform one = platform_of({cores("node", 1, 2)});
    EXPECT_THAT(error_of([&] { (void)simulate_recording(changes, one); }), HasSubstr("earliest_finish"));
    EXPECT_GT(simulate_recording(changes, one, {.scheduler = SimulatedScheduler::priority}).makespan, 0);
}

}  // namespace
}  // namespace tesela::replay_test
