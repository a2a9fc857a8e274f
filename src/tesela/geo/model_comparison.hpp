#pragma once

#include "tesela/geo/information_criteria.hpp"
#include "tesela/geo/model_file.hpp"

#include <string>
#include <vector>

namespace tesela::geo {

/// How many observations of one set are in the other too, with the same value at the same place.
[[nodiscard]] Index common_observations(const Observations& a, const Observations& b);

/// One model among others of the same data. Differences are from the least of all; the weight is the relative
/// likelihood of a model after its penalty, exp(−ΔAIC/2), as a share of their sum (Burnham and Anderson, Model
/// selection and multimodel inference, section 2.9).
struct ComparedModel {
    double log_likelihood = 0;
    Index parameters = 0;
    InformationCriteria criteria{};
    InformationCriteria difference{};
    double weight = 0;
};
/// Throws Error unless there are at least two models, all of the same data and with likelihoods of one kind, which
/// where they are restricted are comparable for the same trend only; `names` are theirs in messages.
[[nodiscard]] std::vector<ComparedModel> compare(const std::vector<FittedModel>& models,
                                                 const std::vector<std::string>& names);

/// The first model's observations with the covariates of all models, for likelihoods of each at the same observations.
/// Throws Error if a model has covariates that the first lacks and its observations in another order.
[[nodiscard]] Observations with_all_covariates(const std::vector<FittedModel>& models);

/// What else to tell who compares: fits that did not end at a maximum, means that were subtracted without being
/// counted.
[[nodiscard]] std::vector<std::string> doubts(const FittedModel& model, const std::string& name);

}  // namespace tesela::geo
