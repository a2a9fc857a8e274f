#pragma once

#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tesela {

/// The network of a platform as links of one direction each, and the way of a message over them: out of its source,
/// up and down the uplinks of subnets as far as needed, into its target.
class NetworkLinks {
public:
    explicit NetworkLinks(const Platform& platform);

    /// Links 2p and 2p + 1 lead out of and into node p; those after them up from and down to each subnet. The latency
    /// of an interface is that of a message to another like it: each of the two has half of it.
    [[nodiscard]] const std::vector<Link>& links() const { return links_; }
    [[nodiscard]] Index nodes() const { return static_cast<Index>(subnet_.size()); }
    /// The links of a message, in order; valid until the next call.
    [[nodiscard]] std::span<const std::uint32_t> route(std::int32_t from, std::int32_t to) const;

private:
    std::vector<Link> links_;
    std::vector<std::size_t> subnet_;                  // of each node
    std::vector<std::vector<std::uint32_t>> between_;  // uplinks from subnet to subnet
    std::size_t subnets_ = 1;
    mutable std::vector<std::uint32_t> route_;
};

}  // namespace tesela
