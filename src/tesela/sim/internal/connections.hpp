#pragma once

#include "tesela/sim/links.hpp"
#include "tesela/sim/timeline.hpp"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace tesela::sim {

/// A message on its connection, since it was sent.
struct QueuedMessage {
    SimulatedMessage message;
    double start = 0;
};

/// From one node to another: its messages, the first of which is on its way.
struct Connection {
    std::vector<std::uint32_t> links{};
    double latency = 0;
    std::deque<QueuedMessage> queue{};
};

/// What messages that were admitted meet in any network: MPI has one connection from each node to each other, which
/// carries them one after the other in the order in which they were handed over. How connections share links is for the
/// network to say.
class Connections {
public:
    explicit Connections(const Platform& platform);

    [[nodiscard]] const NetworkLinks& network() const { return network_; }
    [[nodiscard]] Connection& operator[](std::uint32_t number) { return connections_[number]; }

    /// Puts a message behind the others of its connection, whose number it returns; if the queue was empty, it goes
    /// now.
    std::uint32_t add(const SimulatedMessage& message, double now);

private:
    [[nodiscard]] std::uint32_t number_of(std::int32_t from, std::int32_t to);

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    NetworkLinks network_;
    std::vector<std::uint32_t> numbers_;  // by source and target
    std::deque<Connection> connections_;  // they stay where they are
};

}  // namespace tesela::sim
