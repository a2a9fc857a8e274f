#include "tesela/sim/internal/fair_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::sim {

FairShares::FairShares(std::span<const Link> links) {
    for (const Link& link : links) links_.push_back({.bandwidth = link.bandwidth});
}

void FairShares::add(std::uint32_t flow, std::span<const std::uint32_t> links) {
    if (flow >= flows_.size()) flows_.resize(flow + 1);
    flows_[flow] = {.links = links};
    for (const std::uint32_t l : links) {
        links_[l].flows.push_back(flow);
        changed_.push_back(l);
    }
}

void FairShares::remove(std::uint32_t flow) {
    for (const std::uint32_t l : flows_[flow].links) {
        auto& flows = links_[l].flows;
        flows.erase(std::find(flows.begin(), flows.end(), flow));
        changed_.push_back(l);
    }
}

std::span<const FairShares::Change> FairShares::update() {
    changes_.clear();
    collect();
    double share = 0;
    while (!met_.empty()) {
        const std::size_t position = scarcest();
        SharedLink& link = links_[met_[position]];
        met_[position] = met_.back();
        met_.pop_back();
        link.met = false;
        if (link.open == 0) continue;
        share = std::max(share, link.left / link.open);  // less only by rounding
        for (const std::uint32_t flow : link.flows)
            if (flows_[flow].open) settle(flow, share);
    }
    return changes_;
}

void FairShares::meet(std::uint32_t link) {
    SharedLink& shared = links_[link];
    if (std::exchange(shared.met, true)) return;
    shared.left = shared.bandwidth;
    shared.open = static_cast<std::uint32_t>(shared.flows.size());
    met_.push_back(link);
}

/// The links that changed, and all that share a flow with one of them.
void FairShares::collect() {
    for (const std::uint32_t l : changed_) meet(l);
    changed_.clear();
    std::size_t seen = 0;
    while (seen < met_.size())
        for (const std::uint32_t flow : links_[met_[seen++]].flows) {
            if (std::exchange(flows_[flow].open, true)) continue;
            for (const std::uint32_t l : flows_[flow].links) meet(l);
        }
}

/// Where the link with the least for each of its flows is; one that has none is found first.
std::size_t FairShares::scarcest() const {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < met_.size(); ++m) {
        const SharedLink& link = links_[met_[m]];
        if (link.open == 0) return m;
        const double share = link.left / link.open;
        if (share < least) {
            least = share;
            best = m;
        }
    }
    return best;
}

void FairShares::settle(std::uint32_t flow, double rate) {
    Flow& settled = flows_[flow];
    settled.open = false;
    for (const std::uint32_t l : settled.links) {
        links_[l].left -= rate;
        --links_[l].open;
    }
    // What differs by rounding alone is left as it is.
    if (std::abs(rate - settled.rate) <= 1e-12 * rate) return;
    changes_.push_back({flow, std::exchange(settled.rate, rate)});
}

}  // namespace tesela::sim
