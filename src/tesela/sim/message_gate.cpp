#include "tesela/sim/internal/message_gate.hpp"

#include <algorithm>
#include <limits>

namespace tesela::sim {

MessageGate::MessageGate(const Platform& platform)
    : network_(platform),
      nodes_(static_cast<std::size_t>(network_.nodes())),
      waiting_(nodes_ * nodes_),
      source_released_(nodes_, 0),
      target_released_(nodes_, 0) {
    for (const Link& link : network_.links()) gates_.push_back({.capacity = link.bandwidth});
}

void MessageGate::wait(const SimulatedMessage& message) {
    waiting_[pair(message.from, message.to)].push(message);
    release(message.from, message.to);
}

void MessageGate::leave(const SimulatedMessage& message, double claimed) {
    for (const std::uint32_t l : network_.route(message.from, message.to)) {
        Gate& gate = gates_[l];
        gate.used = --gate.messages == 0 ? 0 : gate.used - claimed;
        // Whoever waits for an uplink may come from anywhere.
        if (l >= 2 * nodes_ && gate.refused) all_released_ = true;
        gate.refused = false;
    }
    release(message.from, message.to);
}

double MessageGate::claim_more(const SimulatedMessage& message, double limit) {
    const auto route = network_.route(message.from, message.to);
    for (const std::uint32_t l : route) limit = std::min(limit, gates_[l].left());
    if (limit <= 0) return 0;
    for (const std::uint32_t l : route) gates_[l].used += limit;
    return limit;
}

void MessageGate::release(std::int32_t from, std::int32_t to) {
    if (std::exchange(source_released_[static_cast<std::size_t>(from)], 1) == 0) sources_.push_back(from);
    if (std::exchange(target_released_[static_cast<std::size_t>(to)], 1) == 0) targets_.push_back(to);
}

void MessageGate::consider(std::int32_t from, std::int32_t to) {
    const Queue& queue = waiting_[pair(from, to)];
    if (!queue.empty()) candidates_.push(queue.top());
}

void MessageGate::consider_released() {
    const auto nodes = static_cast<std::int32_t>(nodes_);
    for (std::int32_t a = 0; all_released_ && a < nodes; ++a)
        for (std::int32_t b = 0; b < nodes; ++b) consider(a, b);
    if (!all_released_) {
        for (const std::int32_t a : sources_)
            for (std::int32_t b = 0; b < nodes; ++b) consider(a, b);
        for (const std::int32_t b : targets_)
            for (std::int32_t a = 0; a < nodes; ++a)
                if (source_released_[static_cast<std::size_t>(a)] == 0) consider(a, b);
    }
    for (const std::int32_t a : sources_) source_released_[static_cast<std::size_t>(a)] = 0;
    for (const std::int32_t b : targets_) target_released_[static_cast<std::size_t>(b)] = 0;
    sources_.clear();
    targets_.clear();
    all_released_ = false;
}

void MessageGate::open(const std::function<void(const SimulatedMessage&, const Rates&)>& start) {
    if (sources_.empty()) return;
    consider_released();
    while (!candidates_.empty()) {
        const SimulatedMessage message = candidates_.top();
        candidates_.pop();
        const Rates rates = try_claim(message);
        if (rates.claimed == 0) continue;
        waiting_[pair(message.from, message.to)].pop();
        consider(message.from, message.to);
        start(message, rates);
    }
    for (const std::uint32_t l : kept_) gates_[l].kept = false;
    kept_.clear();
}

MessageGate::Rates MessageGate::try_claim(const SimulatedMessage& message) {
    const auto route = network_.route(message.from, message.to);
    Rates rates{.alone = std::numeric_limits<double>::infinity()};
    double left = rates.alone;
    for (const std::uint32_t l : route) {
        rates.alone = std::min(rates.alone, gates_[l].capacity);
        left = std::min(left, gates_[l].kept ? 0 : gates_[l].left());
    }
    if (left < rates.alone / 2) {
        keep(route, rates.alone / 2);
        return rates;
    }
    rates.claimed = std::min(left, rates.alone);
    for (const std::uint32_t l : route) {
        gates_[l].used += rates.claimed;
        ++gates_[l].messages;
    }
    return rates;
}

/// Less urgent messages must not overtake one at a link that has too little left for it.
void MessageGate::keep(std::span<const std::uint32_t> route, double wanted) {
    for (const std::uint32_t l : route) {
        if (gates_[l].left() >= wanted) continue;
        gates_[l].refused = true;
        if (!std::exchange(gates_[l].kept, true)) kept_.push_back(l);
    }
}

}  // namespace tesela::sim
