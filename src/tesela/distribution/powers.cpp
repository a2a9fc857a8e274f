#include "tesela/distribution/powers.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela {

Powers::Powers(Index nodes, const std::vector<double>& powers) {
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    if (!powers.empty() && static_cast<Index>(powers.size()) != nodes)
        throw Error("{} powers do not fit {} nodes", powers.size(), nodes);
    for (std::size_t p = 0; p < powers.size(); ++p)
        if (!(powers[p] > 0) || !std::isfinite(powers[p]))
            throw Error("the power of node {} must be greater than 0; it is {}", p, powers[p]);
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
