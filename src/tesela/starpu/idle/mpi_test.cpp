// Linked into executables: replaces MPI_Test so that StarPU-MPI's progress thread, which polls while receives are
// pending, sleeps a moment when nothing happened instead of keeping a core busy. Users of the library opt in by linking
// tesela::mpi_idle.
//
// StarPU-MPI tests messages without a lock, but the envelope it waits for under the lock that workers need to hand
// messages over. Sleeping there would shut them out for long: the lock is free only for an instant between two sleeps.
// So that sleep is put off until the thread lets go of the lock, which is the next mutex it unlocks.
//
// A message under way needs the thread often. Where it only waits for the next envelope, each look takes time from a
// worker whose core it shares (a tenth of the core at one look every 20 us), so that the looks become rarer.

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>

#include <algorithm>
#include <ctime>

namespace {

thread_local const MPI_Request* first_of_round = nullptr;
thread_local bool owes_sleep = false;

constexpr long shortest_sleep = 20'000;  // ns
constexpr long longest_sleep = 400'000;
thread_local long next_sleep = shortest_sleep;

void sleep_for(long nanoseconds) {
    const timespec moment{.tv_sec = 0, .tv_nsec = nanoseconds};
    nanosleep(&moment, nullptr);
}

/// Longer each time, until something happens.
void sleep_until_next_look() {
    sleep_for(next_sleep);
    next_sleep = std::min(longest_sleep, 2 * next_sleep);
}

}  // namespace

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    const int result = PMPI_Test(request, flag, status);
    const bool envelope = status != MPI_STATUS_IGNORE;
    if (result != MPI_SUCCESS || *flag != 0) {
        first_of_round = nullptr;
        owes_sleep = false;
        next_sleep = shortest_sleep;
    } else if (envelope) {
        owes_sleep = true;
    } else if (first_of_round == nullptr) {
        first_of_round = request;
    } else if (first_of_round == request) {
        // All messages have been tested once, and none was complete.
        sleep_for(shortest_sleep);
        owes_sleep = false;
    }
    return result;
}

#ifndef __SANITIZE_THREAD__  // which replaces it too
extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
    using Unlock = int (*)(pthread_mutex_t*);
    static const auto unlock = reinterpret_cast<Unlock>(dlsym(RTLD_NEXT, "pthread_mutex_unlock"));
    const int result = unlock(mutex);
    if (owes_sleep) {
        owes_sleep = false;
        sleep_until_next_look();
    }
    return result;
}
#endif
