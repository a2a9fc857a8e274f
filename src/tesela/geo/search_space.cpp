#include "tesela/geo/search_space.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tesela::geo {
namespace {

/// Of what ordinary least squares leaves of the values, by the trend's functions, which are orthogonal over the
/// observations, and a constant.
double residual_variance(const Likelihood& likelihood) {
    const SmallMatrix& Q = likelihood.basis().at_observations();
    std::vector<double> values = likelihood.observations().values;
    const auto n = static_cast<double>(values.size());
    const double mean = likelihood.observations().mean();
    for (double& v : values) v -= mean;
    for (Index k = 0; k < Q.cols; ++k) {
        const double* const q = Q.values.data() + k * Q.rows;
        const double along =
            std::inner_product(values.begin(), values.end(), q, 0.0) / std::inner_product(q, q + Q.rows, q, 0.0);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] -= along * q[i];
    }
    const double sum = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    const std::vector<double>& z = likelihood.observations().values;
    const double before = std::inner_product(z.begin(), z.end(), z.begin(), 0.0);
    // What rounding leaves of values that lie on the trend.
    constexpr double rounding = 1e-13;
    if (sum <= before * rounding * rounding)
        throw Error("the trend {} passes through every value of {}: nothing is left for a covariance to describe",
                    likelihood.model().trend.text(), likelihood.observations().value_name);
    const double degrees = std::max(1.0, n - static_cast<double>(std::max<Index>(1, Q.cols)));
    return std::max(sum / degrees, std::numeric_limits<double>::min());
}

/// See validate(CovarianceFamily, …).
double largest_smoothness(const Model& model) {
    const bool on_sphere = model.metric == Metric::great_circle;
    if (model.family == CovarianceFamily::matern) return on_sphere ? 0.5 : MaternFunction::max_smoothness;
    return on_sphere ? 1 : 2;
}

void require_admitted(const Model& model, double limit) {
    const ParameterChoice& choice = model.choice(Parameter::smoothness);
    const auto refuse = [&](const char* what, double value) {
        throw Error("the {} {} of smoothness is {} {}, the largest that {} admits with {} distances", what, value,
                    value > limit ? "above" : "not below", limit, name(model.family), name(model.metric));
    };
    if (choice.upper && *choice.upper > limit) refuse("upper bound", *choice.upper);
    if (choice.start && *choice.start > limit) refuse("start", *choice.start);
    if (choice.lower && *choice.lower >= limit) refuse("lower bound", *choice.lower);
}

}  // namespace

SearchSpace::SearchSpace(const Likelihood& likelihood, const Model& model)
    : model_(model),
      profiled_(profiles_sigma2(model)) {
    for (const Parameter p : all_parameters)
        if (const auto& fixed = model_.choice(p).fixed) value_of(base_, p) = *fixed;
    if (profiled_) base_.sigma2 = 1;
    add_range(likelihood);
    add_smoothness();
    add_variances(residual_variance(likelihood));
}

void SearchSpace::add(Parameter parameter, const Variable& defaults) {
    const ParameterChoice& choice = model_.choice(parameter);
    Variable v = defaults;
    v.parameter = parameter;
    v.lower = choice.lower.value_or(std::min(v.lower, choice.upper.value_or(v.upper) / 100));
    v.upper = choice.upper.value_or(std::max(v.upper, v.lower * 100));
    if (choice.start) {
        v.start = *choice.start;
        v.lower = std::min(v.lower, v.start);
        v.upper = std::max(v.upper, v.start);
    }
    v.start = std::clamp(v.start, v.lower, v.upper);
    v.scan_lower = choice.start ? v.start : std::clamp(v.scan_lower, v.lower, v.upper);
    v.scan_upper = choice.start ? v.start : std::clamp(v.scan_upper, v.lower, v.upper);
    value_of(base_, parameter) = v.start;
    variables_.push_back(v);
}

void SearchSpace::add_range(const Likelihood& likelihood) {
    if (model_.choice(Parameter::range).fixed) return;
    const double diameter = likelihood.points().diameter_bound();
    const double spacing = typical_spacing(likelihood.points());
    add(Parameter::range, {.start = std::sqrt(spacing * diameter) / 2,
                           .lower = 0.02 * spacing,
                           .upper = 20 * diameter,
                           .scan_lower = 0.5 * spacing,
                           .scan_upper = diameter});
}

const Variable* SearchSpace::variable(Parameter parameter) const {
    for (const Variable& v : variables_)
        if (v.parameter == parameter) return &v;
    return nullptr;
}

void SearchSpace::add_smoothness() {
    if (!uses(model_.family, Parameter::smoothness) || model_.choice(Parameter::smoothness).fixed) return;
    const bool matern = model_.family == CovarianceFamily::matern;
    const double limit = largest_smoothness(model_);
    require_admitted(model_, limit);
    add(Parameter::smoothness, {.start = 0.5,
                                .lower = 0.05,
                                .upper = std::min(5.0, limit),
                                .step = 0.3,
                                .scan_lower = matern ? 0.3 : 0.6,
                                .scan_upper = matern ? 3.0 : 1.9});
    Variable& v = variables_.back();
    v.upper = std::min(v.upper, limit);  // a lower bound of the user raises the default of the upper one
    v.scan_upper = std::min(v.scan_upper, v.upper);
    v.upper_is_limit = v.upper == limit;
}

void SearchSpace::add_variances(double variance) {
    const double unit = profiled_ ? 1 : variance;
    if (!profiled_ && !model_.choice(Parameter::sigma2).fixed)
        add(Parameter::sigma2, {.start = unit,
                                .lower = 1e-4 * unit,
                                .upper = 1e4 * unit,
                                .scan_lower = 0.3 * unit,
                                .scan_upper = 3 * unit});
    if (model_.choice(Parameter::nugget).fixed) return;
    add(Parameter::nugget, {.start = 0.1 * unit,
                            .lower = 1e-6 * unit,
                            .upper = 1e3 * unit,
                            .step = 1,
                            .scan_lower = 1e-3 * unit,
                            .scan_upper = 10 * unit});
    if (!profiled_ || !model_.choice(Parameter::nugget).start) return;
    // A start of the user is a variance, the variable a multiple of sigma2.
    Variable& v = variables_.back();
    v.start = std::clamp(v.start / model_.choice(Parameter::sigma2).start.value_or(variance), 1e-6, 1e3);
    v.lower = 1e-6;
    v.upper = 1e3;
    v.scan_lower = v.scan_upper = v.start;
    base_.nugget = v.start;
}

CovarianceParameters SearchSpace::at(const std::vector<double>& values) const {
    CovarianceParameters theta = base_;
    for (std::size_t k = 0; k < variables_.size(); ++k)
        value_of(theta, variables_[k].parameter) = std::clamp(values[k], variables_[k].lower, variables_[k].upper);
    return theta;
}

std::vector<double> SearchSpace::values_at(const CovarianceParameters& theta) const {
    std::vector<double> values;
    for (const Variable& v : variables_) {
        const double unit = profiled_ && v.parameter == Parameter::nugget ? theta.sigma2 : 1;
        values.push_back(std::clamp(value_of(theta, v.parameter) / unit, v.lower, v.upper));
    }
    return values;
}

/// The exponential is Matérn's of smoothness 1/2 and the powered exponential's of 1; the squared exponential is the
/// latter's of 2.
std::vector<double> SearchSpace::nested_smoothness() const {
    const Variable* v = variable(Parameter::smoothness);
    if (v == nullptr || model_.choice(Parameter::smoothness).start) return {};
    std::vector<double> nested{0.5};
    if (model_.family == CovarianceFamily::powered_exponential) nested = {1.0, 2.0};
    std::erase_if(nested, [&](double value) { return value < v->lower || value > v->upper; });
    return nested;
}

std::optional<double> SearchSpace::smooth_edge() const {
    const Variable* v = variable(Parameter::smoothness);
    const ParameterChoice& choice = model_.choice(Parameter::smoothness);
    if (v == nullptr || model_.family != CovarianceFamily::matern || choice.start || choice.bounded()) return {};
    return v->upper;
}

std::vector<double> SearchSpace::start() const {
    std::vector<double> values;
    for (const Variable& v : variables_) values.push_back(v.start);
    return values;
}

}  // namespace tesela::geo
