#pragma once

#include "tesela/pictures/trace_picture.hpp"
#include "tesela/platform/platform.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <functional>
#include <string>

namespace tesela::bench {

/// The trace of a run that `simulate` simulates on the platform while it tells the observer, by way of a file that is
/// removed again.
[[nodiscard]] TitledTrace traced_run(const std::string& title, const Platform& platform, CriticalWorker critical,
                                     const std::function<void(ScheduleObserver& observer)>& simulate);

/// A likelihood evaluation in the colours of the paper's figures, with the steps of Cholesky.
[[nodiscard]] TracePicture evaluation_picture(const std::string& title);

/// Multidimensional scaling by kernels, as the paper has it, with the rows that are read and multiplied.
[[nodiscard]] TracePicture scaling_picture(const std::string& title);

}  // namespace tesela::bench
