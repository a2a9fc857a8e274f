#pragma once

#include "tesela/base/dependencies.hpp"
#include "tesela/trace/analysis.hpp"

#include <cstddef>
#include <vector>

namespace tesela::trace {

inline constexpr double nanosecond = 1e-9;
[[nodiscard]] inline double seconds(Time time) { return static_cast<double>(time) / 1e9; }
/// NaN where the time is not known.
[[nodiscard]] double seconds_or_nan(Time time);

/// A core, or a card with all workers of the trace that share it: what analyses count as one worker.
struct Processor {
    std::size_t first_worker = 0;  ///< in the worker table
    std::vector<Interval> busy{};  ///< disjoint, in order
};
/// In the order of the worker table.
[[nodiscard]] std::vector<Processor> processors_of(const Trace& trace);

/// Nanoseconds of the intervals that lie within a window.
[[nodiscard]] Time covered(const std::vector<Interval>& intervals, const Interval& window);

/// What a recorded use means for the order of tasks.
[[nodiscard]] Touch touch_of(Use use);

}  // namespace tesela::trace
