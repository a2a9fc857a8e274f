#include "tesela/calibration/internal/crew.hpp"

#include "tesela/base/usable_cores.hpp"

#include <pthread.h>
#include <sched.h>

#include <thread>

namespace tesela::calibration {
namespace {

/// Only a better measurement depends on it, so a core that cannot be had is no error.
void bind_this_thread(int core) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(core), &mask);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(mask), &mask);
}

}  // namespace

void run_crew(int threads, const std::function<void(int)>& work, const std::vector<int>& given) {
    const auto wanted = static_cast<std::size_t>(threads);
    const bool have = given.size() >= wanted;
    const std::vector<int> cores = have ? given : usable_cores();
    const bool bind = have || cores.size() == wanted;
    std::vector<std::jthread> crew;
    for (int t = 0; t < threads; ++t)
        crew.emplace_back([&, t] {
            if (bind) bind_this_thread(cores[static_cast<std::size_t>(t)]);
            work(t);
        });
}

}  // namespace tesela::calibration
