#include "tesela/geo/uncertainty.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/internal/objective.hpp"
#include "tesela/geo/prediction_table.hpp"

#include <boost/math/tools/toms748_solve.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace tesela::geo {
namespace {

/// Whether the fit chose it by the data, between its bounds.
bool estimated_inside(const Model& model, const FitResult& result, Parameter p) {
    if (!uses(model.family, p) || model.choice(p).fixed) return false;
    return std::ranges::none_of(result.warnings, [p](const FitWarning& warning) {
        return warning.parameter == p &&
               (warning.kind == FitWarning::Kind::at_lower_bound || warning.kind == FitWarning::Kind::at_upper_bound);
    });
}

/// The rows and columns of some parameters.
SmallMatrix restricted_to(const SmallMatrix& F, std::span<const Parameter> parameters) {
    const auto count = static_cast<Index>(parameters.size());
    SmallMatrix part(count, count);
    for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < count; ++j)
            part(i, j) = F(static_cast<Index>(parameters[static_cast<std::size_t>(i)]),
                           static_cast<Index>(parameters[static_cast<std::size_t>(j)]));
    return part;
}

SmallMatrix information_on(Likelihood& likelihood, const CovarianceParameters& theta, InformationKind kind,
                           std::span<const Parameter> parameters) {
    const LikelihoodValue value = evaluate_well(likelihood, theta);
    LikelihoodDerivatives derivatives(likelihood);
    switch (kind) {
        case InformationKind::expected: return restricted_to(derivatives.expected_information(value), parameters);
        case InformationKind::average: return restricted_to(derivatives.average_information(value), parameters);
        case InformationKind::observed: break;
    }
    return observed_information(likelihood, derivatives, theta, parameters);
}

/// Of the parameters' logarithms, so that units do not matter: F_ij·theta_i·theta_j.
SmallMatrix of_logarithms(SmallMatrix F, const CovarianceParameters& theta, std::span<const Parameter> parameters) {
    for (Index i = 0; i < F.rows; ++i)
        for (Index j = 0; j < F.cols; ++j)
            F(i, j) *= value_of(theta, parameters[static_cast<std::size_t>(i)]) *
                       value_of(theta, parameters[static_cast<std::size_t>(j)]);
    return F;
}

ParameterUncertainty about(double estimate, double log_error, double z) {
    const double error = estimate * log_error;
    return {.standard_error = error,
            .log_standard_error = log_error,
            .natural = {estimate - z * error, estimate + z * error},
            .logarithmic = {estimate * std::exp(-z * log_error), estimate * std::exp(z * log_error)}};
}

}  // namespace

Interval shown_interval(const ParameterUncertainty& known) {
    if (known.log_standard_error <= 1) return known.logarithmic;
    return {std::max(0.0, *known.natural.lower), known.natural.upper};
}

Uncertainty uncertainty(Likelihood& likelihood, const FitResult& result, InformationKind information, double level) {
    constexpr double nearly_singular = 1e-10;
    constexpr double nothing_known = 10;  // an error of a logarithm by which anything is possible
    Uncertainty found{.information = information, .level = level};
    found.correlation =
        SmallMatrix(static_cast<Index>(all_parameters.size()), static_cast<Index>(all_parameters.size()));
    std::vector<Parameter> free;
    for (const Parameter p : all_parameters)
        if (estimated_inside(likelihood.model(), result, p)) free.push_back(p);
    if (free.empty()) return found;
    const SmallMatrix F =
        of_logarithms(information_on(likelihood, result.theta, information, free), result.theta, free);
    const auto L = small_cholesky(F, nearly_singular);
    if (!L) {
        found.missing = fmt::format(
            "no standard errors: the {} information is not positive definite, so the data do not determine all free "
            "parameters together; fix one of them (--fix)",
            name_in(information_names, information));
        return found;
    }
    const SmallMatrix C = small_inverse(*L);
    const double z = normal_interval(level);
    for (Index i = 0; i < C.rows; ++i) {
        const Parameter p = free[static_cast<std::size_t>(i)];
        if (!(std::sqrt(C(i, i)) < nothing_known)) continue;
        found.parameters[static_cast<std::size_t>(p)] = about(value_of(result.theta, p), std::sqrt(C(i, i)), z);
        for (Index j = 0; j < C.rows; ++j)
            found.correlation(static_cast<Index>(p), static_cast<Index>(free[static_cast<std::size_t>(j)])) =
                C(i, j) / std::sqrt(C(i, i) * C(j, j));
    }
    return found;
}

// --- profiles --------------------------------------------------------------------------------------------------------

namespace {

/// How far below the fit the best point with one parameter at a value is, as the root of twice the difference, which is
/// nearly linear in the parameter's logarithm.
class Profile {
public:
    Profile(Likelihood& likelihood, const FitResult& result, Parameter parameter, const ProfileOptions& options)
        : likelihood_(likelihood),
          options_(options),
          parameter_(parameter),
          top_(result.log_likelihood),
          estimate_(std::log(value_of(result.theta, parameter))),
          fitted_(result.theta),
          nearest_(result.theta),
          whole_space_(likelihood),
          objective_(likelihood, whole_space_) {}

    [[nodiscard]] double estimate() const { return estimate_; }
    [[nodiscard]] const ProfileInterval& found() const { return found_; }
    [[nodiscard]] ProfileInterval& found() { return found_; }
    void start_from(const CovarianceParameters& theta) { nearest_ = theta; }
    /// Whether at the last value another parameter had come to a bound that it was not at in the fit.
    [[nodiscard]] bool held_by_another() const { return held_; }

    double operator()(double log_value) {
        Model model = likelihood_.model();
        model.choice(parameter_) = {.fixed = std::exp(log_value)};
        const SearchSpace space(likelihood_, model);
        objective_.search_in(space);
        const Ask ask = [&](const std::vector<double>& logs, Wanted wanted) { return answer(logs, wanted); };
        std::vector<double> logs = space.values_at(nearest_);
        std::ranges::transform(logs, logs.begin(), [](double x) { return std::log(x); });
        SearchPoint best = ask(logs, Wanted::value);
        if (!logs.empty() && std::isfinite(best.log_likelihood))
            best = climb_to_top(options_.optimizer, ask, box_of(space), best, 1e-4);
        if (!std::isfinite(best.log_likelihood)) return infinitely_far;
        nearest_ = best.theta;
        held_ = is_held(space, best);
        const double below = top_ - best.log_likelihood;
        found_.above_fit = std::max(found_.above_fit, -below);
        return std::sqrt(2 * std::max(0.0, below));
    }

private:
    static constexpr double infinitely_far = 1e3;

    /// The least nugget stands for none, which is a bound of nature.
    static bool at_bound(const Variable& v, double value) {
        constexpr double near = 1.001;
        return (value < v.lower * near && v.parameter != Parameter::nugget) || value > v.upper / near;
    }
    [[nodiscard]] bool is_held(const SearchSpace& space, const SearchPoint& point) const {
        const std::vector<double> in_fit = space.values_at(fitted_);
        for (std::size_t k = 0; k < point.logs.size(); ++k)
            if (at_bound(space.variables()[k], std::exp(point.logs[k])) && !at_bound(space.variables()[k], in_fit[k]))
                return true;
        return false;
    }

    SearchPoint answer(const std::vector<double>& logs, Wanted wanted) {
        Engine& engine = likelihood_.stream().engine();
        if (options_.interrupted && engine.broadcast(options_.interrupted() ? 1 : 0) != 0)
            throw Interrupted("the profile of {} was interrupted", name(parameter_));
        SearchPoint point = objective_.at(logs, wanted);
        ++found_.evaluations;
        if (options_.progress) options_.progress(found_.evaluations);
        return point;
    }

    Likelihood& likelihood_;
    const ProfileOptions& options_;
    Parameter parameter_;
    double top_;
    double estimate_;
    CovarianceParameters fitted_;
    CovarianceParameters nearest_;  ///< where the next climb starts
    bool held_ = false;
    SearchSpace whole_space_;
    Objective objective_;
    ProfileInterval found_;
};

/// The logarithms between which a parameter is looked for, beyond what a fit searches where sigma2 is profiled out.
struct Reach {
    double lower;
    double upper;
};
Reach reach_of(const Likelihood& likelihood, const FitResult& result, Parameter p) {
    constexpr double far = 1e4;
    const double estimate = value_of(result.theta, p);
    if (profiles_sigma2(likelihood.model()) && (p == Parameter::sigma2 || p == Parameter::nugget))
        return {std::log(estimate / far), std::log(estimate * far)};
    const FitResult::Bounds& bounds = result.bounds[static_cast<std::size_t>(p)];
    return {std::log(bounds.lower), std::log(bounds.upper)};
}

/// The end of the interval on one side, where the profile comes to z; none where it does not before the bound.
std::optional<double> end_of(Profile& profile, const FitResult& result, double z, double first_step, double bound) {
    constexpr double relative_precision = 1e-3;
    constexpr double longest_leap = 3;
    profile.start_from(result.theta);
    const double from = profile.estimate();
    const double way = bound > from ? 1 : -1;
    double inside = from;
    double at_inside = -z;
    const double farthest = std::abs(bound - from);
    double reach = std::min(first_step, farthest);
    double outside = from + way * reach;
    double at_outside = profile(outside) - z;
    while (at_outside < 0) {
        if (reach >= farthest) return std::nullopt;
        inside = outside;
        at_inside = at_outside;
        reach = std::min(reach * std::clamp(1.1 * z / std::max(at_outside + z, 1e-3), 1.2, longest_leap), farthest);
        outside = from + way * reach;
        at_outside = profile(outside) - z;
    }
    std::uintmax_t most_steps = 20;
    const auto near = [&](double a, double b) {
        return std::abs(a - b) <= relative_precision * std::abs(outside - from);
    };
    const bool rising = inside < outside;
    const auto ends = boost::math::tools::toms748_solve(
        [&](double x) { return profile(x) - z; }, rising ? inside : outside, rising ? outside : inside,
        rising ? at_inside : at_outside, rising ? at_outside : at_inside, near, most_steps);
    if (profile.held_by_another()) return std::nullopt;  // farther out it would be as likely, without that bound
    return std::exp((ends.first + ends.second) / 2);
}

}  // namespace

ProfileInterval profile_interval(Likelihood& likelihood, const FitResult& result, Parameter parameter,
                                 const ProfileOptions& options) {
    const Model& model = likelihood.model();
    if (!uses(model.family, parameter)) throw Error("the family {} has no {}", name(model.family), name(parameter));
    if (model.choice(parameter).fixed) throw Error("{} is fixed: it has no profile", name(parameter));
    const double z = normal_interval(options.level);
    Profile profile(likelihood, result, parameter, options);
    const Reach reach = reach_of(likelihood, result, parameter);
    double step = 1;
    const Uncertainty guess = uncertainty(likelihood, result, InformationKind::average, options.level);
    if (const auto& known = guess.parameters[static_cast<std::size_t>(parameter)])
        step = std::clamp(z * known->log_standard_error, 0.01, 2.0);
    Interval interval;
    interval.lower = end_of(profile, result, z, step, reach.lower);
    interval.upper = end_of(profile, result, z, step, reach.upper);
    (void)evaluate_well(likelihood, result.theta);
    profile.found().interval = interval;
    return profile.found();
}

}  // namespace tesela::geo
