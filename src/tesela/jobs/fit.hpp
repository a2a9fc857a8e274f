#pragma once

#include "tesela/jobs/evaluation.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace tesela::jobs {

/// Where standard errors come from.
enum class ErrorsFrom : std::uint8_t { expected, observed, average, none };
inline constexpr Names<ErrorsFrom, 4> errors_from_names{{{ErrorsFrom::expected, "expected"},
                                                         {ErrorsFrom::observed, "observed"},
                                                         {ErrorsFrom::average, "average"},
                                                         {ErrorsFrom::none, "none"}}};

/// A fit that is asked for; what is left out is decided.
struct FitRequest {
    geo::Observations observations;
    geo::Model model;
    geo::EvaluationRequest evaluation{};  ///< without its need for slopes, which follows from what is below
    geo::FitOptions search{};             ///< without its optimizer, and without who is to be told
    std::optional<geo::Optimizer> optimizer{};
    std::optional<ErrorsFrom> errors{};
    double level = 0.95;  ///< of intervals
    std::vector<geo::Parameter> profile{};
};

/// What is done.
struct ResolvedFit {
    geo::ResolvedEvaluation evaluation{};
    geo::Optimizer optimizer = geo::Optimizer::scoring;
    ErrorsFrom errors = ErrorsFrom::expected;
    /// Matrices of the size of the covariance matrix that it holds at once: it, its inverse, and derivatives.
    double matrices_held = 1;
    /// In evaluations of all observations, that it takes as far as anybody knows.
    double evaluations = 1;
};

/// What is asked of the evaluations of a fit, with what the fit needs slopes for.
[[nodiscard]] geo::EvaluationRequest evaluation_of(const FitRequest& request);
/// The same, and the storage in the checkpoint that it goes on from.
[[nodiscard]] geo::EvaluationFacts facts_of(RankSampler& sampler, const FitRequest& request);

/// What can be refused without knowing the machine, before it is started: as resolve(), and points at one place.
/// Returns what is to be noted. Throws Refusal and Error.
[[nodiscard]] std::string check(const FitRequest& request, const geo::EvaluationFacts& facts);

/// What a compressed matrix has no derivatives for is searched for by values alone, and has no standard errors.
[[nodiscard]] ResolvedFit resolve(const FitRequest& request, geo::ResolvedEvaluation evaluation);
/// resolve() by what was asked for, what is known and which nodes there are alone. Throws Refusal.
[[nodiscard]] inline ResolvedFit resolve(const FitRequest& request, const geo::EvaluationFacts& facts,
                                         const Machine& machine) {
    return resolve(request, geo::resolve(evaluation_of(request), facts, machine));
}
/// On all nodes, which come to the same (see resolve_together()).
[[nodiscard]] ResolvedFit resolve_together(Engine& engine, const FitRequest& request,
                                           const geo::EvaluationFacts& facts);

/// What a fit would take.
struct FitEstimate {
    std::vector<double> bytes_per_node{};
    double flops = 0;          ///< of an evaluation
    double product_flops = 0;  ///< of a core of the slowest node, per second
    double seconds_per_evaluation = 0;
    [[nodiscard]] double seconds() const { return evaluations * seconds_per_evaluation; }
    double evaluations = 0;
};
/// Runs an evaluation where that is quick: few observations wait for more than products. Every node calls it.
[[nodiscard]] FitEstimate estimate(Stream& stream, const FitRequest& request, const ResolvedFit& resolved);

/// What a fit does one after the other.
enum class FitStage : std::uint8_t { search, errors, profiles };
/// Who is told of a fit while it runs, and who may end it.
struct FitObserver {
    std::function<void(FitStage)> begins{};
    std::function<void(const geo::FitProgress&)> progress{};
    std::function<void(geo::Likelihood&, Index evaluations)> between{};
    std::function<void(geo::Parameter, Index evaluations)> profiling{};
    std::function<bool()> interrupted{};
};

/// A model, and what there is to say of it.
struct Fit {
    geo::FittedModel fitted{};  ///< with what was decided in its configuration
    Doubts doubts{};            ///< of a compressed matrix; others are warnings of the result
    std::optional<CompressedMatrix> compressed{};
    bool interrupted = false;
};
/// Fits, with standard errors and profiles; where these cannot be had the fit is kept, with a warning. Every node calls
/// it and gets the same.
[[nodiscard]] Fit fit(Stream& stream, const FitRequest& request, const ResolvedFit& resolved,
                      const FitObserver& observer = {});

}  // namespace tesela::jobs
