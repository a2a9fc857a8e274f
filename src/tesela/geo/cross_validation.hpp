#pragma once

#include "tesela/geo/folds.hpp"
#include "tesela/geo/predict.hpp"

#include <functional>

namespace tesela::geo {

/// What is to be validated: observations, and a model with the parameters that it keeps.
struct Validated {
    const Observations& observations;
    const Model& model;
    CovarianceParameters theta;
};

/// How the covariance matrix is cut when the observations stand fold after fold: no tile holds a part of a fold and
/// something else, so that a fold is either inside one tile or a square of whole tiles. A distribution of
/// LikelihoodOptions is over this grid.
[[nodiscard]] Tiling fold_tiling(const Folds& folds, Index tile);

struct CrossValidationOptions {
    LikelihoodOptions likelihood{};
    /// Called with the likelihood of the observations, fold after fold, when it has been evaluated: for warnings.
    std::function<void(const Likelihood&)> evaluated{};
};

/// Every observation predicted from all that are not in its fold, nugget included, in the order of the observations.
/// The parameters of the covariance stay; the trend is estimated again without the fold. No matrix is factored again
/// for a fold: with Q = Σ⁻¹ − Σ⁻¹X(XᵀΣ⁻¹X)⁻¹XᵀΣ⁻¹ the errors of a fold B are Q_BB⁻¹·(Qz)_B, with covariance Q_BB⁻¹
/// (Dubrule, Mathematical Geology 15 (1983) 687), so that all folds together cost one inverse, three times the
/// operations of one evaluation of the likelihood. A jitter of the model counts as noise. `cuts` of the options
/// are fold_tiling()'s, whatever they say. Throws Error if what is left without a fold does not determine the trend,
/// and NotPositiveDefinite unless Σ is. Every node of a parallel run calls it and gets the same.
[[nodiscard]] Predictions cross_validate(Stream& stream, const Validated& what, const Folds& folds,
                                         const CrossValidationOptions& options = {});

}  // namespace tesela::geo
