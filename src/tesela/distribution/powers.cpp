#include "tesela/distribution/powers.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <numeric>

namespace tesela {

void require_usable_power(std::size_t node, double power) {
    constexpr double least = 1e-100, most = 1e100;
    if (power != 0 && !(power >= least && power <= most))
        throw Error("the power of node {} must be 0 or from {} to {}; it is {}", node, least, most, power);
}

Powers::Powers(Index nodes, const std::vector<double>& powers) {
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    if (!powers.empty() && static_cast<Index>(powers.size()) != nodes)
        throw Error("{} powers do not fit {} nodes", powers.size(), nodes);
    for (std::size_t p = 0; p < powers.size(); ++p) {
        require_usable_power(p, powers[p]);
        if (powers[p] == 0) throw Error("the power of node {} must be greater than 0; it is 0", p);
    }
    equal_ = std::ranges::all_of(powers, [&](double power) { return power == powers.front(); });
    powers_ = equal_ ? std::vector<double>(static_cast<std::size_t>(nodes), 1.0) : powers;
    total_ = std::accumulate(powers_.begin(), powers_.end(), 0.0);
}

double Powers::longest(const std::vector<double>& loads) const {
    double longest = 0;
    for (Index node = 0; node < nodes(); ++node)
        longest = std::max(longest, time(node, loads[static_cast<std::size_t>(node)]));
    return longest;
}

}  // namespace tesela
