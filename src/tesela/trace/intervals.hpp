#pragma once

#include "tesela/base/dependencies.hpp"
#include "tesela/trace/analysis.hpp"

#include <vector>

namespace tesela::trace {

inline constexpr double nanosecond = 1e-9;
[[nodiscard]] inline double seconds(Time time) { return static_cast<double>(time) / 1e9; }
/// NaN where the time is not known.
[[nodiscard]] double seconds_or_nan(Time time);

/// When each worker was in a kernel: disjoint, in order; workers in the order of the worker table.
[[nodiscard]] std::vector<std::vector<Interval>> busy_intervals(const Trace& trace);

/// Nanoseconds of the intervals that lie within a window.
[[nodiscard]] Time covered(const std::vector<Interval>& intervals, const Interval& window);

/// What a recorded use means for the order of tasks.
[[nodiscard]] Touch touch_of(Use use);

}  // namespace tesela::trace
