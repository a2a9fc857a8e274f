#include "tesela/starpu/internal/memory_budget.hpp"

#include "tesela/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace tesela::starpu::memory_budget_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kib = 1024;
const NodeId first{0};
const NodeId second{1};

/// What reserving says, or nothing if it fits.
std::string refusal(MemoryBudget& budget, const Reservation& wanted) {
    try {
        budget.reserve("A", wanted);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(MemoryBudget, RefusesAMatrixThatOneNodeHasNoRoomForOnAll) {
    MemoryBudget here({4 * kib, 2 * kib}, first);
    MemoryBudget there({4 * kib, 2 * kib}, second);
    for (MemoryBudget* budget : {&here, &there}) {
        const std::string said = refusal(*budget, {kib, 3 * kib});
        EXPECT_THAT(said, HasSubstr("matrix A does not fit: node 1 needs 3.00 KiB for its tiles and has 2.00 KiB"));
        EXPECT_EQ(refusal(*budget, {4 * kib, 2 * kib}), "");  // nothing was reserved by the one that was refused
    }
}

TEST(MemoryBudget, HasRoomAgainWhenAMatrixIsGone) {
    MemoryBudget budget({4 * kib}, first);
    const Reservation three{3 * kib};
    EXPECT_EQ(refusal(budget, three), "");
    EXPECT_THAT(refusal(budget, {2 * kib}), HasSubstr("has 1.00 KiB available"));
    budget.release(three);
    EXPECT_EQ(refusal(budget, {4 * kib}), "");
}

TEST(MemoryBudget, LetsATileTakeItsReservationAlongWhereThereIsRoom) {
    MemoryBudget budget({4 * kib, 2 * kib}, first);
    Reservation matrix{4 * kib, kib};
    budget.reserve("A", matrix);
    EXPECT_TRUE(budget.move(matrix, {.bytes = kib, .from = first, .to = second}));
    EXPECT_THAT(matrix, ElementsAre(3 * kib, 2 * kib));
    EXPECT_FALSE(budget.move(matrix, {.bytes = kib, .from = first, .to = second}));
    EXPECT_THAT(matrix, ElementsAre(3 * kib, 2 * kib));
    EXPECT_EQ(refusal(budget, {kib, 0}), "");  // what has left is free
}

TEST(MemoryBudget, NeedsNoReservationWhereTheCallerHasMemory) {
    MemoryBudget budget({4 * kib, kib}, first);
    Reservation matrix{0, 0};  // its tiles are the caller's where they are
    EXPECT_TRUE(budget.move(matrix, {.bytes = kib, .from = std::nullopt, .to = second}));
    EXPECT_THAT(matrix, ElementsAre(0, kib));
    EXPECT_TRUE(budget.move(matrix, {.bytes = kib, .from = second, .to = std::nullopt}));
    EXPECT_THAT(matrix, ElementsAre(0, 0));
    EXPECT_TRUE(budget.move(matrix, {.bytes = 9 * kib, .from = std::nullopt, .to = std::nullopt}));
}

TEST(MemoryBudget, CountsCopiesOfThisNodeBesideWhatIsReservedOnIt) {
    MemoryBudget budget({4 * kib, 100 * kib}, first);
    budget.reserve("A", {3 * kib, 90 * kib});
    EXPECT_TRUE(budget.take_copies(1024));
    EXPECT_FALSE(budget.take_copies(1));
    budget.drop_copies(1);
    EXPECT_TRUE(budget.take_copies(0));
    EXPECT_EQ(refusal(budget, {kib, 0}), "");  // copies go again: they do not refuse a matrix
    EXPECT_FALSE(budget.take_copies(0));
}

TEST(MemoryBudget, HasAlwaysRoomWhereNothingSaysHowMuchThereIs) {
    MemoryBudget budget({std::numeric_limits<double>::infinity()}, first);
    EXPECT_EQ(refusal(budget, {1e300}), "");
    EXPECT_TRUE(budget.take_copies(std::numeric_limits<Index>::max() / 2));
}

TEST(MemoryBudget, IsKeptByStreamsAtTheSameTime) {
    MemoryBudget budget({4 * kib, 4 * kib}, first);
    std::vector<std::thread> streams;
    for (int s = 0; s < 4; ++s)
        streams.emplace_back([&] {
            for (int k = 0; k < 1000; ++k) {
                Reservation matrix{kib, 0};
                budget.reserve("A", matrix);
                (void)budget.move(matrix, {.bytes = kib, .from = first, .to = second});
                (void)budget.take_copies(3);
                budget.drop_copies(3);
                budget.release(matrix);
            }
        });
    for (std::thread& stream : streams) stream.join();
    EXPECT_EQ(refusal(budget, {4 * kib, 4 * kib}), "");
    EXPECT_TRUE(budget.take_copies(0));
}

}  // namespace
}  // namespace tesela::starpu::memory_budget_test
