#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/usable_cores.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tesela {

/// As many as were asked for, or one per core that this thread may use.
[[nodiscard]] inline Index threads_or_cores(Index threads) {
    return threads > 0 ? threads : std::max<Index>(1, static_cast<Index>(usable_cores().size()));
}

/// Calls work(0) to work(count - 1) by this thread and others, `threads` in all or 0 for one per usable core, each of
/// which takes the next when it has done one: what takes long comes first. Throws what a call threw first; none is
/// begun after that. With threads that cannot be had it is done by fewer. Before there is an engine, or where there
/// need be none; all else are tasks.
template <class Work>
void in_parallel(Index threads, Index count, const Work& work) {
    std::atomic<Index> next = 0;
    std::exception_ptr failure;
    std::mutex mutex;
    const auto run = [&]() noexcept {
        for (Index k = next++; k < count; k = next++) try {
                work(k);
            } catch (...) {
                const std::scoped_lock lock(mutex);
                if (!failure) failure = std::current_exception();
                next = count;
            }
    };
    {
        std::vector<std::jthread> others;
        try {
            for (Index t = 1; t < std::min(threads_or_cores(threads), count); ++t) others.emplace_back(run);
        } catch (const std::system_error&) {  // no more threads
        }
        run();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tesela
