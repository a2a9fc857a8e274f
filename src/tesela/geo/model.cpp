#include "tesela/geo/model.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/names.hpp"
#include "tesela/base/units.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela::geo {
namespace {

constexpr Names<Parameter, 4> parameter_names{{{Parameter::sigma2, "sigma2"},
                                               {Parameter::range, "range"},
                                               {Parameter::smoothness, "smoothness"},
                                               {Parameter::nugget, "nugget"}}};

// Parameters are searched on a log scale, so only a fixed nugget may be 0.
void require_positive(Parameter p, std::string_view what, const std::optional<double>& value) {
    if (value && !(std::isfinite(*value) && *value > 0))
        throw Error("the {} of {} is {}; it must be a positive number{}", what, name(p), *value,
                    p == Parameter::nugget ? " (to have no nugget, fix it at 0)" : "");
}

void validate_choice(Parameter p, const ParameterChoice& choice) {
    if (choice.fixed && (choice.bounded() || choice.start))
        throw Error("{} is fixed, so it can have no start and no bounds", name(p));
    if (p == Parameter::nugget && choice.fixed && (!std::isfinite(*choice.fixed) || *choice.fixed < 0))
        throw Error("the nugget is fixed at {}; it must not be negative", *choice.fixed);
    if (p != Parameter::nugget) require_positive(p, "fixed value", choice.fixed);
    require_positive(p, "start", choice.start);
    require_positive(p, "lower bound", choice.lower);
    require_positive(p, "upper bound", choice.upper);
    if (choice.lower && choice.upper && *choice.lower >= *choice.upper)
        throw Error("the lower bound {} of {} is not below its upper bound {}", *choice.lower, name(p), *choice.upper);
    if (choice.start &&
        ((choice.lower && *choice.start < *choice.lower) || (choice.upper && *choice.start > *choice.upper)))
        throw Error("the start {} of {} is outside its bounds", *choice.start, name(p));
}

void require_moderate(const Observations& observations, const std::vector<double>& column, const std::string& name) {
    for (std::size_t i = 0; i < column.size(); ++i)
        if (std::abs(column[i]) > largest_value)
            throw Error("the {} at {} is {}: numbers beyond {} are too large to compute with; use another unit", name,
                        observations.where(static_cast<Index>(i)), column[i], largest_value);
}

double extent(const std::vector<double>& column) {
    const auto [low, high] = std::minmax_element(column.begin(), column.end());
    return *high - *low;
}

void require_distinguishable(std::string_view what, double apart, const std::string& prefix) {
    if (apart * largest_value < 1)
        throw Error("{}{} differ by {} at most: too little to compute with; use another unit", prefix, what, apart);
}

/// Neither too large nor too close together for squares.
void require_moderate(const Observations& observations, const std::string& prefix) {
    double longest = 0;
    for (std::size_t d = 0; d < observations.coordinates.size(); ++d) {
        require_moderate(observations, observations.coordinates[d], "coordinate " + observations.coordinate_name(d));
        longest = std::max(longest, extent(observations.coordinates[d]));
    }
    require_moderate(observations, observations.values, "value of " + observations.value_name);
    require_distinguishable("the coordinates", longest, prefix);
    require_distinguishable("the values of " + observations.value_name, extent(observations.values), prefix);
}

std::string where_in(const std::string& file, const std::vector<Index>& lines, Index point) {
    if (lines.empty()) return fmt::format("point {} (counted from 0)", point);
    return fmt::format("line {} of {}", lines[static_cast<std::size_t>(point)], file);
}

void validate_covariate(const Observations& observations, const Covariate& covariate, const std::string& prefix) {
    if (covariate.size() != observations.values.size())
        throw Error("{}there are {} values of {} at {} points", prefix, covariate.size(), covariate.name,
                    observations.values.size());
    const auto named = [&](const auto& column) { return column.name == covariate.name; };
    if (std::count_if(observations.covariates.begin(), observations.covariates.end(), named) > 1)
        throw Error("{}two columns are called {}", prefix, covariate.name);
    for (std::size_t d = 0; d < observations.coordinates.size(); ++d)
        if (observations.coordinate_name(d) == covariate.name)
            throw Error("{}{} is a coordinate and a covariate", prefix, covariate.name);
    if (covariate.is_text()) return;
    const auto& numbers = std::get<std::vector<double>>(covariate.values);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (!std::isfinite(numbers[i]))
            throw Error("{} at {} is {}; it must be finite", covariate.name, observations.where(static_cast<Index>(i)),
                        numbers[i]);
    require_moderate(observations, numbers, covariate.name);
}

bool all_equal(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
}

}  // namespace

std::string_view name(Parameter parameter) { return name_in(parameter_names, parameter); }
Parameter parse_parameter(std::string_view text) { return parse_name(parameter_names, text, "parameter"); }

bool uses(CovarianceFamily family, Parameter parameter) {
    return parameter != Parameter::smoothness || family == CovarianceFamily::matern ||
           family == CovarianceFamily::powered_exponential;
}

double& value_of(CovarianceParameters& theta, Parameter parameter) {
    switch (parameter) {
        case Parameter::sigma2: return theta.sigma2;
        case Parameter::range: return theta.range;
        case Parameter::smoothness: return theta.smoothness;
        case Parameter::nugget: break;
    }
    return theta.nugget;
}

double value_of(const CovarianceParameters& theta, Parameter parameter) {
    CovarianceParameters copy = theta;
    return value_of(copy, parameter);
}

std::string describe(CovarianceFamily family, const CovarianceParameters& theta) {
    std::string text;
    for (const Parameter p : all_parameters)
        if (uses(family, p)) text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name(p), value_of(theta, p));
    return text;
}

void validate(const Model& model) {
    for (const Parameter p : all_parameters) {
        validate_choice(p, model.choice(p));
        const ParameterChoice& c = model.choice(p);
        if (!uses(model.family, p) && (c.fixed || c.start || c.bounded()))
            throw Error("the family {} has no {}", name(model.family), name(p));
    }
    if (!std::isfinite(model.jitter) || model.jitter < 0)
        throw Error("the jitter is {}; it must be a number that is not negative", model.jitter);
    if (model.center != 0 && model.trend.kind() != Trend::none)
        throw Error(
            "subtracting a mean (--center mean) needs a model without a trend (--trend none); this one has the trend "
            "{}",
            model.trend.text());
    if (!std::isfinite(model.center)) throw Error("the mean to subtract is {}; it must be finite", model.center);
}

bool profiles_sigma2(const Model& model) {
    const ParameterChoice& sigma2 = model.choice(Parameter::sigma2);
    const ParameterChoice& nugget = model.choice(Parameter::nugget);
    const bool nugget_scales = nugget.fixed ? *nugget.fixed == 0 : !nugget.bounded();
    return !sigma2.fixed && !sigma2.bounded() && nugget_scales;
}

std::string Sites::where(Index place) const { return where_in(file, lines, place); }

std::string Observations::where(Index observation) const {
    if (!lines.empty() || numbers.empty()) return where_in(file, lines, observation);
    return where_in(file, lines, numbers[static_cast<std::size_t>(observation)]);
}

double Observations::mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Sites Observations::sites() const {
    Sites result(coordinates, covariates);
    result.file = file;
    result.lines = lines;
    return result;
}

std::string Observations::coordinate_name(std::size_t dimension) const {
    return dimension < coordinate_names.size() ? coordinate_names[dimension] : fmt::format("x{}", dimension + 1);
}

void validate(const Observations& observations) {
    const std::string& file = observations.file;
    const std::string prefix = file.empty() ? "" : file + ": ";
    if (observations.coordinates.empty()) throw Error("{}observations have no coordinates", prefix);
    for (const auto& column : observations.coordinates)
        if (column.size() != observations.values.size())
            throw Error("{}there are {} values at {} points", prefix, observations.values.size(), column.size());
    if (observations.size() < 2)
        throw Error("{}{} observation{}: at least two are needed", prefix, observations.size(),
                    plural(observations.size()));
    for (Index i = 0; i < observations.size(); ++i)
        if (!std::isfinite(observations.values[static_cast<std::size_t>(i)]))
            throw Error("the value of {} at {} is {}; it must be finite", observations.value_name,
                        observations.where(i), observations.values[static_cast<std::size_t>(i)]);
    if (std::all_of(observations.coordinates.begin(), observations.coordinates.end(), all_equal))
        throw Error("{}all {} points are equal; a covariance needs distances", prefix, observations.size());
    if (all_equal(observations.values))
        throw Error("{}all {} values of {} are equal; there is nothing to model", prefix, observations.size(),
                    observations.value_name);
    require_moderate(observations, prefix);
    for (const Covariate& covariate : observations.covariates) validate_covariate(observations, covariate, prefix);
}

}  // namespace tesela::geo
