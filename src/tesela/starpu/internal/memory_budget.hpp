#pragma once

#include "tesela/base/index.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::starpu {

/// Bytes that a matrix has reserved on each node.
using Reservation = std::vector<double>;

/// A tile that goes from node to node; no node where the caller has memory for it, which needs no reservation.
struct TileMove {
    double bytes = 0;
    std::optional<NodeId> from;
    std::optional<NodeId> to;
};

/// What the nodes must hold at this point of the streams. Reservations are counted for all nodes and alike on each, so
/// that all refuse a matrix or a move alike; copies of other nodes' tiles only for this one.
class MemoryBudget {
public:
    MemoryBudget(std::vector<double> bytes_of_nodes, NodeId me)
        : bytes_(std::move(bytes_of_nodes)),
          reserved_(bytes_.size(), 0),
          me_(static_cast<std::size_t>(me.number())) {}

    [[nodiscard]] const std::vector<double>& bytes_of_nodes() const { return bytes_; }
    [[nodiscard]] double my_bytes() const { return bytes_[me_]; }

    /// Throws Error if some node has too little left for its tiles of a matrix; then nothing is reserved.
    void reserve(const std::string& matrix, const Reservation& wanted);
    void release(const Reservation& reservation);
    /// A tile takes its reservation along. False if the node that it goes to has no room for it; then nothing changes.
    [[nodiscard]] bool move(Reservation& reservation, const TileMove& tile);

    /// This node holds more copies, or fewer. In the order of the stream what it holds must have room, since what later
    /// steps give back would come too late: false if it has none.
    [[nodiscard]] bool take_copies(Index bytes);
    void drop_copies(Index bytes) { copies_ -= bytes; }

private:
    [[nodiscard]] double my_reserved() const;

    std::vector<double> bytes_;
    mutable std::mutex mutex_;
    std::vector<double> reserved_;  // per node
    std::atomic<Index> copies_{0};
    std::size_t me_;
};

}  // namespace tesela::starpu
