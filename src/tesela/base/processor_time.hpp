#pragma once

#include <algorithm>
#include <limits>

namespace tesela {

/// Seconds of processor time that all threads of this process have used.
[[nodiscard]] double processor_seconds();
/// That this thread has used: what else the machine does counts little.
[[nodiscard]] double thread_seconds();

/// The least that it used for so many calls of this work, one after the other; above 0, since clocks have a grain.
template <class Work>
[[nodiscard]] double least_thread_seconds(int times, const Work& work) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < times; ++k) {
        const double start = thread_seconds();
        work();
        least = std::min(least, thread_seconds() - start);
    }
    return std::max(least, 1e-9);
}

}  // namespace tesela
