#pragma once

#include "tesela/geo/conditioning.hpp"
#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/matrix_storage.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela::geo {

/// Differences of log-likelihoods below this tell nothing (a tenth of it moves a parameter by 1 % of its deviation).
inline constexpr double noticeable_difference = 1e-3;

/// Evaluations that a fit is thought to take, slopes and standard errors in units of these, where nobody knows yet: of
/// many observations, and of the part of them that serves to look for starts, or of all where they are few.
inline constexpr Index usual_evaluations = 60;
inline constexpr Index usual_evaluations_of_a_part = 400;

/// Why the search for the maximum ended. `roundoff_limited`: the likelihood still has a slope where it ended, along
/// which no step gains anything.
enum class StopReason : std::uint8_t { converged, max_evaluations, time_limit, roundoff_limited, interrupted };
inline constexpr Names<StopReason, 5> stop_reason_names{{{StopReason::converged, "converged"},
                                                         {StopReason::max_evaluations, "max_evaluations"},
                                                         {StopReason::time_limit, "time_limit"},
                                                         {StopReason::roundoff_limited, "roundoff_limited"},
                                                         {StopReason::interrupted, "interrupted"}}};
[[nodiscard]] constexpr std::string_view name(StopReason reason) { return name_in(stop_reason_names, reason); }

/// How a maximum is climbed to: quadratic models of values alone; slopes, whose changes tell the curvature; or slopes
/// and average information (Gilmour, Thompson and Cullis, Biometrics 51 (1995) 1440), which goes on by slopes where
/// that does not end soon.
enum class Optimizer : std::uint8_t { bobyqa, lbfgs, scoring };
inline constexpr Names<Optimizer, 3> optimizer_names{
    {{Optimizer::bobyqa, "bobyqa"}, {Optimizer::lbfgs, "lbfgs"}, {Optimizer::scoring, "scoring"}}};

/// What a fit warns of: estimates that the data do not determine, a matrix whose factor has few digits, other maxima
/// that are nearly as likely, a search that did not end at a maximum, a checkpoint on a full disk, and standard errors
/// that could not be had.
struct FitWarning {
    enum class Kind : std::uint8_t {
        at_lower_bound,
        at_upper_bound,
        flat,
        ill_conditioned,
        other_maximum,
        cut_short,
        checkpoint_lost,
        no_errors
    };
    Kind kind = Kind::flat;
    /// That it is about; the nugget where it is ill_conditioned, any where it is about the search.
    Parameter parameter = Parameter::sigma2;
    std::string text;
};

/// One evaluation on the way. A log-likelihood of −infinity means that Σ was not positive definite there.
struct FitProgress {
    Index evaluation = 0;
    Index points = 0;  ///< of the evaluation: fewer than there are while starts are looked for
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
    Optimizer optimizer = Optimizer::scoring;
    /// Points of the joint scan from which the search climbs.
    Index starts = 3;
    /// Of twice as many observations as this, or more, a part of at least so many serves to look for starts.
    Index scan_points = 500;
    /// A file in which evaluations are kept, and from which a search that was ended goes on; empty: none.
    std::string checkpoint{};
    std::function<void(const FitProgress&)> progress{};
    /// Called on every node before each evaluation of all observations, with how many there were: it may give the tiles
    /// of the likelihood to other owners.
    std::function<void(Likelihood& likelihood, Index evaluations)> between{};
    /// Asked on the first node before each evaluation; true ends the search with the best point so far.
    std::function<bool()> interrupted{};
};

/// How the matrix of the fit is stored whose evaluations are in this file; none where there is no file, or nothing in
/// it. Throws Error if it is no checkpoint.
[[nodiscard]] std::optional<MatrixStorage> storage_in_checkpoint(const std::string& file);

struct FitResult {
    CovarianceParameters theta;
    TrendEstimate trend;
    double log_likelihood = 0;
    /// Of the likelihood of all observations; how many of these came with slopes; and of a part of the observations.
    Index evaluations = 0;
    Index gradients = 0;
    Index scan_evaluations = 0;
    /// Climbs from different starts, and how many of them came to the maximum that is reported.
    Index climbs = 0;
    Index climbs_to_best = 0;
    /// The steepest slope that is left, per unit of a logarithm; −1 where none was computed (bobyqa).
    double slope = -1;
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

/// Observations that serve to look for starts, of so many.
[[nodiscard]] Index points_of_the_scan(Index observations, const FitOptions& options);

/// Maximum likelihood: a joint scan of the free parameters for starts, on a part of the observations where they are
/// many; a climb from the best few of them, and from the best members of the families that this one contains; then on
/// all observations from the best, and again as long as a look to the sides finds something better. Leaves the
/// likelihood evaluated at the estimate. Every node runs the same search on the same numbers. Throws
/// NotPositiveDefinite if no start gives a covariance matrix that is.
[[nodiscard]] FitResult fit(Likelihood& likelihood, const FitOptions& options = {});

/// Throws Error about points at the same place if the model has no noise that tells them apart; otherwise returns them,
/// for a note to the user.
[[nodiscard]] std::string check_duplicates(const Observations& observations, const Model& model);

}  // namespace tesela::geo
