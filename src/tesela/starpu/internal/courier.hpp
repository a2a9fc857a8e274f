#pragma once

#include "tesela/flow/exchange.hpp"

#include <mpi.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tesela::starpu {

/// A message of an exchange, from memory that stays until it is complete.
struct Parcelled {
    enum class Direction : std::uint8_t { send, receive };
    Direction direction = Direction::send;
    void* memory = nullptr;
    Index bytes = 0;
    int peer = 0;
    int tag = 0;
    MPI_Comm comm = MPI_COMM_NULL;
};

/// Carries the messages of exchanges: hands them to MPI and says when they are complete. Its thread sleeps while none
/// is under way.
class Courier {
public:
    Courier();
    /// Nothing may be under way.
    ~Courier();
    Courier(const Courier&) = delete;
    Courier& operator=(const Courier&) = delete;
    Courier(Courier&&) = delete;
    Courier& operator=(Courier&&) = delete;

    /// Starts a message, in this thread or in the courier's; `ended` is called in the courier's thread.
    void carry(const Parcelled& message, Sending sending, std::function<void()> ended);

private:
    struct Waiting {
        Parcelled message;
        MPI_Request request = MPI_REQUEST_NULL;  // null: the courier still has to start it
        std::function<void()> ended;
    };
    void work();
    bool take_new();
    /// How many messages ended.
    int look();

    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<Waiting> new_;
    bool stopping_ = false;
    // The courier's own:
    std::vector<MPI_Request> requests_;
    std::vector<std::function<void()>> ended_;
    std::vector<int> indices_;
    std::thread thread_;
};

}  // namespace tesela::starpu
