#pragma once

#include "tesela/apps/geo/conditioning.hpp"
#include "tesela/apps/geo/likelihood.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tesela::geo {

/// Why the search for the maximum ended.
enum class StopReason : std::uint8_t { converged, max_evaluations, time_limit, roundoff_limited };
inline constexpr Names<StopReason, 4> stop_reason_names{{{StopReason::converged, "converged"},
                                                         {StopReason::max_evaluations, "max_evaluations"},
                                                         {StopReason::time_limit, "time_limit"},
                                                         {StopReason::roundoff_limited, "roundoff_limited"}}};
[[nodiscard]] constexpr std::string_view name(StopReason reason) { return name_in(stop_reason_names, reason); }

/// What a fit warns of: estimates that the data do not determine, a matrix whose factor has few digits, and a search
/// that was not allowed to end (see warn_if_stopped_early).
struct FitWarning {
    enum class Kind : std::uint8_t { at_lower_bound, at_upper_bound, flat, ill_conditioned, stopped_early };
    Kind kind = Kind::flat;
    Parameter parameter = Parameter::sigma2;  ///< that it is about; the nugget where it is ill_conditioned
    std::string text{};
};

/// One evaluation on the way. A log-likelihood of −infinity means that Σ was not positive definite there.
struct FitProgress {
    Index evaluation = 0;
    CovarianceParameters theta;
    double log_likelihood = 0;
    double best = 0;
    double seconds = 0;
};

struct FitOptions {
    Index max_evaluations = 1000;
    /// 0: no limit.
    double max_seconds = 0;
    /// The search ends when no free parameter moves by more than this fraction.
    double tolerance = 1e-4;
    std::function<void(const FitProgress&)> progress{};
};

struct FitResult {
    CovarianceParameters theta;
    TrendEstimate trend;
    double log_likelihood = 0;
    Index evaluations = 0;
    double seconds = 0;
    StopReason stop_reason = StopReason::converged;
    Conditioning conditioning{};  ///< of the covariance matrix at the estimate
    std::vector<FitWarning> warnings;
    /// The bounds that were searched, by parameter; both are the value where it is fixed. Those of a profiled sigma2
    /// are 0 and infinity, those of a nugget searched with it are multiples of sigma2.
    struct Bounds {
        double lower = 0;
        double upper = 0;
    };
    std::array<Bounds, all_parameters.size()> bounds{};
};

/// Maximum likelihood: a coarse scan for a start, then BOBYQA on the logarithms of the free parameters, again from
/// where it ended until that gains nothing. Leaves the likelihood evaluated at the estimate. Every node runs the same
/// search on the same numbers. Throws NotPositiveDefinite if no start gives a covariance matrix that is.
[[nodiscard]] FitResult fit(Likelihood& likelihood, const FitOptions& options = {});

/// Throws Error about points at the same place if the model has no noise that tells them apart; otherwise returns them,
/// for a note to the user.
[[nodiscard]] std::string check_duplicates(const Observations& observations, const Model& model);

}  // namespace tesela::geo
