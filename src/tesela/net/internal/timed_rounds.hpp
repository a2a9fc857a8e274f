#pragma once

#include <vector>

namespace tesela::net {

constexpr int fewest_rounds = 8;
constexpr int most_rounds = 2000;

/// Seconds of rounds that two nodes play with each other: as many as fit into `seconds`, a few at least. On a machine
/// that is busy otherwise a round can take a thousand times as long as the one before, so the time is looked at every
/// few rounds. `timed` plays one and returns its seconds; `agree` takes whether this node would go on and returns
/// whether both do. The first rounds, which fill MPI's own buffers and settle its protocol, do not count.
template <class Timed, class Agree>
std::vector<double> timed_rounds(double seconds, const Timed& timed, const Agree& agree) {
    for (int r = 0; r < fewest_rounds; ++r) timed();
    std::vector<double> times;
    double used = 0;
    do {
        for (int r = 0; r < fewest_rounds; ++r) used += times.emplace_back(timed());
    } while (agree(used < seconds && times.size() < most_rounds));
    return times;
}

}  // namespace tesela::net
