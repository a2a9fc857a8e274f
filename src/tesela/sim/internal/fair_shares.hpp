#pragma once

#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tesela::sim {

/// Shares links among flows so that no flow could have more without another, that has no more than it, having less
/// (max-min fair, as TCP aims at): the link with the least for each of its flows is divided equally among them, then
/// the next with what is left.
class FairShares {
public:
    explicit FairShares(std::span<const Link> links);

    /// A flow over these links, which stay where they are until it is removed. It has a rate after the next update.
    void add(std::uint32_t flow, std::span<const std::uint32_t> links);
    void remove(std::uint32_t flow);
    [[nodiscard]] bool changed() const { return !changed_.empty(); }
    [[nodiscard]] double rate(std::uint32_t flow) const { return flows_[flow].rate; }

    /// New rates for whoever meets, over any number of others, what was added or removed since the last time: returns
    /// the flows whose rates are others now; valid until the next call.
    struct Change {
        std::uint32_t flow = 0;
        double before = 0;
    };
    [[nodiscard]] std::span<const Change> update();

private:
    struct Flow {
        std::span<const std::uint32_t> links{};
        double rate = 0;
        bool open = false;  ///< has no new rate yet
    };
    struct SharedLink {
        double bandwidth = 0;
        double left = 0;
        std::uint32_t open = 0;  ///< flows without a new rate
        bool met = false;
        std::vector<std::uint32_t> flows{};
    };
    void meet(std::uint32_t link);
    void collect();
    [[nodiscard]] std::size_t scarcest() const;
    void settle(std::uint32_t flow, double rate);

    std::vector<SharedLink> links_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> changed_;  // links whose flows are others
    std::vector<std::uint32_t> met_;
    std::vector<Change> changes_;
};

}  // namespace tesela::sim
