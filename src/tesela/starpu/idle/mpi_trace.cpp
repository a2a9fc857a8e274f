// Linked into executables: passes every MPI_Isend, MPI_Issend and MPI_Irecv on, and tells the tracer about it when a
// trace is written. Without it a trace knows when a message was asked for and when it was complete, but not when it
// went to the network.

#include "tesela/starpu/internal/message_hook.hpp"

#include <mpi.h>

namespace {

using tesela::starpu::message_hook;
using tesela::starpu::StartedMessage;

std::uint64_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

}  // namespace

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    if (const auto hook = message_hook.load(std::memory_order_acquire))
        hook({StartedMessage::Direction::send, buffer, bytes_of(count, type), peer, tag, comm});
    return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

extern "C" int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                          MPI_Request* request) {
    if (const auto hook = message_hook.load(std::memory_order_acquire))
        hook({StartedMessage::Direction::send, buffer, bytes_of(count, type), peer, tag, comm});
    return PMPI_Issend(buffer, count, type, peer, tag, comm, request);
}

extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    if (const auto hook = message_hook.load(std::memory_order_acquire))
        hook({StartedMessage::Direction::receive, buffer, bytes_of(count, type), peer, tag, comm});
    return PMPI_Irecv(buffer, count, type, peer, tag, comm, request);
}
