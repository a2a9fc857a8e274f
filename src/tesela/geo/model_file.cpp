#include "tesela/geo/model_file.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/whole_number.hpp"
#include "tesela/geo/trend_design.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/json_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tesela::geo {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr std::string_view format_name = "tesela-model";
constexpr int format_version = 1;

/// A part of the file and what it is called in messages.
struct JsonPart {
    const Json& json;
    std::string path;

    [[nodiscard]] JsonPart operator[](const std::string& key) const {
        const std::string inner = path.empty() ? key : path + "." + key;
        if (!json.is_object() || !json.contains(key)) throw Error("the field {} is missing", inner);
        return {json.at(key), inner};
    }
    [[nodiscard]] bool has(const std::string& key) const { return json.is_object() && json.contains(key); }

    template <class T>
    [[nodiscard]] T as(std::string_view what) const {
        try {
            return json.get<T>();
        } catch (const Json::exception&) {
            throw Error("the field {} must be {}", path, what);
        }
    }
    [[nodiscard]] double number() const {
        if (!json.is_number()) throw Error("the field {} must be a number", path);
        return json.get<double>();
    }
    [[nodiscard]] Index integer() const {
        const auto number = whole_number(json);
        if (!number) throw Error("the field {} must be a whole number", path);
        return *number;
    }
    [[nodiscard]] std::string text() const { return as<std::string>("text"); }
    [[nodiscard]] std::vector<double> numbers() const { return as<std::vector<double>>("a list of numbers"); }
    [[nodiscard]] std::vector<std::string> texts() const { return as<std::vector<std::string>>("a list of texts"); }
    /// A name that a parser knows; its message with the field before it.
    template <class Parse>
    [[nodiscard]] auto named(Parse parse) const {
        try {
            return parse(text());
        } catch (const Error& error) {
            throw Error("the field {}: {}", path, error.what());
        }
    }
};

/// What was asked of a parameter; its value stands in theta alone, so that who changes it changes one place.
Ordered parameter_json(const FittedModel& fitted, Parameter p) {
    const ParameterChoice& choice = fitted.model.choice(p);
    Ordered json{{"role", choice.fixed ? "fixed" : "free"}};
    if (choice.fixed) return json;
    const FitResult::Bounds& bounds = fitted.result.bounds[static_cast<std::size_t>(p)];
    const bool profiled = profiles_sigma2(fitted.model);
    if (p == Parameter::sigma2 && profiled) return json;
    const double unit = p == Parameter::nugget && profiled ? fitted.result.theta.sigma2 : 1;
    json["lower"] = bounds.lower * unit;
    json["upper"] = bounds.upper * unit;
    return json;
}

/// [lower, upper], null for an end that is not there.
Ordered interval_json(const Interval& interval) {
    const auto end = [](const std::optional<double>& value) { return value ? Ordered(*value) : Ordered(); };
    return Ordered::array({end(interval.lower), end(interval.upper)});
}

Ordered parameter_uncertainty_json(const FittedModel& fitted, Parameter p) {
    Ordered json = Ordered::object();
    if (const auto& known = fitted.uncertainty->parameters[static_cast<std::size_t>(p)])
        json = {{"standard_error", known->standard_error},
                {"log_standard_error", known->log_standard_error},
                {"interval", interval_json(known->natural)},
                {"log_interval", interval_json(known->logarithmic)}};
    if (const auto& profile = fitted.profiles[static_cast<std::size_t>(p)])
        json["profile_interval"] = interval_json(profile->interval);
    return json;
}

Ordered correlation_json(const FittedModel& fitted) {
    Ordered json = Ordered::object();
    for (const Parameter p : all_parameters)
        for (const Parameter q : all_parameters)
            if (p < q && fitted.uncertainty->parameters[static_cast<std::size_t>(p)] &&
                fitted.uncertainty->parameters[static_cast<std::size_t>(q)])
                json[fmt::format("{},{}", name(p), name(q))] =
                    fitted.uncertainty->correlation(static_cast<Index>(p), static_cast<Index>(q));
    return json;
}

/// null where it was not asked for.
Ordered uncertainty_json(const FittedModel& fitted) {
    if (!fitted.uncertainty) return {};
    Ordered parameters = Ordered::object();
    for (const Parameter p : all_parameters)
        if (Ordered json = parameter_uncertainty_json(fitted, p); !json.empty())
            parameters[std::string(name(p))] = std::move(json);
    return {{"information", name_in(information_names, fitted.uncertainty->information)},
            {"level", fitted.uncertainty->level},
            {"parameters", std::move(parameters)},
            {"correlation", correlation_json(fitted)}};
}

Ordered by_name(const std::vector<std::string>& names, const std::vector<double>& values) {
    Ordered json = Ordered::object();
    for (std::size_t k = 0; k < names.size(); ++k) json[names[k]] = values[k];
    return json;
}

/// Files of earlier versions have the values a second time.
void require_same_value(const JsonPart& in_theta, const JsonPart& parameter) {
    if (!parameter.has("value")) return;
    const JsonPart again = parameter["value"];
    if (in_theta.number() != again.number())
        throw Error("the fields {} and {} differ, {} and {}: give both the same value, or remove {}", in_theta.path,
                    again.path, in_theta.number(), again.number(), again.path);
}

void read_parameters(const JsonPart& root, FittedModel& fitted) {
    const JsonPart theta = root["theta"];
    const JsonPart parameters = root["parameters"];
    for (const Parameter p : all_parameters) {
        const std::string key(name(p));
        if (!uses(fitted.model.family, p)) {
            if (theta.has(key))
                throw Error("the field {}.{}: the family {} has no {}", theta.path, key, name(fitted.model.family),
                            key);
            continue;
        }
        const JsonPart part = parameters[key];
        require_same_value(theta[key], part);
        const double value = theta[key].number();
        value_of(fitted.result.theta, p) = value;
        const std::string role = part["role"].text();
        if (role != "fixed" && role != "free")
            throw Error("the field {}.role must be \"fixed\" or \"free\"; it is \"{}\"", part.path, role);
        if (role == "fixed") fitted.model.choice(p).fixed = value;
    }
}

/// {name: numbers or texts, …}
std::vector<Covariate> read_covariates(const JsonPart& covariates) {
    if (!covariates.json.is_object()) throw Error("the field {} must be an object", covariates.path);
    std::vector<Covariate> result;
    for (const auto& [name, values] : covariates.json.items()) {
        const JsonPart column = covariates[name];
        Covariate& covariate = result.emplace_back(Covariate{.name = name, .values = {}});
        if (values.is_array() && !values.empty() && values.front().is_string())
            covariate.values = column.texts();
        else
            covariate.values = column.numbers();
    }
    return result;
}

Ordered covariates_json(const std::vector<Covariate>& covariates) {
    Ordered json = Ordered::object();
    for (const Covariate& covariate : covariates)
        std::visit([&](const auto& values) { json[covariate.name] = values; }, covariate.values);
    return json;
}

Ordered observations_json(const Observations& observations) {
    Ordered json{{"coordinates", observations.coordinates}, {"values", observations.values}};
    if (!observations.covariates.empty()) json["covariates"] = covariates_json(observations.covariates);
    return json;
}

Observations read_observations(const JsonPart& root) {
    const JsonPart data = root["observations"];
    Observations result{.coordinates = data["coordinates"].as<std::vector<std::vector<double>>>("lists of numbers"),
                        .values = data["values"].numbers(),
                        .coordinate_names = root["columns"]["coordinates"].texts(),
                        .value_name = root["columns"]["value"].text(),
                        .file = root["source"].text()};
    if (data.has("covariates")) result.covariates = read_covariates(data["covariates"]);
    if (result.coordinate_names.size() != result.coordinates.size())
        throw Error("the fields columns.coordinates and observations.coordinates have {} and {} columns",
                    result.coordinate_names.size(), result.coordinates.size());
    std::set<std::string> names;
    for (const std::string& name : result.coordinate_names)
        if (!names.insert(name).second) throw Error("the field columns.coordinates has {} twice", name);
    return result;
}

Estimation parse_estimation(const std::string& text) {
    return parse_name(estimation_names, text, "kind of estimation");
}

StopReason parse_stop_reason(const std::string& text) { return parse_name(stop_reason_names, text, "reason to stop"); }

Trend parse_kind(const std::string& text) { return parse_name(trend_names, text, "trend"); }

TrendFormula parse_formula(const std::string& text) {
    TrendFormula formula = TrendFormula::parse(text);
    if (formula.kind() != Trend::formula) throw Error("\"{}\" is not a formula", text);
    return formula;
}

TrendFormula read_formula(const JsonPart& trend) {
    const Trend kind = trend["kind"].named(parse_kind);
    if (kind == Trend::formula) return trend["formula"].named(parse_formula);
    if (trend.has("formula"))
        throw Error("the field {}.formula is there, but {}.kind is \"{}\"", trend.path, trend.path,
                    name_in(trend_names, kind));
    return {kind};
}

/// The levels follow from the observations; what the file says of them must be so.
void require_levels(const JsonPart& trend, const TrendDesign& design) {
    if (design.levels().empty()) return;
    const JsonPart levels = trend["levels"];
    for (const FactorLevels& factor : design.levels())
        if (levels[factor.variable].texts() != factor.labels)
            throw Error("the field {}.{} is not what the observations have, which is {}", levels.path, factor.variable,
                        fmt::join(factor.labels, ", "));
    if (levels.json.size() != design.levels().size())
        throw Error("the field {} has {} factors; the trend has {}", levels.path, levels.json.size(),
                    design.levels().size());
}

/// The columns that the trend uses beside coordinates, no more and no fewer.
void require_covariates(const FittedModel& fitted) {
    std::vector<std::string> names;
    for (const Covariate& covariate : fitted.observations.covariates) names.push_back(covariate.name);
    const auto wanted = covariate_names(fitted.model.trend, fitted.observations.coordinate_names);
    if (!std::is_permutation(names.begin(), names.end(), wanted.begin(), wanted.end()))
        throw Error("the field observations.covariates has {}; the trend needs {}",
                    names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")),
                    wanted.empty() ? "nothing" : fmt::format("{}", fmt::join(wanted, ", ")));
}

/// A number for every coefficient that the trend has, and for no other.
void read_trend(const JsonPart& trend, FittedModel& fitted) {
    fitted.model.trend = read_formula(trend);
    require_covariates(fitted);
    const TrendDesign design(fitted.model.trend, fitted.observations);
    require_levels(trend, design);
    for (const char* key : {"coefficients", "standard_errors"}) {
        const JsonPart part = trend[key];
        if (!part.json.is_object()) throw Error("the field {} must be an object", part.path);
        for (const auto& [name, value] : part.json.items())
            if (std::find(design.names().begin(), design.names().end(), name) == design.names().end())
                throw Error("the field {}.{} is of no coefficient of the trend {}, which has {}", part.path, name,
                            fitted.model.trend.text(), fmt::join(design.names(), ", "));
    }
    TrendEstimate& estimate = fitted.result.trend;
    estimate.names = design.names();
    for (const std::string& name : estimate.names) {
        estimate.coefficients.push_back(trend["coefficients"][name].number());
        estimate.standard_errors.push_back(trend["standard_errors"][name].number());
    }
}

void check_format(const JsonPart& root) {
    if (root["format"].text() != format_name)
        throw Error("the field format is \"{}\", not \"{}\"", root["format"].text(), format_name);
    if (const Index version = root["version"].integer(); version != format_version)
        throw Error("the field version is {}; this program reads version {}", version, format_version);
}

/// What the parameters mean follows from the family; a file that says another thing was changed by someone who means
/// it.
void check_convention(const JsonPart& root, CovarianceFamily family) {
    if (!root.has("convention")) return;
    if (const std::string text = root["convention"].text(); text != convention(family))
        throw Error("the field convention is \"{}\", but the family {} has \"{}\"", text, name(family),
                    convention(family));
}

}  // namespace

InformationCriteria criteria_of(const FittedModel& fitted) {
    return information_criteria(fitted.model, fitted.result.log_likelihood,
                                static_cast<Index>(fitted.result.trend.coefficients.size()),
                                fitted.observations.size());
}

Ordered theta_json(CovarianceFamily family, const CovarianceParameters& theta) {
    Ordered json = Ordered::object();
    for (const Parameter p : all_parameters)
        if (uses(family, p)) json[std::string(name(p))] = value_of(theta, p);
    return json;
}

Ordered trend_json(const TrendFormula& trend, const TrendEstimate& estimate) {
    Ordered json{{"kind", name_in(trend_names, trend.kind())}};
    if (trend.kind() == Trend::formula) json["formula"] = trend.text();
    json["coefficients"] = by_name(estimate.names, estimate.coefficients);
    json["standard_errors"] = by_name(estimate.names, estimate.standard_errors);
    return json;
}

Ordered to_json(const FittedModel& fitted) {
    const Model& model = fitted.model;
    const FitResult& result = fitted.result;
    Ordered parameters = Ordered::object();
    for (const Parameter p : all_parameters)
        if (uses(model.family, p)) parameters[std::string(name(p))] = parameter_json(fitted, p);
    Ordered configuration = fitted.configuration;
    if (fitted.storage) configuration.update(to_json(*fitted.storage));
    std::vector<std::string> warnings;
    for (const FitWarning& warning : result.warnings) warnings.push_back(warning.text);
    std::vector<std::string> names;
    for (std::size_t d = 0; d < fitted.observations.coordinates.size(); ++d)
        names.push_back(fitted.observations.coordinate_name(d));
    Ordered trend = trend_json(model.trend, result.trend);
    const TrendDesign design(model.trend, fitted.observations);
    for (const FactorLevels& factor : design.levels()) trend["levels"][factor.variable] = factor.labels;
    return {{"format", format_name},
            {"version", format_version},
            {"program", fitted.program},
            {"family", name(model.family)},
            {"convention", convention(model.family)},
            {"metric", name(model.metric)},
            {"theta", theta_json(model.family, result.theta)},
            {"parameters", std::move(parameters)},
            {"trend", std::move(trend)},
            {"uncertainty", uncertainty_json(fitted)},
            {"estimation", name_in(estimation_names, model.estimation)},
            {"center", model.center},
            {"jitter", model.jitter},
            {"loglik", result.log_likelihood},
            {"aic", criteria_of(fitted).aic},
            {"bic", criteria_of(fitted).bic},
            {"evaluations", result.evaluations},
            {"gradients", result.gradients},
            {"scan_evaluations", result.scan_evaluations},
            {"starts", {{"climbed", result.climbs}, {"to_this_maximum", result.climbs_to_best}}},
            {"slope", result.slope < 0 ? Ordered() : Ordered(result.slope)},
            {"seconds", result.seconds},
            {"stop_reason", name(result.stop_reason)},
            {"condition", {{"estimate", result.conditioning.estimate}, {"digits", result.conditioning.digits()}}},
            {"warnings", std::move(warnings)},
            {"columns", {{"coordinates", std::move(names)}, {"value", fitted.observations.value_name}}},
            {"source", fitted.observations.file},
            {"configuration", std::move(configuration)},
            {"observations", observations_json(fitted.observations)}};
}

FittedModel model_from_json(const Json& json) {
    const JsonPart root{json, ""};
    check_format(root);
    FittedModel fitted;
    fitted.program = root["program"].text();
    fitted.model.family = root["family"].named(parse_covariance_family);
    fitted.model.metric = root["metric"].named(parse_metric);
    read_parameters(root, fitted);
    check_convention(root, fitted.model.family);
    fitted.observations = read_observations(root);
    read_trend(root["trend"], fitted);
    if (root.has("estimation")) fitted.model.estimation = root["estimation"].named(parse_estimation);
    fitted.model.center = root["center"].number();
    fitted.model.jitter = root["jitter"].number();
    fitted.result.log_likelihood = root["loglik"].number();
    fitted.result.evaluations = root["evaluations"].integer();
    fitted.result.seconds = root["seconds"].number();
    fitted.result.stop_reason = root["stop_reason"].named(parse_stop_reason);
    if (root.has("configuration")) fitted.configuration = json.at("configuration");
    fitted.storage = storage_from_json(fitted.configuration);
    return fitted;
}

bool is_model_file(const std::string& path) {
    if (path.empty() || path == "-") return false;
    try {
        const Json json = read_json_file(path);
        return json.is_object() && json.contains("format") && json.at("format") == Json(format_name);
    } catch (const Error&) {
        return false;
    }
}

FittedModel read_model(const std::string& path) { return parse_model(read_file(path), path); }

FittedModel parse_model(const std::string& text, const std::string& file) {
    try {
        FittedModel fitted = model_from_json(parse_json(text, file));
        validate(fitted.observations);
        validate(fitted.model);
        tesela::validate(fitted.model.family, fitted.result.theta, fitted.model.metric);
        return fitted;
    } catch (const Error& error) {
        throw Error("{} is not a model that tesela fit wrote: {}", file, error.what());
    }
}

}  // namespace tesela::geo
