#pragma once

#include "tesela/net/nodes.hpp"

#include <mpi.h>

namespace tesela::net {

/// Throws Error with MPI's text unless the code of a call is MPI_SUCCESS.
void check(int code, const char* what);
/// The same where nobody could catch it: ends the job.
void check_or_end(int code, const char* what);

/// Waits without keeping a core busy.
void wait_politely(MPI_Request& request, const char* what);

/// Of all nodes, those on the same machine.
struct OnThisMachine {};

/// A communicator of one's own, whose errors are returned; every node makes it at the same time.
class Nodes::Communicator {
public:
    explicit Communicator(MPI_Comm of);
    Communicator(const Communicator& of, OnThisMachine);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    Communicator(Communicator&&) = delete;
    Communicator& operator=(Communicator&&) = delete;
    [[nodiscard]] MPI_Comm get() const { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace tesela::net
