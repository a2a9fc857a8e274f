#include "tesela/flow/engine.hpp"

#include "tesela/base/error.hpp"

#include <chrono>

namespace tesela {

void check_workers(const WorkerSet& workers, int count) {
    for (const int worker : workers)
        if (worker < 0 || worker >= count)
            throw Error("worker {} does not exist: this node has {}, numbered from 0", worker, count);
}

void Engine::require_alike(std::string_view what, std::uint64_t digest) {
    const std::vector<std::uint64_t> all = gather(digest);
    for (std::size_t node = 1; node < all.size(); ++node)
        if (all[node] != all[0])
            throw Error("{} on node {} are not those of node 0: all nodes must read the same files", what, node);
}

void require_cpu_entry(const Task& task) {
    if (task.kernel->cpu == nullptr) throw Error("no worker can run {}: it has no code for cores", task.kernel->name);
}

void Fetched::arrive(bool with_value) {
    const std::lock_guard lock(mutex_);
    done_ = true;
    has_value_ = with_value;
    arrived_.notify_all();
}

void Fetched::wait() {
    std::unique_lock lock(mutex_);
    while (!arrived_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
        lock.unlock();
        if (every_second) every_second();
        lock.lock();
    }
}

}  // namespace tesela
