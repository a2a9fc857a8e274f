#include "tesela/starpu/internal/courier.hpp"

#include <sys/prctl.h>

#include <ctime>
#include <utility>

namespace tesela::starpu {
namespace {

MPI_Request start(const Parcelled& m) {
    MPI_Request request = MPI_REQUEST_NULL;
    const auto bytes = static_cast<int>(m.bytes);
    if (m.direction == Parcelled::Direction::send)
        MPI_Isend(m.memory, bytes, MPI_BYTE, m.peer, m.tag, m.comm, &request);
    else
        MPI_Irecv(m.memory, bytes, MPI_BYTE, m.peer, m.tag, m.comm, &request);
    return request;
}

void sleep_a_moment() {
    const timespec moment{.tv_sec = 0, .tv_nsec = 40'000};
    nanosleep(&moment, nullptr);
}

}  // namespace

Courier::Courier() : thread_([this] { work(); }) {}

Courier::~Courier() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    came_.notify_one();
    thread_.join();
}

void Courier::carry(const Parcelled& message, Sending sending, std::function<void()> ended) {
    Waiting waiting{message, MPI_REQUEST_NULL, std::move(ended)};
    if (sending == Sending::by_workers) waiting.request = start(message);
    {
        const std::lock_guard lock(mutex_);
        new_.push_back(std::move(waiting));
    }
    came_.notify_one();
}

/// Takes over what has come; waits for something when nothing is under way. False at the end.
bool Courier::take_new() {
    std::vector<Waiting> come;
    {
        std::unique_lock lock(mutex_);
        if (requests_.empty()) came_.wait(lock, [&] { return stopping_ || !new_.empty(); });
        come = std::exchange(new_, {});
        if (come.empty() && requests_.empty() && stopping_) return false;
    }
    for (Waiting& waiting : come) {
        requests_.push_back(waiting.request == MPI_REQUEST_NULL ? start(waiting.message) : waiting.request);
        ended_.push_back(std::move(waiting.ended));
    }
    return true;
}

int Courier::look() {
    int count = 0;
    indices_.resize(requests_.size());
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), MPI_STATUSES_IGNORE);
    if (count == MPI_UNDEFINED) return 0;
    for (int k = 0; k < count; ++k) ended_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(k)])]();
    std::size_t kept = 0;
    for (std::size_t r = 0; r < requests_.size(); ++r) {
        if (requests_[r] == MPI_REQUEST_NULL) continue;
        requests_[kept] = requests_[r];
        if (kept != r) ended_[kept] = std::move(ended_[r]);
        ++kept;
    }
    requests_.resize(kept);
    ended_.resize(kept);
    return count;
}

void Courier::work() {
    // Otherwise the kernel makes 50 µs and more of a short sleep.
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    while (take_new())
        if (look() == 0) sleep_a_moment();
}

}  // namespace tesela::starpu
