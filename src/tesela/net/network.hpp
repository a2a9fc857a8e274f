#pragma once

#include "tesela/base/index.hpp"

#include <vector>

namespace tesela {
namespace net {
class Nodes;
}

/// How long a message of one size takes from one node to the other, one way.
struct MessageTime {
    Index bytes = 0;
    double seconds = 0;
};

/// What the network between two nodes does, by MPI alone: the engine's own protocol comes on top.
struct NetworkTimes {
    double latency = 0;                  ///< seconds of an empty message
    double bandwidth = 0;                ///< bytes/s of the largest message, one direction at a time
    double bidirectional_bandwidth = 0;  ///< bytes/s in each direction when both send the largest message at once
    std::vector<MessageTime> points;     ///< by increasing size
};

struct NetworkOptions {
    int first = 0;
    int second = 1;
    /// Sizes double from 1 KiB up to at most this.
    Index largest_message = Index{16} << 20;
    /// Seconds for each size, about.
    double seconds_per_size = 0.05;
};

/// Times messages to and fro between two nodes, medians over many, on a communicator of its own. Every node calls it,
/// with nothing pending; all get the same result. Throws Error unless the two are different nodes.
[[nodiscard]] NetworkTimes measure_network(const net::Nodes& nodes, const NetworkOptions& options = {});

}  // namespace tesela
