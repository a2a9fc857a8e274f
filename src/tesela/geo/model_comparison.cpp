#include "tesela/geo/model_comparison.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace tesela::geo {
namespace {

/// The places in an order of their own, with or without what was observed there.
std::vector<std::vector<double>> sorted_rows(const Observations& observations, bool with_values) {
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(observations.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const auto& column : observations.coordinates) rows[i].push_back(column[i]);
        if (with_values) rows[i].push_back(observations.values[i]);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::string of_what(const FittedModel& model) {
    return fmt::format("{} observations of {}", model.observations.size(), model.observations.value_name);
}

void require_same_data(const FittedModel& first, const FittedModel& other, const std::string& first_name,
                       const std::string& other_name) {
    // In whatever order; not of zinc and of its logarithm.
    if (sorted_rows(first.observations, true) == sorted_rows(other.observations, true)) return;
    if (sorted_rows(first.observations, false) == sorted_rows(other.observations, false))
        throw Error(
            "{} and {} are of different values at the same places ({}; {}): the likelihood of one says nothing "
            "beside that of the other. Fit both to the same column",
            first_name, other_name, of_what(first), of_what(other));
    throw Error(
        "{} and {} are of different data ({}; {}): likelihoods are comparable between models of the "
        "same observations. Fit both to the same file",
        first_name, other_name, of_what(first), of_what(other));
}

/// Restricted likelihoods are of what the trend leaves of the data: with other trends that is something else.
void require_same_kind(const FittedModel& first, const FittedModel& other, const std::string& first_name,
                       const std::string& other_name) {
    if (first.model.estimation != other.model.estimation)
        throw Error("{} is by {} and {} by {}: fit both with the same --estimation", first_name,
                    name_in(estimation_names, first.model.estimation), other_name,
                    name_in(estimation_names, other.model.estimation));
    if (first.model.estimation == Estimation::reml && first.result.trend.names != other.result.trend.names)
        throw Error(
            "{} and {} have different trends ({}; {}), and restricted likelihoods are comparable between models with "
            "the same trend only: fit both with --estimation ml",
            first_name, other_name, first.model.trend.text(), other.model.trend.text());
}

/// The least of a criterion over all.
double least(const std::vector<ComparedModel>& models, double InformationCriteria::*criterion) {
    double result = models.front().criteria.*criterion;
    for (const ComparedModel& model : models) result = std::min(result, model.criteria.*criterion);
    return result;
}

}  // namespace

Index common_observations(const Observations& a, const Observations& b) {
    std::vector<std::vector<double>> common;
    std::ranges::set_intersection(sorted_rows(a, true), sorted_rows(b, true), std::back_inserter(common));
    return static_cast<Index>(common.size());
}

std::vector<ComparedModel> compare(const std::vector<FittedModel>& models, const std::vector<std::string>& names) {
    if (models.size() < 2) throw Error("one model alone cannot be compared; give two or more");
    std::vector<ComparedModel> result;
    for (std::size_t m = 0; m < models.size(); ++m) {
        const FittedModel& model = models[m];
        require_same_data(models.front(), model, names.front(), names[m]);
        require_same_kind(models.front(), model, names.front(), names[m]);
        const auto coefficients = static_cast<Index>(model.result.trend.coefficients.size());
        result.push_back({.log_likelihood = model.result.log_likelihood,
                          .parameters = estimated_parameters(model.model, coefficients),
                          .criteria = criteria_of(model)});
    }
    const double aic = least(result, &InformationCriteria::aic);
    const double bic = least(result, &InformationCriteria::bic);
    double sum = 0;
    for (ComparedModel& model : result) {
        model.difference = {model.criteria.aic - aic, model.criteria.bic - bic};
        model.weight = std::exp(-model.difference.aic / 2);
        sum += model.weight;
    }
    for (ComparedModel& model : result) model.weight /= sum;
    return result;
}

Observations with_all_covariates(const std::vector<FittedModel>& models) {
    Observations result = models.front().observations;
    for (const FittedModel& model : models)
        for (const Covariate& covariate : model.observations.covariates) {
            if (std::ranges::any_of(result.covariates, [&](const Covariate& c) { return c.name == covariate.name; }))
                continue;
            if (model.observations.coordinates != result.coordinates)
                throw Error(
                    "the models have their observations in different orders, and not all have {}: fit all to the same "
                    "file",
                    covariate.name);
            result.covariates.push_back(covariate);
        }
    return result;
}

std::vector<std::string> doubts(const FittedModel& model, const std::string& name) {
    std::vector<std::string> result;
    if (model.result.stop_reason != StopReason::converged)
        result.push_back(fmt::format("the fit of {} ended by {}: its likelihood may be below its maximum", name,
                                     geo::name(model.result.stop_reason)));
    if (model.model.trend == Trend::none && model.model.center != 0)
        result.push_back(
            fmt::format("the mean of {}, {:.6g}, was subtracted before the fit and is not counted as a parameter; if "
                        "it was computed from these data, fit with --trend constant instead",
                        name, model.model.center));
    return result;
}

}  // namespace tesela::geo
