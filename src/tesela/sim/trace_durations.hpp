#pragma once

#include "tesela/platform/platform.hpp"
#include "tesela/trace/trace.hpp"

namespace tesela {

/// Adds to the trace of a real run how long its tasks take on each kind of worker of their nodes, as a platform has it
/// (such as one that `tesela calibrate` wrote), so that lower_bounds can be told. Throws Error if the platform has
/// fewer nodes than the run, no workers of a kind that the run had, or no duration for a kernel on any worker of a
/// node.
void add_durations(trace::Trace& trace, const Platform& platform);

}  // namespace tesela
