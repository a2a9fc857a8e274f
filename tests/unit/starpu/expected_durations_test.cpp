#include "support/shared_engine.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/starpu/internal/execution.hpp"
#include "tesela/starpu/internal/kernel_tally.hpp"

#include <gtest/gtest.h>
#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace tesela::expected_durations_test {
namespace {

using starpu::KernelTally;
using testing::engine;
using testing::WithEngine;
using Form = KernelTally::Form;
using std::chrono::milliseconds;

TEST(KernelTally, ExpectsTheRateOfCallsThatWereAlike) {
    KernelTally tally;
    tally.add({.flops = 1e9}, Form::whole, milliseconds(100));
    tally.add({.flops = 1e7}, Form::low_rank, milliseconds(10));
    EXPECT_DOUBLE_EQ(tally.expected_seconds({.flops = 1.2e9}, Form::whole), 0.12);
    EXPECT_DOUBLE_EQ(tally.expected_seconds({.flops = 1.2e7}, Form::low_rank), 0.012);
    tally.add({.flops = 1e9}, Form::whole, milliseconds(300));  // the mean
    EXPECT_DOUBLE_EQ(tally.expected_seconds({.flops = 1e9}, Form::whole), 0.2);
    // Of another size or form: by what comes nearest.
    EXPECT_DOUBLE_EQ(tally.expected_seconds({.flops = 1e6}, Form::low_rank), 0.001);
    EXPECT_DOUBLE_EQ(tally.expected_seconds({.flops = 1e9}, Form::low_rank), 0.2);
}

TEST(KernelTally, CountsBytesWhereThereAreNoOperations) {
    KernelTally tally;
    tally.add({.bytes = 1e6}, Form::whole, milliseconds(1));
    EXPECT_DOUBLE_EQ(tally.expected_seconds({.bytes = 2e6}, Form::whole), 0.002);
}

TEST(KernelTally, GuessesMoreForMoreWorkBeforeAnythingWasMeasured) {
    const KernelTally tally;
    EXPECT_GT(tally.expected_seconds({}, Form::whole), 0);  // StarPU takes 0 for a model that does not know
    EXPECT_GT(tally.expected_seconds({.flops = 1e9}, Form::whole), tally.expected_seconds({.flops = 1e8}, Form::whole));
}

/// Three tiles side by side, of rank 3 at most if they are compressed.
constexpr Index tile = 400;
Matrix<double> three_tiles(Stream& s, std::optional<Compression> compression) {
    const Tiling tiling = Tiling::uniform({tile, 3 * tile}, {tile, tile});
    Matrix<double> A(s, tiling, block_cyclic(tiling.grid(), {1, 1}), {.compression = compression});
    generate(s, A.view(), [](Index i, Index j) {
        const double x = static_cast<double>(i) / tile;
        const double y = static_cast<double>(j) / tile;
        return 1e-3 * (1 + x * y + x * x * y);
    });
    return A;
}
Task product(const Matrix<double>& A) { return tasks::gemm(1e-3, A(0, 0), A(0, 1), 1, A(0, 2)); }

struct Expected {
    double low_rank = 0;
    double whole = 0;
};
/// After some products of each kind.
Expected expected_products() {
    Stream s(engine());
    const Matrix<double> low = three_tiles(s, Compression{.accuracy = 1e-10, .dense_band = 0});
    const Matrix<double> whole = three_tiles(s, {});
    for (int k = 0; k < 20; ++k) {
        s.submit(product(low));
        s.submit(product(whole));
    }
    EXPECT_TRUE(s.wait().ok());
    return {starpu::expected_seconds(product(low)), starpu::expected_seconds(product(whole))};
}

TEST(ExpectedDurations, TellProductsOfLowRankFromDenseOnesOfTheSameTiles) {
    const WithEngine dmda({.workers = 2, .scheduler = "dmda"});
    const Expected expected = expected_products();
    EXPECT_GT(expected.low_rank, 0);
    EXPECT_GT(expected.whole, 2 * expected.low_rank);
}

TEST(ExpectedDurations, AreThereUnderASchedulerThatTheEnvironmentNames) {
    setenv("STARPU_SCHED", "dmdas", 1);
    const WithEngine dmdas({.workers = 2});
    unsetenv("STARPU_SCHED");
    const Expected expected = expected_products();
    EXPECT_GT(expected.whole, 2 * expected.low_rank);
}

TEST(ExpectedDurations, AreNotAskedForByOtherSchedulers) {
    {
        const WithEngine dmda({.workers = 2, .scheduler = "dmda"});
        EXPECT_GT(expected_products().whole, 0);
    }
    const Expected expected = expected_products();
    EXPECT_EQ(expected.low_rank, 0);
    EXPECT_EQ(expected.whole, 0);
}

/// Sleeps for a millisecond per million of operations, which its cost says are its argument, and notes its worker.
struct Nap {
    double flops;
};
const KernelOf<Nap, double> nap{
    "nap",
    [](std::span<const TileShape>, const void* arguments) noexcept {
        return KernelCost{.flops = static_cast<const Nap*>(arguments)->flops};
    },
    [](const KernelCall& call) noexcept -> KernelResult {
        std::this_thread::sleep_for(milliseconds(static_cast<int>(call.args<Nap>().flops / 1e6)));
        *call.tiles[0].as<double>() = starpu_worker_get_id();
        return {};
    }};

TEST(ExpectedDurations, DecideWhichWorkerGetsATask) {
    const WithEngine dmda({.workers = 2, .scheduler = "dmda"});
    Stream s(engine());
    constexpr Index short_tasks = 10;
    const Tiling tiling = Tiling::uniform({1, short_tasks + 1}, {1, 1});
    const Matrix<double> x(s, tiling, block_cyclic(tiling.grid(), {1, 1}));
    const Nap long_nap{300e6};
    const Nap short_nap{1e6};
    for (const Nap& known : {long_nap, short_nap}) s.submit({nap, known, write(x(0, 0))});
    ASSERT_TRUE(s.wait().ok());
    s.submit({nap, long_nap, write(x(0, 0))});
    for (Index j = 1; j <= short_tasks; ++j) s.submit({nap, short_nap, write(x(0, j))});
    const std::vector<double> workers = gather(s, x.view());
    // Without expectations tasks go to the two in turn.
    EXPECT_LE(std::ranges::count(workers, workers.front()), 2);
}

}  // namespace
}  // namespace tesela::expected_durations_test
