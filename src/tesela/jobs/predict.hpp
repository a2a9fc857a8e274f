#pragma once

#include "tesela/geo/cross_validation.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/jobs/evaluation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tesela::jobs {

/// Predictions by a model at places, which outlive it.
struct PredictRequest {
    const geo::FittedModel& fitted;
    const geo::Sites& places;
    geo::PredictionOptions options{};
    Look look = Look::at_ranks;
};

/// Seconds, about: of the factor, and then of all places.
struct PredictionTime {
    double factor = 0;
    double places = 0;
};
/// By how fast cores are at covariances and products; none where it is not worth a measurement, or no time to speak of.
/// Every node calls it.
[[nodiscard]] std::optional<PredictionTime> expected_time(Engine& engine, const PredictRequest& request,
                                                          const geo::ResolvedEvaluation& resolved);

/// A coefficient of the trend, which is estimated again for predictions, that is not as the model has it.
struct OtherCoefficient {
    std::string name;
    double estimated = 0;
    double in_model = 0;
};

struct Predicted {
    geo::Predictions predictions{};
    geo::LikelihoodOptions options{};  ///< of the matrix that was used
    Doubts doubts{};
    std::optional<OtherCoefficient> other_coefficient{};
    std::optional<CompressedMatrix> compressed{};
};
/// Throws NotPositiveDefinite unless the covariance matrix is.
[[nodiscard]] Predicted predict(Stream& stream, const PredictRequest& request, const geo::ResolvedEvaluation& resolved);

/// Observations that are predicted although they are known, by a model that outlives it: fold after fold from the
/// others, or such as are held out.
struct ValidateRequest {
    const geo::FittedModel& fitted;
    geo::EvaluationRequest evaluation{};
    geo::Folds folds{};
    std::optional<geo::Observations> held_out{};
};
struct Validation {
    geo::Predictions predictions{};
    Doubts doubts{};
};
[[nodiscard]] Validation validate(Stream& stream, const ValidateRequest& request);

/// Fields to be drawn at points, with the mean there added; none: that of the field alone.
struct SampleRequest {
    geo::Field field;
    std::vector<std::vector<double>> points;
    std::vector<double> mean{};
    std::uint64_t seed = 1;
    Index draws = 1;
    geo::EvaluationRequest evaluation{};
};
[[nodiscard]] std::vector<std::vector<double>> sample(Stream& stream, const SampleRequest& request);

}  // namespace tesela::jobs
