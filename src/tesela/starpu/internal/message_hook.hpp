#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

namespace tesela::starpu {

/// A message that is handed to MPI now.
struct StartedMessage {
    enum class Direction : std::uint8_t { send, receive };
    Direction direction = Direction::send;
    const void* buffer = nullptr;
    std::uint64_t bytes = 0;
    int peer = 0;
    int tag = 0;
    MPI_Comm comm = MPI_COMM_NULL;
};

/// Called for each MPI_Isend, MPI_Issend and MPI_Irecv of an executable that links tesela::mpi_idle; null when nothing
/// is traced.
using MessageHook = void (*)(const StartedMessage&);
extern std::atomic<MessageHook> message_hook;

}  // namespace tesela::starpu
