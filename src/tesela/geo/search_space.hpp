#pragma once

#include "tesela/geo/fit.hpp"

#include <optional>
#include <vector>

namespace tesela::geo {

/// One number that the search varies, between bounds and on a log scale.
struct Variable {
    Parameter parameter = Parameter::range;
    double start = 1;
    double lower = 0;
    double upper = 0;
    /// The first step of the search, of the logarithm.
    double step = 0.5;
    /// Where starts are looked for; both are the start where the user gave one.
    double scan_lower = 0;
    double scan_upper = 0;
    /// No covariance of the family is valid beyond the upper bound, so that it cannot be raised.
    bool upper_is_limit = false;
};

/// The free parameters of a model as variables of a search, with starts and bounds from the data where the user gave
/// none, and the way back. With sigma2 profiled out, points have sigma2 = 1 and a nugget relative to it.
class SearchSpace {
public:
    explicit SearchSpace(const Likelihood& likelihood) : SearchSpace(likelihood, likelihood.model()) {}
    /// With other choices of parameters than the likelihood's own model has.
    SearchSpace(const Likelihood& likelihood, const Model& model);

    [[nodiscard]] bool profiled() const { return profiled_; }
    [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
    /// Null if the parameter is not searched.
    [[nodiscard]] const Variable* variable(Parameter parameter) const;
    /// The parameters at values of the variables; those that are fixed as they are.
    [[nodiscard]] CovarianceParameters at(const std::vector<double>& values) const;
    /// The values of the variables at parameters.
    [[nodiscard]] std::vector<double> values_at(const CovarianceParameters& theta) const;
    [[nodiscard]] std::vector<double> start() const;
    /// Values of the smoothness that make the family another one with fewer parameters; none if it is not searched.
    [[nodiscard]] std::vector<double> nested_smoothness() const;
    /// The largest smoothness that a Matérn covariance is searched to, where the user chose neither start nor bounds:
    /// nearly a squared exponential.
    [[nodiscard]] std::optional<double> smooth_edge() const;

private:
    void add(Parameter parameter, const Variable& defaults);
    void add_range(const Likelihood& likelihood);
    void add_smoothness();
    void add_variances(double variance);

    Model model_;
    bool profiled_;
    CovarianceParameters base_{};
    std::vector<Variable> variables_;
};

}  // namespace tesela::geo
