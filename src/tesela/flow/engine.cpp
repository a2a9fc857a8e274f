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
            throw Error("{} on node {} are not those of node 0: all nodes must be given the same", what, node);
}

void require_cpu_entry(const Task& task) {
    if (task.kernel->cpu == nullptr) throw Error("no worker can run {}: it has no code for cores", task.kernel->name);
}

void StreamState::begin_era() {
    static std::atomic<std::uint64_t> last{Attachment::at_first};
    era_.store(++last, std::memory_order_relaxed);
}

bool Engine::is_among_failed(std::uint64_t era) const {
    const std::shared_lock lock(failed_mutex_);
    return failed_.contains(era);
}

void Engine::note_failed(std::uint64_t era) {
    const std::lock_guard lock(failed_mutex_);
    failed_.insert(era);
    any_failed_.store(true, std::memory_order_release);
}

void require_value(const char* who, const TileRef& tile) {
    const Attachment& matrix = *tile.matrix;
    const std::uint64_t era = matrix.written_in(tile.index);
    const auto [i, j] = tile.index;
    if (era == Attachment::never)
        throw Error("{} reads tile ({}, {}) of matrix {} before anything wrote it", who, i, j, matrix.name());
    if (matrix.type() != ElementType::none && matrix.engine->has_failed(era))  // a token has no value to be wrong
        throw Error(
            "{} reads tile ({}, {}) of matrix {}, which work that has failed was to write: write it again first", who,
            i, j, matrix.name());
}

void Fetched::arrive(Arrival how) {
    const std::lock_guard lock(mutex_);
    arrived_ = how;
    arrives_.notify_all();
}

Arrival Fetched::wait_for_arrival() {
    std::unique_lock lock(mutex_);
    while (!arrives_.wait_for(lock, std::chrono::seconds(1), [this] { return arrived_.has_value(); })) {
        lock.unlock();
        if (every_second) every_second();
        lock.lock();
    }
    return *arrived_;
}

void Fetched::wait() {
    if (wait_for_arrival() == Arrival::failure)
        throw Error(
            "this value was not computed, since work before it in its stream has failed: the stream's wait() "
            "says why; look at it before you take values");
}

}  // namespace tesela
