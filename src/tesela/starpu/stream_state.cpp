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

}  // namespace tesela::starpu
