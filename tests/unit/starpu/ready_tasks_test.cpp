#include "tesela/starpu/internal/ready_tasks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tesela::starpu::ready_tasks_test {
namespace {

TEST(ReadyTasks, GoByPriorityAndThenInTurn) {
    ReadyTasks tasks;
    for (const auto& [priority, number] : {std::pair{1, 0}, {5, 1}, {5, 2}, {-3, 3}, {9, 4}})
        tasks.push({priority, static_cast<std::uint64_t>(number)});
    std::vector<std::uint64_t> order;
    for (; !tasks.empty(); tasks.pop()) order.push_back(tasks.top().number);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{4, 1, 2, 0, 3}));
}

RC_GTEST_PROP(ReadyTasks, ThatAreExpectedFindRoom, ()) {
    ReadyTasks tasks;
    std::mutex lock;
    std::int64_t expected = 0;
    std::multiset<int> waiting;
    std::uint64_t number = 0;
    for (const int step : *rc::gen::container<std::vector<int>>(400, rc::gen::inRange(0, 5))) {
        if (step <= 1) {
            tasks.expect(lock);
            ++expected;
        } else if (step <= 3 && expected > 0) {
            --expected;
            if (step == 3) {
                tasks.pass();
            } else {
                const std::int64_t before = tasks.room();
                tasks.push({step * static_cast<int>(number % 7), number});
                waiting.insert(step * static_cast<int>(number++ % 7));
                RC_ASSERT(tasks.room() == before);
            }
        } else if (!waiting.empty()) {
            RC_ASSERT(tasks.top().priority == *waiting.rbegin());
            waiting.erase(std::prev(waiting.end()));
            tasks.pop();
        }
        RC_ASSERT(tasks.room() >= expected + static_cast<std::int64_t>(waiting.size()));
    }
}

TEST(ReadyTasks, FindRoomWhileSeveralThreadsSubmitAndOneTakes) {
    ReadyTasks tasks;
    std::mutex lock;
    std::atomic<int> expected = 0;
    const auto submit = [&] {
        for (int k = 0; k < 2000; ++k) {
            tasks.expect(lock);
            ++expected;
        }
    };
    int grown = 0;
    {
        const std::jthread one(submit);
        const std::jthread other(submit);
        for (int pushed = 0; pushed < 4000;) {
            if (pushed == expected) continue;
            const std::lock_guard held(lock);
            const std::int64_t before = tasks.room();
            tasks.push({.priority = ++pushed});
            grown += tasks.room() != before ? 1 : 0;
            if (pushed % 3 == 0) tasks.pop();
        }
    }
    EXPECT_EQ(grown, 0);
}

}  // namespace
}  // namespace tesela::starpu::ready_tasks_test
