#include "tesela/flow/engine.hpp"

namespace tesela {

void Fetched::arrive(bool with_value) {
    const std::lock_guard lock(mutex_);
    done_ = true;
    has_value_ = with_value;
    arrived_.notify_all();
}

void Fetched::wait() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return done_; });
}

}  // namespace tesela
