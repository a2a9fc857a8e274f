#pragma once

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tesela::starpu {

/// A task that is ready, before those of lower priority and those that came later.
struct ReadyTask {
    std::int32_t priority = 0;
    std::uint64_t number = 0;
    starpu_task* task = nullptr;
    friend bool operator<(const ReadyTask& a, const ReadyTask& b) {  // the first to go is the greatest
        return a.priority != b.priority ? a.priority < b.priority : a.number > b.number;
    }
};

/// A queue of them, the first to go on top. Tasks that are expected find room: StarPU's workers, which push them, could
/// tell nobody that there is no memory. All but expect() need the lock of whoever has the queue.
class ReadyTasks {
public:
    /// Makes room for one more, before it is submitted; `lock` is the queue's. Throws std::bad_alloc.
    void expect(std::mutex& lock) {
        const std::int64_t needed = pending_.fetch_add(1) + 1;
        if (needed <= room_.load()) return;
        const std::lock_guard held(lock);
        if (needed <= room()) return;
        tasks_.reserve(static_cast<std::size_t>(2 * needed));
        room_ = room();
    }

    void push(const ReadyTask& task) {
        tasks_.push_back(task);
        std::push_heap(tasks_.begin(), tasks_.end());
    }
    [[nodiscard]] bool empty() const { return tasks_.empty(); }
    [[nodiscard]] const ReadyTask& top() const { return tasks_.front(); }
    void pop() {
        std::pop_heap(tasks_.begin(), tasks_.end());
        tasks_.pop_back();
        pass();
    }
    /// One that was expected need not wait.
    void pass() { pending_.fetch_sub(1); }

    /// For how many tasks there is room, those that wait included.
    [[nodiscard]] std::int64_t room() const { return static_cast<std::int64_t>(tasks_.capacity()); }

private:
    std::vector<ReadyTask> tasks_;
    std::atomic<std::int64_t> pending_{0};  ///< expected or waiting
    std::atomic<std::int64_t> room_{0};     ///< room(), for those who have no lock
};

}  // namespace tesela::starpu
