#include "tesela/apps/geo/fit.hpp"

#include "tesela/apps/geo/geometry.hpp"
#include "tesela/apps/geo/search_space.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"

#include <nlopt.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>

namespace tesela::geo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double infinity = std::numeric_limits<double>::infinity();

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One point of the search: the likelihood there, and the parameters with sigma2 filled in where it is profiled out.
struct Point {
    CovarianceParameters theta;
    double log_likelihood = -infinity;
};

class Search {
public:
    Search(Likelihood& likelihood, const FitOptions& options);

    [[nodiscard]] FitResult run();

private:
    double evaluate(const std::vector<double>& values);
    [[nodiscard]] Point profile(const LikelihoodValue& value, CovarianceParameters theta) const;
    [[nodiscard]] double penalised(const std::vector<double>& logarithms);
    void scan();
    void maximise();
    [[nodiscard]] StopReason bobyqa(double step_scale);
    [[nodiscard]] bool may_go_on();
    [[nodiscard]] double agreed_seconds();
    void find_warnings();
    void warn(FitWarning::Kind kind, Parameter parameter);
    void warn_if_flat(std::size_t variable);
    void warn_if_ill_conditioned();
    [[nodiscard]] std::vector<double> logarithms(const std::vector<double>& values) const;
    [[nodiscard]] FitResult::Bounds bounds_of(Parameter parameter) const;
    [[nodiscard]] bool is_limit(Parameter parameter) const;

    Likelihood& likelihood_;
    const FitOptions& options_;
    SearchSpace space_;
    Clock::time_point start_ = Clock::now();
    Status last_failure_{};
    CovarianceParameters failed_at_{};
    std::vector<double> best_values_;
    Point best_{};
    double worst_ = infinity;
    std::exception_ptr failure_;
    FitResult result_;
};

Search::Search(Likelihood& likelihood, const FitOptions& options)
    : likelihood_(likelihood),
      options_(options),
      space_(likelihood),
      best_values_(space_.start()) {}

/// The time that node 0 has spent: nodes that looked at their own clocks might not stop at the same evaluation.
double Search::agreed_seconds() { return likelihood_.stream().engine().broadcast(seconds_since(start_)); }

bool Search::may_go_on() {
    if (result_.evaluations >= options_.max_evaluations) {
        result_.stop_reason = StopReason::max_evaluations;
        return false;
    }
    if (options_.max_seconds > 0 && agreed_seconds() > options_.max_seconds) {
        result_.stop_reason = StopReason::time_limit;
        return false;
    }
    return true;
}

/// With Σ = σ²·R the likelihood is greatest at σ² = rᵀR⁻¹r / n, and its quadratic form is n there.
Point Search::profile(const LikelihoodValue& value, CovarianceParameters theta) const {
    if (!space_.profiled()) return {theta, value.log_likelihood};
    const Index n = likelihood_.observations().size();
    const auto count = static_cast<double>(n);
    const double sigma2 = value.fit.quadratic / count;
    theta.sigma2 = sigma2;
    theta.nugget *= sigma2;
    return {theta, gaussian_log_likelihood(n, value.log_determinant + count * std::log(sigma2), count)};
}

double Search::evaluate(const std::vector<double>& values) {
    const CovarianceParameters theta = space_.at(values);
    const LikelihoodValue value = likelihood_.evaluate(theta);
    ++result_.evaluations;
    Point point{theta, -infinity};
    if (value.status.ok())
        point = profile(value, theta);
    else {
        last_failure_ = value.status;
        failed_at_ = theta;
    }
    if (!std::isfinite(point.log_likelihood)) point.log_likelihood = -infinity;
    if (point.log_likelihood > best_.log_likelihood) {
        best_ = point;
        best_values_ = values;
    }
    if (std::isfinite(point.log_likelihood)) worst_ = std::min(worst_, point.log_likelihood);
    if (options_.progress)
        options_.progress({.evaluation = result_.evaluations,
                           .theta = point.theta,
                           .log_likelihood = point.log_likelihood,
                           .best = best_.log_likelihood,
                           .seconds = seconds_since(start_)});
    return point.log_likelihood;
}

/// What the optimiser minimises. Where Σ is not positive definite it is somewhat worse than anything seen: a huge
/// number would spoil the optimiser's quadratic model for many steps.
double Search::penalised(const std::vector<double>& logs) {
    std::vector<double> values(logs.size());
    std::transform(logs.begin(), logs.end(), values.begin(), [](double x) { return std::exp(x); });
    const double value = evaluate(values);
    if (std::isfinite(value)) return -value;
    return -worst_ + 10 + 0.1 * std::abs(worst_);
}

/// The start, then other values of one variable at a time: likelihoods of covariances have more than one maximum.
void Search::scan() {
    evaluate(best_values_);
    for (std::size_t k = 0; k < space_.variables().size(); ++k) {
        const std::vector<double> from = best_values_;
        for (const double value : space_.variables()[k].scan) {
            if (!may_go_on()) break;
            std::vector<double> values = from;
            values[k] = value;
            evaluate(values);
        }
    }
    if (!std::isfinite(best_.log_likelihood)) throw NotPositiveDefinite(likelihood_.explain(last_failure_, failed_at_));
}

std::vector<double> Search::logarithms(const std::vector<double>& values) const {
    std::vector<double> logs(values.size());
    std::transform(values.begin(), values.end(), logs.begin(), [](double x) { return std::log(x); });
    return logs;
}

StopReason Search::bobyqa(double step_scale) {
    const auto& variables = space_.variables();
    std::vector<double> lower;
    std::vector<double> upper;
    std::vector<double> steps;
    for (const Variable& v : variables) {
        lower.push_back(std::log(v.lower));
        upper.push_back(std::log(v.upper));
        steps.push_back(std::min(step_scale * v.step, (upper.back() - lower.back()) / 4));
    }
    // BOBYQA works in at least two dimensions.
    nlopt::opt optimiser(variables.size() > 1 ? nlopt::LN_BOBYQA : nlopt::LN_COBYLA,
                         static_cast<unsigned>(variables.size()));
    optimiser.set_lower_bounds(lower);
    optimiser.set_upper_bounds(upper);
    optimiser.set_initial_step(steps);
    optimiser.set_xtol_abs(options_.tolerance);
    const auto objective = [](const std::vector<double>& x, std::vector<double>&, void* self) {
        auto& search = *static_cast<Search*>(self);
        try {
            if (search.may_go_on()) return search.penalised(x);
        } catch (...) {
            search.failure_ = std::current_exception();
        }
        throw nlopt::forced_stop();
    };
    optimiser.set_min_objective(objective, this);
    std::vector<double> x = logarithms(best_values_);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::clamp(x[k], lower[k], upper[k]);
    double least = 0;
    try {
        optimiser.optimize(x, least);
    } catch (const nlopt::forced_stop&) {
        if (failure_) std::rethrow_exception(failure_);
        return result_.stop_reason;
    } catch (const nlopt::roundoff_limited&) {
        return StopReason::roundoff_limited;
    }
    return StopReason::converged;
}

/// Again from where the search ended, with smaller steps, until that gains nothing.
void Search::maximise() {
    constexpr double gain_that_counts = 1e-7;
    double before = -infinity;
    double step_scale = 1;
    while (best_.log_likelihood - before > gain_that_counts) {
        before = best_.log_likelihood;
        result_.stop_reason = bobyqa(step_scale);
        if (result_.stop_reason == StopReason::max_evaluations || result_.stop_reason == StopReason::time_limit) return;
        step_scale = 0.2;
    }
}

FitResult::Bounds Search::bounds_of(Parameter parameter) const {
    if (const Variable* v = space_.variable(parameter)) return {v->lower, v->upper};
    if (parameter == Parameter::sigma2 && space_.profiled()) return {0, infinity};
    const double fixed = likelihood_.model().choice(parameter).fixed.value_or(0);
    return {fixed, fixed};
}

bool Search::is_limit(Parameter parameter) const {
    const Variable* v = space_.variable(parameter);
    return v != nullptr && v->upper_is_limit;
}

void Search::warn(FitWarning::Kind kind, Parameter parameter) {
    const FitResult::Bounds bounds = bounds_of(parameter);
    const std::string unit = parameter == Parameter::nugget && space_.profiled() ? "·sigma2" : "";
    std::string text;
    if (kind == FitWarning::Kind::at_lower_bound)
        text = fmt::format("{} ended at its lower bound {:.6g}{}: {}", name(parameter), bounds.lower, unit,
                           parameter == Parameter::nugget
                               ? "lower the bound (--lower), or fix it at 0 (--fix nugget=0) unless "
                                 "points lie close together"
                               : "lower the bound (--lower), or fix it at a value (--fix)");
    else if (kind == FitWarning::Kind::at_upper_bound)
        text = fmt::format("{} ended at its upper bound {:.6g}{}: {}", name(parameter), bounds.upper, unit,
                           is_limit(parameter) ? "more is not valid with this family and metric; try others"
                                               : "raise the bound (--upper), or fix it at a value (--fix)");
    else
        text = fmt::format(
            "the likelihood is flat in {}: a factor of 2 changes it by less than 0.001, so the data do "
            "not determine it; fix it at a value (--fix)",
            name(parameter));
    result_.warnings.push_back({kind, parameter, std::move(text)});
}

void Search::warn_if_flat(std::size_t variable) {
    constexpr double noticeable = 1e-3;
    const std::vector<double> values = best_values_;
    const double best = best_.log_likelihood;
    const Variable& v = space_.variables()[variable];
    for (const double factor : {0.5, 2.0}) {
        std::vector<double> changed = values;
        changed[variable] *= factor;
        if (changed[variable] < v.lower || changed[variable] > v.upper) continue;
        if (std::abs(best - evaluate(changed)) < noticeable) return warn(FitWarning::Kind::flat, v.parameter);
    }
}

void Search::warn_if_ill_conditioned() {
    result_.conditioning = estimate_condition(likelihood_);
    if (std::string text = explain_conditioning(result_.conditioning, likelihood_); !text.empty())
        result_.warnings.push_back({FitWarning::Kind::ill_conditioned, Parameter::nugget, std::move(text)});
}

void Search::find_warnings() {
    constexpr double near = 1e-3;
    for (std::size_t k = 0; k < space_.variables().size(); ++k) {
        const Variable& v = space_.variables()[k];
        if (best_values_[k] < v.lower * (1 + near))
            warn(FitWarning::Kind::at_lower_bound, v.parameter);
        else if (best_values_[k] > v.upper * (1 - near))
            warn(FitWarning::Kind::at_upper_bound, v.parameter);
        else if (result_.stop_reason != StopReason::time_limit && result_.stop_reason != StopReason::max_evaluations)
            warn_if_flat(k);
    }
}

FitResult Search::run() {
    scan();
    if (!space_.variables().empty()) maximise();
    find_warnings();
    const LikelihoodValue value = likelihood_.evaluate(best_.theta);
    ++result_.evaluations;
    if (!value.status.ok()) throw NotPositiveDefinite(likelihood_.explain(value.status, best_.theta));
    result_.theta = best_.theta;
    result_.trend = value.trend;
    result_.log_likelihood = value.log_likelihood;
    warn_if_ill_conditioned();
    result_.seconds = seconds_since(start_);
    for (const Parameter p : all_parameters) result_.bounds[static_cast<std::size_t>(p)] = bounds_of(p);
    return std::move(result_);
}

}  // namespace

FitResult fit(Likelihood& likelihood, const FitOptions& options) { return Search(likelihood, options).run(); }

std::string check_duplicates(const Observations& observations, const Model& model) {
    const Duplicates found = find_duplicates(PointSet(model.metric, observations.coordinates));
    if (found.points == 0) return {};
    std::string text = fmt::format("{} of {} points lie on another one, at {} place{}; the first is {}, on {}",
                                   found.points, observations.size(), found.places, plural(found.places),
                                   observations.where(found.example.second), observations.where(found.example.first));
    if (model.choice(Parameter::nugget).fixed == 0.0 && model.jitter == 0)
        throw Error(
            "{}: without a nugget the covariance matrix is singular. Let the nugget be free or fix it above 0, "
            "merge such points, or give --jitter",
            text);
    return text;
}

}  // namespace tesela::geo
