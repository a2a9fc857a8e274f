#include "tesela/geo/internal/objective.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::geo {

SearchBox box_of(const SearchSpace& space) {
    SearchBox box;
    for (const Variable& v : space.variables()) {
        box.lower.push_back(std::log(v.lower));
        box.upper.push_back(std::log(v.upper));
        box.step.push_back(std::min(v.step, (box.upper.back() - box.lower.back()) / 4));
    }
    return box;
}

SearchPoint Objective::at(const std::vector<double>& logs, Wanted wanted) {
    std::vector<double> values(logs.size());
    std::ranges::transform(logs, values.begin(), [](double x) { return std::exp(x); });
    const CovarianceParameters theta = space_->at(values);
    if (arrangement_ != likelihood_.arrangement()) derivatives_.reset();
    arrangement_ = likelihood_.arrangement();
    const LikelihoodValue value = likelihood_.evaluate(theta);
    SearchPoint point{.logs = logs, .theta = theta};
    if (!value.status.ok()) {
        if (!is_numerical(value.status)) require_done(value.status);  // elsewhere it would be no better
        failure_ = value.status;
        failed_at_ = theta;
        return point;
    }
    point = found(value, theta);
    point.logs = logs;
    if (!std::isfinite(point.log_likelihood)) return {.logs = logs, .theta = theta};
    if (wanted == Wanted::value) return point;
    if (!derivatives_) derivatives_.emplace(likelihood_);
    point.slope = slope(value, theta);
    if (wanted == Wanted::information) point.information = information(value, theta);
    return point;
}

double Objective::profiled_sigma2(const LikelihoodValue& value) const {
    return space_->profiled() ? value.fit.quadratic / static_cast<double>(likelihood_.degrees_of_freedom()) : 1;
}

SearchPoint Objective::found(const LikelihoodValue& value, const CovarianceParameters& theta) const {
    SearchPoint point{.theta = theta, .log_likelihood = value.log_likelihood};
    if (!space_->profiled()) return point;
    const double sigma2 = profiled_sigma2(value);
    point.theta.sigma2 *= sigma2;
    point.theta.nugget *= sigma2;
    point.log_likelihood = likelihood_.log_likelihood_at_scale(value, sigma2);
    return point;
}

/// ∂ℓ/∂log x = x·∂ℓ/∂x. What moves sigma2 along does not count: ℓ is flat in it there.
std::vector<double> Objective::slope(const LikelihoodValue& value, const CovarianceParameters& theta) {
    const Gradient gradient = derivatives_->gradient(value, profiled_sigma2(value));
    std::vector<double> slope;
    for (const Variable& v : space_->variables())
        slope.push_back(value_of(theta, v.parameter) * gradient[static_cast<std::size_t>(v.parameter)]);
    return slope;
}

/// F of the variables in logarithms; with sigma2 profiled out F − f·fᵀ/f₀, f being its column for log sigma2.
SmallMatrix Objective::information(const LikelihoodValue& value, const CovarianceParameters& theta) {
    const SmallMatrix natural = derivatives_->average_information(value, profiled_sigma2(value));
    const auto& variables = space_->variables();
    const auto scaled = [&](Parameter a, Parameter b) {
        return value_of(theta, a) * value_of(theta, b) * natural(static_cast<Index>(a), static_cast<Index>(b));
    };
    // At sigma2 = 1: with Σ = σ²(R + g·I), ∂Σ/∂log σ² = R + g·I, the sum of those of sigma2 and the nugget.
    const auto with_scale = [&](Parameter a) { return scaled(a, Parameter::sigma2) + scaled(a, Parameter::nugget); };
    const double of_scale = with_scale(Parameter::sigma2) + with_scale(Parameter::nugget);
    const auto count = static_cast<Index>(variables.size());
    SmallMatrix information(count, count);
    for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < count; ++j) {
            const Parameter a = variables[static_cast<std::size_t>(i)].parameter;
            const Parameter b = variables[static_cast<std::size_t>(j)].parameter;
            information(i, j) = scaled(a, b);
            if (space_->profiled()) information(i, j) -= with_scale(a) * with_scale(b) / of_scale;
        }
    return information;
}

}  // namespace tesela::geo
