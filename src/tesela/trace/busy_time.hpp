#pragma once

#include "tesela/base/index.hpp"
#include "tesela/trace/trace.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

namespace tesela::trace {

/// A time as traces have it.
[[nodiscard]] inline Time nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

struct Interval {
    Time begin = 0;
    Time end = 0;
    [[nodiscard]] Time length() const { return end - begin; }
};

/// When a processor is busy: a core, or a card, which is one processor however many streams share it, and is busy while
/// any kernel runs on it. It is told of starts and ends of kernels in order of time.
class BusyProcessor {
public:
    void start(Time at) {
        if (kernels_++ == 0) since_ = at;
    }
    /// The time that it was busy, if no other kernel goes on.
    [[nodiscard]] std::optional<Interval> end(Time at) {
        if (--kernels_ > 0) return std::nullopt;
        return Interval{since_, at};
    }

private:
    Time since_ = 0;
    std::int32_t kernels_ = 0;
};

/// The share of the time of so many processors in which they were busy, from the first task that was created (or
/// started) to the end of the last: what `utilisation` is in traces, simulations and plans.
[[nodiscard]] inline double share_of_time(Time busy, Index processors, Time length) {
    const double available = static_cast<double>(processors) * static_cast<double>(length);
    return available > 0 ? static_cast<double>(busy) / available : 0;
}

}  // namespace tesela::trace
