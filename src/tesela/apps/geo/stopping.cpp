#include "tesela/apps/geo/stopping.hpp"

namespace tesela::geo {

void warn_if_stopped_early(FitResult& result) {
    const bool by_time = result.stop_reason == StopReason::time_limit;
    if (!by_time && result.stop_reason != StopReason::max_evaluations) return;
    result.warnings.insert(
        result.warnings.begin(),
        FitWarning{
            .kind = FitWarning::Kind::stopped_early,
            .text = fmt::format(
                "the search ended at the limit of its {} (--{}) before it had converged: this is the best "
                "of {} evaluations, not a maximum; allow more",
                by_time ? "time" : "evaluations", by_time ? "max-seconds" : "max-evaluations", result.evaluations)});
}

}  // namespace tesela::geo
