#pragma once

#include "tesela/cli/run_options.hpp"
#include "tesela/geo/data_file.hpp"
#include "tesela/geo/resolve.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tesela::cli {

/// What is subtracted from the values first.
enum class Center : std::uint8_t { none, mean };

/// Which model, as the user writes it.
struct ModelOptions {
    CovarianceFamily family = CovarianceFamily::matern;
    Metric metric = Metric::euclidean;
    geo::TrendFormula trend = geo::Trend::none;
    geo::Estimation estimation = geo::Estimation::ml;
    Center center = Center::none;
    std::vector<std::string> theta;
    std::vector<std::string> fix;
    std::vector<std::string> lower;
    std::vector<std::string> upper;
    std::vector<std::string> start;
    double jitter = 0;
};

/// What the commands on Gaussian processes share.
struct GeoOptions {
    RunOptions run;
    geo::DataFile data;
    ModelOptions model;
    geo::EvaluationRequest method;  ///< without tile and owners, which are texts of `run` and `plan`
    std::string plan;               ///< file, or "auto"
    double plan_budget = 10;
    std::string output;
};

/// add_trend_option() for whoever keeps the text.
CLI::Option* trend_option(CLI::App& command, const std::function<void(const std::string&)>& keep,
                          const std::string& help);

/// Whether a file's values are wanted beside its coordinates.
enum class Reads : std::uint8_t { points, observations };
/// Adds the file, --coords, --na and, for observations, --value.
void add_data_options(CLI::App& command, geo::DataFile& options, Reads what);
/// Adds --family, --metric and --jitter.
void add_covariance_options(CLI::App& command, ModelOptions& options);
/// Adds --trend, which takes the name of a trend or a formula. `trend` is a TrendFormula or an optional one.
template <class Value>
CLI::Option* add_trend_option(CLI::App& command, Value& trend, const std::string& help) {
    return trend_option(
        command, [&trend](const std::string& text) { trend = geo::TrendFormula::parse(text); }, help);
}
/// Adds --trend, --estimation and --center.
void add_mean_options(CLI::App& command, ModelOptions& options, geo::Trend default_trend);
/// Adds --theta.
void add_theta_option(CLI::App& command, ModelOptions& options);
/// Adds --fix, --start, --lower and --upper.
void add_parameter_options(CLI::App& command, ModelOptions& options);
/// Adds --json, --tile, --dist and the options of the engine, under the headings Output and Machine: what stands under
/// Output is to be added before.
void add_run_options(CLI::App& command, GeoOptions& options);
/// Whether a command evaluates once, by a plan that is there, or many times, so that it may also plan itself.
enum class Plans : std::uint8_t { of_a_file, of_its_own_too };
/// Adds --plan, which takes the place of --tile and --dist, and --plan-budget where `auto` is one.
void add_plan_option(CLI::App& command, GeoOptions& options, Plans plans);
/// Adds --method, --accuracy, --band, --refine, --single and --tune.
void add_method_options(CLI::App& command, geo::EvaluationRequest& method);

/// What the options ask of an evaluation. Throws Error where --tile is no size.
[[nodiscard]] geo::EvaluationRequest evaluation_request(const GeoOptions& options);
/// Family, metric, trend, choices of parameters and known mean. Throws Error too if the observations do not determine
/// the trend.
[[nodiscard]] geo::Model model_of(const ModelOptions& options, const geo::Observations& observations);
/// The parameters of --theta. Throws Error naming those that are missing; the nugget is 0 unless given.
[[nodiscard]] CovarianceParameters theta_of(const ModelOptions& options);
/// What was asked for, for model files.
[[nodiscard]] nlohmann::ordered_json settings_json(const GeoOptions& options);

}  // namespace tesela::cli
