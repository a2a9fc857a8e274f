#pragma once

#include "tesela/sim/links.hpp"
#include "tesela/sim/timeline.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace tesela::sim {

/// Lets messages go by priority (larger first, then by number) when the links on their way have room: each link is
/// claimed up to its capacity, and a message starts with at least half of the rate that it would have alone. A link
/// that has too little left is kept for the most urgent message that waits for it.
class MessageGate {
public:
    explicit MessageGate(const Platform& platform);

    [[nodiscard]] const NetworkLinks& network() const { return network_; }

    void wait(const SimulatedMessage& message);
    /// A message has left: what it had claimed is free.
    void leave(const SimulatedMessage& message, double claimed);

    /// Starts what can start now; `start` is told of each message, its full rate and what it claims of it.
    struct Rates {
        double alone = 0;
        double claimed = 0;
    };
    void open(const std::function<void(const SimulatedMessage&, const Rates&)>& start);

    /// What a message under way may claim more on all its links, up to a limit.
    double claim_more(const SimulatedMessage& message, double limit);

private:
    struct Gate {
        double capacity = 0;
        double used = 0;
        std::int32_t messages = 0;
        bool kept = false;     ///< for a more urgent message
        bool refused = false;  ///< somebody waits for it
        [[nodiscard]] double left() const { return capacity - used; }
    };
    struct After {
        bool operator()(const SimulatedMessage& a, const SimulatedMessage& b) const {
            return a.priority != b.priority ? a.priority < b.priority : a.id > b.id;
        }
    };
    using Queue = std::priority_queue<SimulatedMessage, std::vector<SimulatedMessage>, After>;

    [[nodiscard]] std::size_t pair(std::int32_t from, std::int32_t to) const {
        return static_cast<std::size_t>(from) * nodes_ + static_cast<std::size_t>(to);
    }
    void release(std::int32_t from, std::int32_t to);
    void consider(std::int32_t from, std::int32_t to);
    void consider_released();
    [[nodiscard]] Rates try_claim(const SimulatedMessage& message);
    void keep(std::span<const std::uint32_t> route, double wanted);

    NetworkLinks network_;
    std::size_t nodes_;
    std::vector<Gate> gates_;
    std::vector<Queue> waiting_;  // per source and target
    Queue candidates_;
    std::vector<std::uint32_t> kept_;
    // Sources and targets that something may have changed for since the gate was last opened.
    std::vector<std::uint8_t> source_released_;
    std::vector<std::uint8_t> target_released_;
    std::vector<std::int32_t> sources_;
    std::vector<std::int32_t> targets_;
    bool all_released_ = false;
};

}  // namespace tesela::sim
