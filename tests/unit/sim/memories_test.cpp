#include "tesela/sim/internal/memories.hpp"
#include "parts.hpp"
#include "tesela/base/random.hpp"
#include "tesela/sim/internal/gpu_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tesela::sim::memories_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- the room of one GPU
// ----------------------------------------------------------------------------------------------

TEST(GpuMemory, GivesUpWhatWasNotUsedForLongestAndNothingThatIsInUse) {
    GpuMemory memory(3);
    for (const std::uint32_t copy : {5U, 6U, 7U}) memory.add(copy, 1);
    EXPECT_FALSE(memory.oldest());  // all are in use
    memory.unpin(6);
    memory.unpin(5);
    EXPECT_EQ(memory.oldest(), 6U);
    EXPECT_TRUE(memory.pin(6));
    EXPECT_EQ(memory.oldest(), 5U);
    memory.unpin(6);
    EXPECT_EQ(memory.drop(5), 1);
    EXPECT_EQ(memory.oldest(), 6U);
    EXPECT_FALSE(memory.pin(5));
}

TEST(GpuMemory, KeepsWhatSeveralTasksUseUntilTheLastHasEnded) {
    GpuMemory memory(1);
    memory.add(5, 1);
    EXPECT_TRUE(memory.pin(5));
    memory.unpin(5);
    EXPECT_FALSE(memory.oldest());
    memory.unpin(5);
    EXPECT_EQ(memory.oldest(), 5U);
}

TEST(GpuMemory, CountsWhatLeavesAsRoomToComeOnly) {
    GpuMemory memory(2);
    memory.add(5, 2);
    memory.unpin(5);
    EXPECT_FALSE(memory.will_have_room(1));
    memory.leave(5);
    EXPECT_TRUE(memory.leaves(5));
    EXPECT_FALSE(memory.oldest());
    EXPECT_FALSE(memory.has_room(1));
    EXPECT_TRUE(memory.will_have_room(2));
    EXPECT_EQ(memory.drop(5), 2);
    EXPECT_TRUE(memory.has_room(2));
    EXPECT_FALSE(memory.will_have_room(3));
}

TEST(GpuMemory, DoesNotLetGoWhatATaskWantsAgainWhileItLeaves) {
    GpuMemory memory(1);
    memory.add(5, 1);
    memory.unpin(5);
    memory.leave(5);
    EXPECT_TRUE(memory.pin(5));
    EXPECT_FALSE(memory.leaves(5));
    EXPECT_FALSE(memory.will_have_room(1));
}

// --- all memories
// -----------------------------------------------------------------------------------------------------

constexpr double to_gpu = tile_of_doubles / 1e10;

/// A node with two GPUs, and another without; what happens is written down.
class MemoriesOfNodes : public ::testing::Test, public MemoryHandler {
protected:
    static constexpr std::int32_t gpu = 1;
    static constexpr std::int32_t other_gpu = 2;

    void begin(double tiles_on_gpu) {
        platform = platform_of({with_gpus(cores("gpus", 1, 1), {.count = 2, .memory = tiles_on_gpu * tile_of_doubles}),
                                cores("cpu", 1, 1)});
        cluster = std::make_unique<Cluster>(platform, CriticalWorker::none);
        observers = {&schedule};
        memories = std::make_unique<Memories>(*cluster, made.copies, timeline, observers, *this);
        memories->begin(made.section);
    }
    void data_there(std::uint32_t v) override { complete.push_back(v); }
    void room_found(std::uint32_t v) override { with_room.push_back(v); }

    std::uint32_t reader(const std::vector<std::uint32_t>& copies) {
        std::vector<Use> uses;
        for (const std::uint32_t copy : copies) uses.push_back({copy, AccessMode::read});
        return made.add({}, uses);
    }
    std::uint32_t writer(std::uint32_t copy) { return made.add({}, {{copy, AccessMode::write}}); }
    /// A task writes a copy on a GPU, and ends.
    void write_on(std::int32_t memory, std::uint32_t task, std::uint32_t copy) {
        ASSERT_TRUE(memories->stage(task, memory));
        memories->allocate(copy);
        memories->written(copy, memory);
        memories->unstage(task, memory);
    }
    /// Lets the next transfer end.
    void transfer() {
        const auto [time, word] = timeline.take();
        memories->transfer_ended(word.node, static_cast<std::int32_t>(word.part),
                                 word.kind == TimerKind::to_host ? Direction::to_host : Direction::to_device);
    }
    void all_transfers() {
        while (!timeline.timers.empty()) transfer();
    }
    [[nodiscard]] bool has_room(std::uint32_t copy, std::int32_t memory) {
        return (made.copies[copy].resident >> static_cast<unsigned>(memory) & 1U) != 0;
    }
    [[nodiscard]] bool holds(std::uint32_t copy, std::int32_t memory) {
        return (made.copies[copy].valid >> static_cast<unsigned>(memory) & 1U) != 0;
    }

    Platform platform;
    HandMade made{2};
    std::unique_ptr<Cluster> cluster;
    StoppedTimeline timeline;
    Schedule schedule;
    std::vector<ScheduleObserver*> observers;
    std::unique_ptr<Memories> memories;
    std::vector<std::uint32_t> complete;
    std::vector<std::uint32_t> with_room;
};

TEST_F(MemoriesOfNodes, HaveInMainMemoryWhatTheCallerBrought) {
    const std::uint32_t task = reader({made.given_copy(), made.given_copy()});
    begin(1);
    EXPECT_TRUE(memories->stage(task, 0));
    EXPECT_EQ(memories->seconds_to_bring(task, 0), 0);
    EXPECT_EQ(memories->peak(0), 2 * tile_of_doubles);
    EXPECT_EQ(memories->peak(1), 0);
}

TEST_F(MemoriesOfNodes, FreeWhatIsDroppedWhenItsLastUserHasEnded) {
    const std::uint32_t copy = made.given_copy();
    const std::uint32_t other = made.copy();
    const std::uint32_t first = reader({copy});
    const std::uint32_t second = reader({copy});
    begin(1);
    made.copies[copy].dropped = true;
    memories->forget_uses(first);
    EXPECT_TRUE(memories->stage(second, 0));
    memories->forget_uses(second);
    memories->allocate(other);
    memories->allocate(other);
    EXPECT_EQ(memories->peak(0), tile_of_doubles);  // one after the other
    EXPECT_THAT(schedule.memory_changes, ElementsAre(::testing::Field(&ScheduledMemory::bytes, tile_of_doubles),
                                                     ::testing::Field(&ScheduledMemory::bytes, -tile_of_doubles),
                                                     ::testing::Field(&ScheduledMemory::bytes, tile_of_doubles)));
}

TEST_F(MemoriesOfNodes, BringTilesToAGpuOneAfterTheOther) {
    const std::uint32_t a = made.given_copy();
    const std::uint32_t b = made.given_copy();
    const std::uint32_t task = reader({a, b, a});
    const std::uint32_t same = reader({a});
    begin(3);
    EXPECT_DOUBLE_EQ(memories->seconds_to_bring(same, gpu), to_gpu);
    EXPECT_FALSE(memories->stage(task, gpu));
    EXPECT_EQ(memories->seconds_to_bring(same, gpu), 0);  // on its way
    EXPECT_FALSE(memories->stage(same, gpu));
    transfer();
    EXPECT_DOUBLE_EQ(timeline.time, to_gpu);
    EXPECT_THAT(complete, ElementsAre(same));
    transfer();
    EXPECT_DOUBLE_EQ(timeline.time, 2 * to_gpu);
    EXPECT_THAT(complete, ElementsAre(same, task));
    EXPECT_THAT(timeline.timers, IsEmpty());  // a is brought once
}

TEST_F(MemoriesOfNodes, BringTilesFromGpuToGpuThroughMainMemory) {
    const std::uint32_t copy = made.copy();
    const std::uint32_t first = writer(copy);
    const std::uint32_t there = reader({copy});
    const std::uint32_t message = made.add({.node = 0, .to = 1}, {{copy, AccessMode::read}});
    begin(1);
    write_on(gpu, first, copy);
    EXPECT_DOUBLE_EQ(memories->seconds_to_bring(there, other_gpu), 2 * to_gpu);
    EXPECT_FALSE(memories->stage(there, other_gpu));
    EXPECT_FALSE(memories->stage(message, 0));
    transfer();
    EXPECT_THAT(complete, ElementsAre(message));
    transfer();
    EXPECT_THAT(complete, ElementsAre(message, there));
    EXPECT_DOUBLE_EQ(timeline.time, 2 * to_gpu);
    EXPECT_TRUE(holds(copy, 0) && holds(copy, gpu) && holds(copy, other_gpu));
}

TEST_F(MemoriesOfNodes, HaveANewValueInOneMemoryOnly) {
    const std::uint32_t copy = made.given_copy();
    const std::uint32_t task = reader({copy});
    begin(1);
    EXPECT_FALSE(memories->stage(task, gpu));
    all_transfers();
    memories->unstage(task, gpu);
    memories->written(copy, 0);
    EXPECT_TRUE(holds(copy, 0));
    EXPECT_FALSE(holds(copy, gpu));
    EXPECT_FALSE(has_room(copy, gpu));
}

TEST_F(MemoriesOfNodes, ThrowAwayWhatWasOnItsWayBeforeAWrite) {
    const std::uint32_t copy = made.copy();
    const std::uint32_t first = writer(copy);
    const std::uint32_t again = writer(copy);
    const std::uint32_t message = made.add({.node = 0, .to = 1}, {{copy, AccessMode::read}});
    begin(1);
    write_on(gpu, first, copy);
    EXPECT_FALSE(memories->stage(message, 0));
    write_on(gpu, again, copy);
    transfer();
    EXPECT_FALSE(holds(copy, 0));
    EXPECT_THAT(complete, IsEmpty());
}

TEST_F(MemoriesOfNodes, SayWhetherTheTilesOfATaskFitAtAll) {
    const std::uint32_t small = reader({made.given_copy()});
    const std::uint32_t large = reader({made.given_copy(), made.given_copy(), made.given_copy()});
    begin(2);
    EXPECT_TRUE(memories->fits(small, gpu));
    EXPECT_FALSE(memories->fits(large, gpu));
    EXPECT_TRUE(memories->fits(large, 0));
}

TEST_F(MemoriesOfNodes, EvictWhatNoTaskUsesTheOldestFirst) {
    std::vector<std::uint32_t> copies;
    std::vector<std::uint32_t> readers;
    for (int k = 0; k < 4; ++k) {
        copies.push_back(made.given_copy());
        readers.push_back(reader({copies.back()}));
    }
    begin(3);
    for (const std::size_t k : {0U, 1U, 2U}) EXPECT_FALSE(memories->stage(readers[k], gpu));
    all_transfers();
    memories->unstage(readers[1], gpu);
    memories->unstage(readers[2], gpu);
    EXPECT_FALSE(memories->stage(readers[3], gpu));  // has room, and waits for its tile
    all_transfers();
    EXPECT_TRUE(has_room(copies[0], gpu));  // in use
    EXPECT_FALSE(has_room(copies[1], gpu));
    EXPECT_TRUE(has_room(copies[2], gpu));
    EXPECT_THAT(complete, ElementsAre(readers[0], readers[1], readers[2], readers[3]));
    EXPECT_THAT(with_room, IsEmpty());
    EXPECT_EQ(memories->traffic(0), (GpuTraffic{.to_gpus = 4 * tile_of_doubles, .evicted = tile_of_doubles}));
    EXPECT_EQ(memories->traffic(1), GpuTraffic{});
}

TEST_F(MemoriesOfNodes, TryAgainForThoseWithoutRoomInTheirOrder) {
    std::vector<std::uint32_t> readers;
    for (int k = 0; k < 4; ++k) readers.push_back(reader({made.given_copy()}));
    begin(2);
    for (const std::uint32_t task : readers) EXPECT_FALSE(memories->stage(task, gpu));
    all_transfers();
    EXPECT_THAT(complete, ElementsAre(readers[0], readers[1]));
    EXPECT_THAT(with_room, IsEmpty());
    memories->unstage(readers[1], gpu);
    EXPECT_THAT(with_room, ElementsAre(readers[2]));
    memories->unstage(readers[0], gpu);
    EXPECT_THAT(with_room, ElementsAre(readers[2], readers[3]));
    all_transfers();
    EXPECT_THAT(complete, ElementsAre(readers[0], readers[1], readers[2], readers[3]));
}

TEST_F(MemoriesOfNodes, LetNoTaskPassOneThatWaitsForRoom) {
    const std::uint32_t here = made.given_copy();
    const std::uint32_t first = reader({here});
    const std::uint32_t large = reader({made.given_copy(), made.given_copy()});
    const std::uint32_t small = reader({here});
    begin(2);
    EXPECT_FALSE(memories->stage(first, gpu));
    all_transfers();
    EXPECT_FALSE(memories->stage(large, gpu));
    EXPECT_FALSE(memories->stage(small, gpu));  // though its tile is there
    EXPECT_THAT(complete, ElementsAre(first));
}

TEST_F(MemoriesOfNodes, WriteBackTheOnlyValueBeforeItsRoomIsFree) {
    const std::uint32_t written = made.copy();
    const std::uint32_t task = writer(written);
    const std::uint32_t next = reader({made.given_copy()});
    begin(1);
    write_on(gpu, task, written);
    EXPECT_FALSE(memories->stage(next, gpu));
    EXPECT_TRUE(has_room(written, gpu));
    transfer();
    EXPECT_TRUE(holds(written, 0));
    EXPECT_FALSE(has_room(written, gpu));
    EXPECT_THAT(with_room, ElementsAre(next));
    transfer();
    EXPECT_THAT(complete, ElementsAre(next));
    EXPECT_EQ(memories->traffic(0),
              (GpuTraffic{.to_gpus = tile_of_doubles, .to_host = tile_of_doubles, .evicted = tile_of_doubles}));
}

/// Tasks that read or write some of a few tiles, staged and ended at random on GPUs with little memory.
TEST_F(MemoriesOfNodes, NeverHoldMoreThanTheyCanNorTakeATileFromATask) {
    constexpr Index tiles_on_gpu = 4;
    constexpr std::uint32_t tasks = 400;
    const Random random(7);
    std::uint64_t drawn = 0;
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random.below(bound, {++drawn, 0})); };
    std::vector<std::uint32_t> copies;
    for (int k = 0; k < 12; ++k) copies.push_back(made.given_copy());
    for (std::uint32_t t = 0; t < tasks; ++t) {
        std::vector<Use> uses;
        for (std::size_t k = below(3) + 1; k > 0; --k) uses.push_back({copies[below(12)], AccessMode::read});
        (void)made.add({}, uses);
    }
    begin(tiles_on_gpu);
    std::map<std::uint32_t, std::int32_t> running;
    std::map<std::uint32_t, std::int32_t> staged;
    const auto start_complete = [&] {
        for (const std::uint32_t task : std::exchange(complete, {})) running[task] = staged.at(task);
    };
    const auto check = [&] {
        for (const auto& [task, memory] : running)
            for (const Use& use : made.section.uses_of(made.section.vertices[task]))
                ASSERT_TRUE(holds(use.copy, memory)) << "task " << task;
        for (const std::int32_t memory : {gpu, other_gpu})
            ASSERT_LE(std::ranges::count_if(copies, [&](std::uint32_t c) { return has_room(c, memory); }),
                      tiles_on_gpu);
    };
    const auto end = [&](std::map<std::uint32_t, std::int32_t>::iterator ending) {
        const std::uint32_t task = ending->first;
        const std::int32_t memory = ending->second;
        running.erase(ending);
        const std::uint32_t copy = made.section.uses_of(made.section.vertices[task])[0].copy;
        const bool used = std::ranges::any_of(staged, [&](const auto& other) {
            return other.first != task && std::ranges::any_of(made.section.uses_of(made.section.vertices[other.first]),
                                                              [&](const Use& use) { return use.copy == copy; });
        });
        staged.erase(task);
        if (!used) memories->written(copy, memory);  // now the only value is here
        memories->unstage(task, memory);
    };
    for (std::uint32_t next = 0; next < tasks || !staged.empty();) {
        const std::size_t what = below(4);
        if (what == 0 && next < tasks) {
            const std::int32_t memory = below(2) == 0 ? gpu : other_gpu;
            staged[next] = memory;
            if (memories->stage(next, memory)) running[next] = memory;
            ++next;
        } else if (what == 1 && !running.empty()) {
            end(std::next(running.begin(), static_cast<std::ptrdiff_t>(below(running.size()))));
        } else if (!timeline.timers.empty()) {
            transfer();
        } else {
            ASSERT_TRUE(next < tasks || !running.empty()) << staged.size() << " tasks wait for ever";
        }
        start_complete();
        check();
    }
}

}  // namespace
}  // namespace tesela::sim::memories_test
