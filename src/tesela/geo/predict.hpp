#pragma once

#include "tesela/geo/likelihood.hpp"

#include <functional>
#include <vector>

namespace tesela::geo {

/// Of what the variance is given: a new observation, noise included (as gstat reports it), or the field without noise.
enum class PredictionOf : std::uint8_t { observation, signal };
inline constexpr Names<PredictionOf, 2> prediction_of_names{
    {{PredictionOf::observation, "observation"}, {PredictionOf::signal, "signal"}}};

struct PredictionOptions {
    PredictionOf of = PredictionOf::observation;
    /// Points that are predicted together; 0 means as many as keep a block of n×points doubles small.
    Index block = 0;
    /// Called with the number of points done.
    std::function<void(Index)> progress{};
};

struct Predictions {
    std::vector<double> mean;
    std::vector<double> variance;
    TrendEstimate trend{};  ///< as it was estimated for them
};

/// Kriging at new places, given by columns of coordinates as the observations are, with the covariates that the trend
/// uses: simple without a trend, ordinary with a constant one, universal with any other. The mean is that of the field
/// without noise, also at a point that was observed. Evaluates the likelihood at theta, then solves for a block of
/// points at a time, so that memory is bounded whatever their number. Throws NotPositiveDefinite unless the covariance
/// matrix is.
[[nodiscard]] Predictions predict(Likelihood& likelihood, const CovarianceParameters& theta, const Sites& sites,
                                  const PredictionOptions& options = {});

}  // namespace tesela::geo
