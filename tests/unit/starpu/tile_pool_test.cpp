#include "tesela/starpu/internal/tile_pool.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace tesela::starpu::tile_pool_test {
namespace {

constexpr std::size_t kib = 1024;

TEST(TilePool, GivesOutWhatWasFreedAgain) {
    TilePool pool;
    void* first = pool.take(kib, Claim::needed);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
    pool.give(first, kib);
    EXPECT_EQ(pool.use().in_use, 0U);
    EXPECT_EQ(pool.use().kept, kib);
    void* second = pool.take(kib, Claim::within_limit);
    EXPECT_EQ(second, first);
    EXPECT_EQ(pool.use().kept, 0U);
    EXPECT_EQ(pool.use().in_use, kib);
    pool.give(second, kib);
}

TEST(TilePool, PreparesMemoryThatLaterComesWithoutTheSystem) {
    TilePool pool;
    pool.set_limits(64 * kib, 0);  // of what is freed nothing is kept
    pool.prepare(4 * kib, 7, 3);
    EXPECT_EQ(pool.use().allocations, 7U);
    EXPECT_EQ(pool.use().kept, 28 * kib);
    std::vector<void*> taken;
    for (int k = 0; k < 7; ++k) taken.push_back(pool.take(4 * kib, Claim::needed));
    EXPECT_EQ(pool.use().allocations, 7U);
    EXPECT_EQ(pool.use().kept, 0U);
    taken.push_back(pool.take(4 * kib, Claim::needed));
    EXPECT_EQ(pool.use().allocations, 8U);
    std::ranges::sort(taken);
    EXPECT_EQ(std::ranges::adjacent_find(taken), taken.end());
    for (void* memory : taken) pool.give(memory, 4 * kib);
    EXPECT_EQ(pool.use().in_use, 0U);
}

TEST(TilePool, PreparesWhatIsMissingBesideWhatWasPreparedForOthers) {
    TilePool pool;
    pool.prepare(kib, 3, 1);
    pool.prepare(kib, 2, 1);  // the three are not for these
    EXPECT_EQ(pool.use().allocations, 5U);
    std::vector<void*> taken;
    for (int k = 0; k < 5; ++k) taken.push_back(pool.take(kib, Claim::needed));
    for (void* memory : taken) pool.give(memory, kib);
    pool.prepare(kib, 6, 1);  // five are at hand
    EXPECT_EQ(pool.use().allocations, 6U);
}

TEST(TilePool, WhatWasPreparedAndGivenUpIsForTheNext) {
    TilePool pool;
    pool.prepare(kib, 3, 1);
    for (int k = 0; k < 2; ++k) pool.give_up_prepared(kib);
    pool.prepare(kib, 4, 1);  // two are at hand, and one is another's
    EXPECT_EQ(pool.use().allocations, 5U);
    pool.give_up_prepared(2 * kib);  // of which there was none
    EXPECT_EQ(pool.use().kept, 5 * kib);
}

TEST(TilePool, PreparesNoMoreThanItsLimitLeaves) {
    TilePool pool;
    pool.set_limits(10 * kib, 10 * kib);
    void* used = pool.take(3 * kib, Claim::needed);
    pool.prepare(2 * kib, 100, 2);
    EXPECT_EQ(pool.use().kept, 6 * kib);
    pool.give(used, 3 * kib);
}

TEST(TilePool, CountsWholeLinesSoThatTokensTakeRoomToo) {
    TilePool pool;
    void* token = pool.take(1, Claim::needed);
    void* odd = pool.take(65, Claim::needed);
    EXPECT_EQ(pool.use().in_use, 64U + 128U);
    pool.give(token, 1);
    pool.give(odd, 65);
    EXPECT_EQ(pool.use().in_use, 0U);
}

TEST(TilePool, WithinItsLimitNothingMoreIsGivenThanThatLeaves) {
    TilePool pool;
    pool.set_limits(4 * kib, 4 * kib);
    void* three = pool.take(3 * kib, Claim::within_limit);
    ASSERT_NE(three, nullptr);
    EXPECT_EQ(pool.room(), kib);
    EXPECT_EQ(pool.take(kib + 1, Claim::within_limit), nullptr);
    void* last = pool.take(kib, Claim::within_limit);
    EXPECT_NE(last, nullptr);
    EXPECT_EQ(pool.room(), 0U);
    EXPECT_EQ(pool.take(1, Claim::within_limit), nullptr);
    // What nothing can go on without is given beyond it.
    void* more = pool.take(kib, Claim::needed);
    EXPECT_NE(more, nullptr);
    EXPECT_EQ(pool.room(), 0U);
    EXPECT_EQ(pool.use().peak, 5 * kib);
    pool.give(three, 3 * kib);
    EXPECT_EQ(pool.room(), 2 * kib);
    pool.give(last, kib);
    pool.give(more, kib);
    EXPECT_EQ(pool.room(), 4 * kib);
}

TEST(TilePool, WhatIsHeldBackIsForThoseItIsHeldBackFor) {
    TilePool pool;
    pool.set_limits(4 * kib, 4 * kib);
    pool.hold_back(3 * kib);
    EXPECT_EQ(pool.room(), kib);
    EXPECT_EQ(pool.take(2 * kib, Claim::within_limit), nullptr);
    void* own = pool.take(2 * kib, Claim::held_back);
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(pool.use().held_back, kib);
    EXPECT_EQ(pool.room(), kib);
    pool.release_held_back(kib);
    EXPECT_EQ(pool.room(), 2 * kib);
    pool.give(own, 2 * kib);
    EXPECT_EQ(pool.room(), 4 * kib);
}

TEST(TilePool, KeptMemoryIsFreedBeforeALimitIsBroken) {
    TilePool pool;
    pool.set_limits(4 * kib, 4 * kib);
    void* three = pool.take(3 * kib, Claim::within_limit);
    pool.give(three, 3 * kib);
    EXPECT_EQ(pool.use().kept, 3 * kib);
    void* two = pool.take(2 * kib, Claim::within_limit);  // of another size: 5 KiB with what is kept
    ASSERT_NE(two, nullptr);
    EXPECT_EQ(pool.use().kept, 0U);
    pool.give(two, 2 * kib);
}

TEST(TilePool, KeepsNoMoreThanItIsTo) {
    TilePool pool;
    pool.set_limits(100 * kib, 2 * kib);
    std::vector<void*> all;
    for (int k = 0; k < 5; ++k) all.push_back(pool.take(kib, Claim::needed));
    for (void* memory : all) pool.give(memory, kib);
    EXPECT_EQ(pool.use().kept, 2 * kib);
    EXPECT_EQ(pool.use().in_use, 0U);
    pool.set_limits(kib, kib);
    EXPECT_EQ(pool.use().kept, 0U);
}

TEST(TilePool, ASmallerLimitBeginsANewCountOfThePeak) {
    TilePool pool;
    void* memory = pool.take(8 * kib, Claim::needed);
    void* stays = pool.take(kib, Claim::needed);
    pool.give(memory, 8 * kib);
    EXPECT_EQ(pool.use().peak, 9 * kib);
    pool.set_limits(4 * kib, 4 * kib);
    EXPECT_EQ(pool.use().peak, kib);
    EXPECT_EQ(pool.use().kept, 0U);
    pool.give(stays, kib);
}

TEST(TilePool, WhatCannotBeThereIsNull) {
    TilePool pool;
    const std::size_t before = pool.use().in_use;
    EXPECT_EQ(pool.take(std::size_t{1} << 60U, Claim::needed), nullptr);
    EXPECT_EQ(pool.use().in_use, before);
}

/// Random claims; nothing overlaps, the counts are right, and `within_limit` never breaks the limit.
RC_GTEST_PROP(TilePool, KeepsItsCountsAndItsLimit, ()) {
    TilePool pool;
    const auto limit = *rc::gen::inRange<std::size_t>(1, 64) * kib;
    pool.set_limits(limit, *rc::gen::inRange<std::size_t>(0, 64) * kib);
    std::vector<std::pair<std::uint8_t*, std::size_t>> taken;
    std::vector<std::size_t> held_back;
    const auto rounded = [](std::size_t bytes) { return std::max<std::size_t>(64, (bytes + 63) / 64 * 64); };
    std::size_t in_use = 0;
    std::size_t held = 0;
    for (int step = *rc::gen::inRange(1, 120); step > 0; --step) {
        const std::size_t bytes = *rc::gen::element<std::size_t>(1, 100, kib, 3 * kib, 10 * kib);
        switch (*rc::gen::inRange(0, 5)) {
            case 0:
            case 1: {
                const bool needed = *rc::gen::inRange(0, 4) == 0;
                auto* memory =
                    static_cast<std::uint8_t*>(pool.take(bytes, needed ? Claim::needed : Claim::within_limit));
                RC_ASSERT((memory != nullptr) == (needed || in_use + held + rounded(bytes) <= limit));
                if (memory == nullptr) break;
                std::memset(memory, static_cast<int>(taken.size() % 251), bytes);
                taken.emplace_back(memory, bytes);
                in_use += rounded(bytes);
                break;
            }
            case 2:
                pool.hold_back(bytes);
                held_back.push_back(bytes);
                held += rounded(bytes);
                break;
            case 3: {
                if (held_back.empty()) break;
                const std::size_t size = held_back.back();
                held_back.pop_back();
                held -= rounded(size);
                if (*rc::gen::arbitrary<bool>()) {
                    pool.release_held_back(size);
                    break;
                }
                auto* memory = static_cast<std::uint8_t*>(pool.take(size, Claim::held_back));
                RC_ASSERT(memory != nullptr);
                std::memset(memory, static_cast<int>(taken.size() % 251), size);
                taken.emplace_back(memory, size);
                in_use += rounded(size);
                break;
            }
            default: {
                if (taken.empty()) break;
                const auto [memory, size] = taken.back();
                for (std::size_t k = 0; k < size; ++k) RC_ASSERT(memory[k] == (taken.size() - 1) % 251);
                taken.pop_back();
                pool.give(memory, size);
                in_use -= rounded(size);
            }
        }
        const TilePool::Use use = pool.use();
        RC_ASSERT(use.in_use == in_use);
        RC_ASSERT(use.held_back == held);
        RC_ASSERT(use.peak >= in_use);
        RC_ASSERT(pool.room() == (in_use + held < limit ? limit - in_use - held : 0));
        RC_ASSERT(use.kept == 0U || use.in_use + use.kept <= limit);
    }
    for (const auto& [memory, size] : taken) pool.give(memory, size);
}

TEST(PromisedMemory, KnowsWhetherAnEarlierStepStillHasToGiveSomeBack) {
    PromisedMemory promised;
    EXPECT_FALSE(promised.before(100));
    promised.promise(7);
    promised.promise(7);
    promised.promise(9);
    EXPECT_FALSE(promised.before(7));
    EXPECT_TRUE(promised.before(8));
    promised.kept(7);
    EXPECT_TRUE(promised.before(8));
    promised.kept(7);
    EXPECT_FALSE(promised.before(8));
    EXPECT_FALSE(promised.before(9));
    EXPECT_TRUE(promised.before(10));
    promised.kept(9);
    EXPECT_FALSE(promised.before(~std::uint64_t{0}));
}

}  // namespace
}  // namespace tesela::starpu::tile_pool_test
