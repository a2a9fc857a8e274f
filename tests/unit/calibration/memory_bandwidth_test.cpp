#include "tesela/calibration/memory_bandwidth.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

namespace tesela::calibration::memory_bandwidth_test {
namespace {

TEST(CopyBandwidth, IsThatOfSomeMemory) {
    for (const int threads : {1, 2, 3}) {
        const double rate = measure_copy_bandwidth(Index{16} << 20, threads);
        EXPECT_GT(rate, 1e7) << threads;
        EXPECT_LT(rate, 1e14) << threads;
    }
}

TEST(CopyBandwidth, NeedsBytesAndThreads) {
    EXPECT_THROW((void)measure_copy_bandwidth(0, 1), Error);
    EXPECT_THROW((void)measure_copy_bandwidth(100, 0), Error);
    EXPECT_GT(measure_copy_bandwidth(1, 2), 0);
}

TEST(BytesBeyondCaches, AreAtLeastAMebibyte) { EXPECT_GE(bytes_beyond_caches(), Index{1} << 20); }

}  // namespace
}  // namespace tesela::calibration::memory_bandwidth_test
