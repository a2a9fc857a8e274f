#include "tesela/sim/internal/connections.hpp"

namespace tesela::sim {

Connections::Connections(const Platform& platform)
    : network_(platform),
      numbers_(static_cast<std::size_t>(network_.nodes() * network_.nodes()), none) {}

std::uint32_t Connections::add(const SimulatedMessage& message, double now) {
    const std::uint32_t number = number_of(message.from, message.to);
    connections_[number].queue.push_back({message, now});
    return number;
}

std::uint32_t Connections::number_of(std::int32_t from, std::int32_t to) {
    std::uint32_t& number = numbers_[static_cast<std::size_t>(from * network_.nodes() + to)];
    if (number != none) return number;
    number = static_cast<std::uint32_t>(connections_.size());
    const auto route = network_.route(from, to);
    Connection& connection = connections_.emplace_back();
    connection.links.assign(route.begin(), route.end());
    for (const std::uint32_t l : route) connection.latency += network_.links()[l].latency;
    return number;
}

}  // namespace tesela::sim
