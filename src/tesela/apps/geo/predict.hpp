#pragma once

#include "tesela/apps/geo/likelihood.hpp"

#include <functional>
#include <vector>

namespace tesela::geo {

/// Of what the variance is given: a new observation, noise included (as gstat reports it), or the field without noise.
enum class PredictionOf : std::uint8_t { observation, signal };

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
};

/// Kriging at new points, given by columns of coordinates as the observations are: simple without a trend, ordinary
/// with a constant one, universal with a linear one. The mean is that of the field without noise, also at a point that
/// was observed. Evaluates the likelihood at theta, then solves for a block of points at a time, so that memory is
/// bounded whatever their number. Throws NotPositiveDefinite unless the covariance matrix is.
[[nodiscard]] Predictions predict(Likelihood& likelihood, const CovarianceParameters& theta,
                                  const std::vector<std::vector<double>>& coordinates,
                                  const PredictionOptions& options = {});

}  // namespace tesela::geo
