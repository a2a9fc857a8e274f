#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace tesela::bench {

/// Seconds that a call took.
template <class Work>
double seconds_of(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
