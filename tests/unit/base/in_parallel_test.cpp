#include "tesela/base/in_parallel.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

namespace tesela::in_parallel_test {
namespace {

TEST(InParallel, CallsEachOnceWhateverTheThreads) {
    for (const Index threads : {0, 1, 2, 7, 100})
        for (const Index count : {0, 1, 5, 1000}) {
            std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
            in_parallel(threads, count, [&](Index k) { ++calls[static_cast<std::size_t>(k)]; });
            for (const auto& called : calls) EXPECT_EQ(called, 1) << threads << " threads, " << count;
        }
}

TEST(InParallel, UsesSeveralThreads) {
    // Each waits for the others: with fewer threads it would not end.
    std::atomic<int> there = 0;
    in_parallel(3, 3, [&](Index) {
        for (++there; there < 3;) std::this_thread::yield();
    });
    EXPECT_EQ(there, 3);
}

TEST(InParallel, ThrowsWhatACallThrewAndBeginsNoMore) {
    std::atomic<int> calls = 0;
    const auto fail_at_once = [&](Index k) {
        ++calls;
        throw Error("number {}", k);
    };
    EXPECT_THROW(in_parallel(4, 100'000, fail_at_once), Error);
    EXPECT_LE(calls, 4) << "one of each thread";
}

}  // namespace
}  // namespace tesela::in_parallel_test
