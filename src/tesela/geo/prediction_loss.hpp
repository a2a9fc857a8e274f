#pragma once

#include "tesela/geo/model_file.hpp"
#include "tesela/geo/predict.hpp"

#include <functional>
#include <vector>

namespace tesela::geo {

/// What predictions by an approximate model cost if another one is the truth, place by place (Hong, Abdulah, Genton and
/// Sun, Efficiency assessment of approximated spatial predictions for large datasets, Spatial Statistics 43 (2021)).
struct PredictionErrors {
    std::vector<double> best;     ///< E_t: mean squared error of the truth's own predictor
    std::vector<double> real;     ///< E_t,a: that of the approximate model's predictor, under the truth
    std::vector<double> claimed;  ///< E_a: what the approximate model says its error is
};

struct LossOptions {
    /// What is predicted: with `observation` the errors have the nugget of their model in them.
    PredictionOf of = PredictionOf::observation;
    /// Points that are computed together; 0 means as many as keep memory small.
    Index block = 0;
};

/// The truth is the first model with its parameters and its estimated mean, whose trend its own predictor does not
/// know: simple or universal kriging as the trends say. The approximate predictor's error has its bias in it, if its
/// trend cannot follow the true mean. Both likelihoods are of the same observations in the same order and are left
/// evaluated. Throws NotPositiveDefinite unless both covariance matrices are.
struct LossModel {
    Likelihood& likelihood;
    const FittedModel& fitted;
};
[[nodiscard]] PredictionErrors prediction_errors(const LossModel& truth, const LossModel& approximation,
                                                 const Sites& sites, const LossOptions& options = {});

/// Means over the places of LOE = E_t,a/E_t − 1 (what is lost by the predictions) and MOM = E_a/E_t,a − 1 (by how much
/// the model misjudges its own error; below 0 it is too sure), and the root of the mean square of MOM. All 0 at best.
struct PredictionLoss {
    double mloe = 0;
    double mmom = 0;
    double rmom = 0;
};
/// Throws Error without places, and at one where the truth has no error: an observed one of a field without noise.
[[nodiscard]] PredictionLoss prediction_loss(const PredictionErrors& errors);

}  // namespace tesela::geo
