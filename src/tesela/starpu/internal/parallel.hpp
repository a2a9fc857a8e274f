#pragma once

#include "tesela/flow/status.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace tesela::starpu {

/// Throws Error with MPI's text unless the code of a call is MPI_SUCCESS.
void check_mpi(int code, const char* what);

/// The nodes of this run as MPI knows them; alone, without MPI started, when the process was not started in parallel.
class Parallel {
public:
    Parallel();

    [[nodiscard]] bool active() const { return active_; }
    [[nodiscard]] int node() const { return node_; }
    [[nodiscard]] int nodes() const { return nodes_; }
    /// Nodes of this run on the same machine.
    [[nodiscard]] int nodes_here() const { return nodes_here_; }
    /// This node's number among them.
    [[nodiscard]] int number_here() const { return number_here_; }

    // Collective operations; every node calls them in the same order per communicator.
    [[nodiscard]] MPI_Comm duplicate() const;
    [[nodiscard]] Status agree(MPI_Comm comm, const Status& status) const;
    [[nodiscard]] double max(double value) const;
    /// Whether all nodes on this machine bring the same text.
    [[nodiscard]] bool alike_here(const std::string& text) const;
    [[nodiscard]] std::vector<double> gather(double value) const;
    [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;

private:
    bool active_ = false;
    int node_ = 0;
    int nodes_ = 1;
    int nodes_here_ = 1;
    int number_here_ = 0;
};

}  // namespace tesela::starpu
