#include "tesela/flow/engine.hpp"

#include "tesela/base/error.hpp"

namespace tesela {

void check_workers(const WorkerSet& workers, int count) {
    for (const int worker : workers)
        if (worker < 0 || worker >= count)
            throw Error("worker {} does not exist: this node has {}, numbered from 0", worker, count);
}

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
