#pragma once

#include "tesela/base/clock.hpp"

#include <algorithm>
#include <limits>

namespace tesela::bench {

/// Seconds that a call took.
template <class Work>
double seconds_of(Work work) {
    const auto start = Clock::now();
    work();
    return seconds_since(start);
}

/// The best of several interleaved measurements: what the machine can do when nothing disturbs it.
class Best {
public:
    void add(double seconds) { best_ = std::min(best_, seconds); }
    [[nodiscard]] double seconds() const { return best_; }

private:
    double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace tesela::bench
