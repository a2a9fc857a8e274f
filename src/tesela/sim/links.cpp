#include "tesela/sim/links.hpp"

#include <algorithm>

namespace tesela {
namespace {

std::size_t position_of(const Platform& platform, const std::string& name) {
    const auto found = std::ranges::find(platform.subnets, name, &Subnet::name);
    return static_cast<std::size_t>(found - platform.subnets.begin());
}

/// A subnet and those above it, as far as the top switch.
std::vector<std::size_t> up_from(const Platform& platform, std::size_t subnet) {
    std::vector<std::size_t> path;
    while (subnet < platform.subnets.size()) {
        path.push_back(subnet);
        subnet = position_of(platform, platform.subnets[subnet].parent);
    }
    return path;
}

}  // namespace

NetworkLinks::NetworkLinks(const Platform& platform) : subnets_(std::max<std::size_t>(1, platform.subnets.size())) {
    for (const NodeType& type : platform.node_types)
        for (Index n = 0; n < type.count; ++n) {
            Link half = type.nic;
            half.latency /= 2;
            links_.insert(links_.end(), 2, half);
            subnet_.push_back(platform.subnets.empty() ? 0 : position_of(platform, type.subnet));
        }
    const auto first = static_cast<std::uint32_t>(links_.size());
    for (const Subnet& subnet : platform.subnets) links_.insert(links_.end(), 2, subnet.uplink);

    between_.resize(subnets_ * subnets_);
    for (std::size_t a = 0; a < platform.subnets.size(); ++a)
        for (std::size_t b = 0; b < platform.subnets.size(); ++b) {
            auto up = up_from(platform, a);
            auto down = up_from(platform, b);
            while (!up.empty() && !down.empty() && up.back() == down.back()) {
                up.pop_back();
                down.pop_back();
            }
            auto& way = between_[a * subnets_ + b];
            for (const std::size_t s : up) way.push_back(first + 2 * static_cast<std::uint32_t>(s));
            for (auto s = down.rbegin(); s != down.rend(); ++s)
                way.push_back(first + 2 * static_cast<std::uint32_t>(*s) + 1);
        }
}

std::span<const std::uint32_t> NetworkLinks::route(std::int32_t from, std::int32_t to) const {
    const auto a = static_cast<std::size_t>(from);
    const auto b = static_cast<std::size_t>(to);
    route_.assign(1, static_cast<std::uint32_t>(2 * from));
    const auto& uplinks = between_[subnet_[a] * subnets_ + subnet_[b]];
    route_.insert(route_.end(), uplinks.begin(), uplinks.end());
    route_.push_back(static_cast<std::uint32_t>(2 * to + 1));
    return route_;
}

}  // namespace tesela
