#include "support/cases.hpp"
#include "support/shared_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <thread>

namespace tesela::starpu_test {
namespace {

using testing::Case;
using testing::engine;
using testing::Family;

TEST(StarpuEngine, DescribesTheNode) {
    const NodeDescription& d = engine().description();
    EXPECT_EQ(d.workers, 2);
    EXPECT_EQ(d.blas_threads, 1);
    EXPECT_GT(d.memory_bytes, 0);
    EXPECT_THAT(engine().start_lines().at(0), ::testing::HasSubstr("2 workers"));
    EXPECT_THAT(engine().start_lines().at(0), ::testing::HasSubstr("BLAS kernels for " + describe_blas().core.in_use));
}

TEST(StarpuEngine, CountsWhatKernelsDid) {
    const auto potrf = [] {
        for (const KernelUse& use : engine().kernel_uses())
            if (use.kernel == "dpotrf") return use;
        return KernelUse{};
    };
    const KernelUse before = potrf();
    EXPECT_LE(testing::run_cholesky<double>(engine(), {.n = 400, .tile = 100}).worst(), 1);
    const KernelUse after = potrf();
    EXPECT_EQ(after.calls - before.calls, 4);
    EXPECT_GT(after.seconds, before.seconds);
    EXPECT_NEAR((after.flops - before.flops) / (4 * 1e6 / 3), 1, 0.05);
}

KernelResult do_nothing(const KernelCall&) noexcept { return {}; }
KernelCost costs_one(std::span<const TileShape>, const void*) noexcept { return {.flops = 1}; }
const KernelOf<NoArguments, double> one_twin{"twin", costs_one, do_nothing};
const KernelOf<NoArguments, double> other_twin{"twin", costs_one, do_nothing};

TEST(StarpuEngine, CountsKernelsOfOneNameTogether) {
    Stream s(engine());
    const Matrix<double> A(s, Tiling::square(8, 4), block_cyclic({2, 2}, {1, 1}));
    const auto calls = [] {
        Index sum = 0;
        Index entries = 0;
        for (const KernelUse& use : engine().kernel_uses())
            if (use.kernel == "twin") {
                sum += use.calls;
                ++entries;
            }
        EXPECT_LE(entries, 1);
        return sum;
    };
    const Index before = calls();
    s.submit(Task(one_twin, {}, write(A(0, 0))));
    s.submit(Task(other_twin, {}, write(A(1, 0))));
    EXPECT_TRUE(s.wait().ok());
    EXPECT_EQ(calls() - before, 2);
}

TEST(StarpuEngine, ASecondOneIsRefused) { EXPECT_THROW(StarpuEngine{}, Error); }

RC_GTEST_PROP(StarpuEngine, CholeskyEqualsLapack, ()) {
    const Case c{.n = *rc::gen::inRange<Index>(1, 300),
                 .tile = *rc::gen::inRange<Index>(8, 120),
                 .form = *rc::gen::element(SolveForm::local, SolveForm::classical),
                 .priorities = *rc::gen::element(Priorities::critical_path, Priorities::none),
                 .right_hand_sides = *rc::gen::inRange<Index>(1, 4),
                 .diagonal_tile = *rc::gen::inRange<Index>(0, 60)};
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_cholesky<double>(engine(), c).worst() <= 1);
    RC_ASSERT(testing::run_cholesky<float>(engine(), c).worst() <= 1);
}

RC_GTEST_PROP(StarpuEngine, LuEqualsLapack, ()) {
    const Case c{.n = *rc::gen::inRange<Index>(1, 200), .tile = *rc::gen::inRange<Index>(8, 120)};
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_lu<double>(engine(), c).worst() <= 1);
    RC_ASSERT(testing::run_lu<float>(engine(), c).worst() <= 1);
}

TEST(StarpuEngine, CholeskyOfOrder1500EqualsLapack) {
    const Case c{.n = 1500, .tile = 224};
    EXPECT_LE(testing::run_cholesky<double>(engine(), c).worst(), 1);
    EXPECT_LE(testing::run_cholesky<float>(engine(), c).worst(), 1);
}

TEST(StarpuEngine, LuOfOrder1500EqualsLapack) {
    const Case c{.n = 1500, .tile = 224};
    EXPECT_LE(testing::run_lu<double>(engine(), c).worst(), 1);
    EXPECT_LE(testing::run_lu<float>(engine(), c).worst(), 1);
}

double indefinite_at(const void* pivot, ElementIndex at) {
    if (at.i != at.j) return 0;
    return at.i == *static_cast<const Index*>(pivot) ? -1 : 4;
}

TEST(StarpuEngine, AFailingStreamEndsAloneAndNamesItsPivot) {
    const Index pivot = 123;
    Stream bad(engine(), {.name = "bad"});
    Stream good(engine(), {.name = "good"});
    const Tiling tiling = Tiling::square(400, 50);
    Matrix<double> A(bad, tiling, squarest_block_cyclic(tiling.grid(), 1));
    Matrix<double> B(good, tiling, squarest_block_cyclic(tiling.grid(), 1), {.name = "B"});
    generate(bad, A.view(), {indefinite_at, &pivot});
    generate(good, B.view(), {testing::spd_element});
    cholesky(bad, A);
    cholesky(good, B);
    EXPECT_EQ(bad.wait(), (Status{Failure::not_positive_definite, pivot}));
    EXPECT_TRUE(good.wait().ok());
    std::vector<double> expected = testing::dense<double>({400, 400}, {testing::spd_element});
    testing::reference_cholesky<double>(400, expected);
    EXPECT_LE(largest_difference(gather(good, B.lower()), expected), testing::tolerance<double>(400));
}

TEST(StarpuEngine, StreamsOfSeveralThreadsRunSideBySide) {
    std::vector<double> errors(3, 1e300);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < errors.size(); ++t)
        threads.emplace_back([&errors, t] {
            errors[t] = testing::run_cholesky<double>(engine(), {.n = 200 + static_cast<Index>(t), .tile = 40}).worst();
        });
    for (auto& thread : threads) thread.join();
    for (const double error : errors) EXPECT_LE(error, 1);
}

TEST(StarpuEngine, AMatrixLargerThanMemoryIsRefusedWithTheBytesNeeded) {
    Stream s(engine());
    const Tiling tiling = Tiling::square(10'000'000, 100'000);
    const auto attempt = [&] { Matrix<double>(s, tiling, squarest_block_cyclic(tiling.grid(), 1), {.name = "huge"}); };
    EXPECT_THAT(attempt,
                ::testing::ThrowsMessage<Error>(::testing::HasSubstr("huge does not fit: node 0 needs 728 TiB")));
}

TEST(StarpuEngine, MemoryOfReleasedMatricesIsReservedOnlyWhileTheyLive) {
    Stream s(engine());
    const double free = engine().description().memory_bytes;
    const auto n = static_cast<Index>(std::sqrt(0.7 * free / 8));
    const Tiling tiling = Tiling::square(n, n);
    for (int i = 0; i < 3; ++i) Matrix<double>(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    Matrix<double> first(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    EXPECT_THROW(Matrix<double>(s, tiling, squarest_block_cyclic(tiling.grid(), 1)), Error);
}

TEST(StarpuEngine, ADistributionOverMoreNodesThanThereAreIsRefused) {
    Stream s(engine());
    EXPECT_THROW(Matrix<double>(s, Tiling::square(4, 2), squarest_block_cyclic({2, 2}, 2)), Error);
}

TEST(StarpuEngine, SubmissionIsThrottledSoThatFewTasksArePending) {
    // Each task adds 1 to a number, so the result also says that none was lost.
    Stream s(engine(), {.max_pending = 100});
    Matrix<double> x(s, Tiling::square(1, 1), Distribution({1, 1}, 1, {0}));
    Matrix<double> unit(s, Tiling::square(1, 1), Distribution({1, 1}, 1, {0}), {.name = "unit"});
    fill(s, x.view(), {});
    fill(s, unit.view(), {.off_diagonal = 0, .diagonal = 1});
    for (int i = 0; i < 20000; ++i)
        s.submit(Task::unchecked(Dense<double>::geadd,
                                 {{unit(0, 0), AccessMode::read}, {x(0, 0), AccessMode::read_write}},
                                 GeaddArguments{}));
    EXPECT_EQ(s.read<double>(x(0, 0), 0).get(), 20000);
}

TEST(StarpuEngine, TilesAreReusedAcrossIterations) {
    Stream s(engine());
    const Tiling tiling = Tiling::square(256, 64);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    generate(s, A.view(), {testing::spd_element});
    ASSERT_TRUE(s.wait().ok());
    const double before = engine().memory_use().in_use;
    for (int i = 0; i < 5; ++i) {
        generate(s, A.view(), {testing::spd_element});
        cholesky(s, A);
    }
    ASSERT_TRUE(s.wait().ok());
    EXPECT_EQ(engine().memory_use().in_use, before);
}

TEST(StarpuEngine, TokensOrderTasksThatShareNoData) {
    Stream s(engine());
    const Token token(s);
    const Tiling tiling = Tiling::square(1, 1);
    Matrix<double> x(s, tiling, Distribution({1, 1}, 1, {0}), {.name = "x"});
    static std::atomic<int> order{0};
    struct Place {
        int* seen;
    };
    static const Kernel slow{"slow", nullptr, [](const KernelCall& call) noexcept -> KernelResult {
                                 std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                 *call.args<Place>().seen = order++;
                                 return {};
                             }};
    static const Kernel quick{"quick", nullptr, [](const KernelCall& call) noexcept -> KernelResult {
                                  *call.args<Place>().seen = order++;
                                  return {};
                              }};
    int first = -1;
    int second = -1;
    s.submit(Task::unchecked(slow, {{token.ref(), AccessMode::write}}, Place{&first}));
    s.submit(Task::unchecked(quick, {{token.ref(), AccessMode::read}, {x(0, 0), AccessMode::write}}, Place{&second}));
    ASSERT_TRUE(s.wait().ok());
    EXPECT_LT(first, second);
}

TEST(StarpuEngine, AStreamUsesTheWorkersItWasGiven) {
    Stream s(engine(), {.workers = {1}});
    static const Kernel who{"who", nullptr, [](const KernelCall& call) noexcept -> KernelResult {
                                *call.tiles[0].as<double>() = static_cast<double>(
                                    std::hash<std::thread::id>{}(std::this_thread::get_id()) % 9973);
                                return {};
                            }};
    const Tiling tiling = Tiling::uniform({40, 1}, {1, 1});
    Matrix<double> x(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    for (Index i = 0; i < 40; ++i) s.submit(Task::unchecked(who, {{x(i, 0), AccessMode::write}}));
    const std::vector<double> threads = gather(s, x.view());
    EXPECT_TRUE(std::all_of(threads.begin(), threads.end(), [&](double t) { return t == threads[0]; }));
    EXPECT_THROW(s.set_workers({5}), Error);
}

TEST(StarpuEngine, AMatrixOverACallersArrayHoldsTheResultWhenItIsGone) {
    std::vector<double> array = testing::dense<double>({90, 90}, {testing::spd_element});
    {
        Stream s(engine());
        const Tiling tiling = Tiling::square(90, 25);
        Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1), over_array(array.data(), 90, tiling));
        cholesky(s, A);
    }
    std::vector<double> expected = testing::dense<double>({90, 90}, {testing::spd_element});
    testing::reference_cholesky<double>(90, expected);
    for (Index j = 0; j < 90; ++j)
        for (Index i = 0; i < j; ++i) array[static_cast<std::size_t>(i + 90 * j)] = 0;
    EXPECT_LE(largest_difference(array, expected), testing::tolerance<double>(90));
}

}  // namespace
}  // namespace tesela::starpu_test
