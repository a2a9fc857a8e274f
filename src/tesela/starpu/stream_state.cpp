#include "tesela/starpu/internal/stream_state.hpp"

#include <chrono>

namespace tesela::starpu {

void Progress::finished() noexcept {
    const Index left = pending_.fetch_sub(1) - 1;
    if (left > wake_at_.load()) return;
    const std::lock_guard lock(mutex_);
    fell_.notify_all();
}

void Progress::wait_until_at_most(Index level, const std::function<void()>& every_second) {
    if (pending_.load() <= level) return;
    std::unique_lock lock(mutex_);
    wake_at_.store(level);
    while (!fell_.wait_for(lock, std::chrono::seconds(1), [&] { return pending_.load() <= level; })) {
        if (!every_second) continue;
        lock.unlock();
        every_second();
        lock.lock();
    }
    wake_at_.store(nobody);
}

std::uint64_t StarpuStream::advance(std::uint64_t what) {
    if (!trails_) trails_ = std::make_unique<std::atomic<std::uint64_t>[]>(remembered);
    const std::uint64_t now = steps.load(std::memory_order_relaxed) + 1;
    trail_.add(what);
    trails_[now % remembered].store(trail_.value(), std::memory_order_relaxed);
    steps.store(now);  // one thread at a time submits
    return now;
}

std::uint64_t StarpuStream::trail(std::uint64_t step) const {
    const std::uint64_t now = steps.load();
    // Not those that may be overwritten while they are read.
    if (step == 0 || step > now || now - step > remembered / 2) return 0;
    return trails_[step % remembered].load(std::memory_order_relaxed);
}

}  // namespace tesela::starpu
