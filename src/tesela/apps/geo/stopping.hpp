#pragma once

#include "tesela/apps/geo/fit.hpp"

namespace tesela::geo {

/// Adds a warning to a fit that ended at a limit of the user's before its search had converged: what it found is the
/// best so far and need not be a maximum.
void warn_if_stopped_early(FitResult& result);

}  // namespace tesela::geo
