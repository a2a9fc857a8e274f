#include "tesela/cli/geo_options.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <utility>

namespace tesela::cli {
namespace {

using geo::Parameter;

struct Assignment {
    Parameter parameter;
    double value;
};

/// "range=200" of an option.
Assignment parse_assignment(const std::string& option, const std::string& text) {
    const auto equals = text.find('=');
    const auto value = equals == std::string::npos ? std::nullopt : number_in<double>(text.substr(equals + 1));
    if (!value) throw Error("{} takes NAME=NUMBER, as range=0.1; \"{}\" is not of that form", option, text);
    return {geo::parse_parameter(text.substr(0, equals)), *value};
}

/// The assignments of an option, each parameter at most once.
std::vector<Assignment> parse_assignments(const std::string& option, const std::vector<std::string>& texts) {
    std::vector<Assignment> assignments;
    for (const std::string& text : texts) {
        const Assignment next = parse_assignment(option, text);
        for (const Assignment& earlier : assignments)
            if (earlier.parameter == next.parameter)
                throw Error("{} gives {} twice, {} and {}", option, name(next.parameter), earlier.value, next.value);
        assignments.push_back(next);
    }
    return assignments;
}

constexpr Names<Center, 2> center_names{{{Center::none, "none"}, {Center::mean, "mean"}}};

using ChoiceMember = std::optional<double> geo::ParameterChoice::*;

void apply(geo::Model& model, const std::string& option, const std::vector<std::string>& texts, ChoiceMember member) {
    for (const auto& [parameter, value] : parse_assignments(option, texts)) model.choice(parameter).*member = value;
}

CLI::Option* add_assignments(CLI::App& command, const std::string& option, std::vector<std::string>& into,
                             const std::string& help) {
    return comma_separated(command.add_option(option, into, help))->type_name("NAME=NUMBER,…");
}

}  // namespace

void add_data_options(CLI::App& command, geo::DataFile& options, Reads what) {
    command.add_option("file", options.file, "CSV file with a header; - is standard input")->required();
    add_columns_option(command, "--coords", options.coordinates,
                       "Columns of the coordinates, one to three, as x,y or lon,lat (longitude first); a name with a "
                       "comma in it is quoted as in the file: '\"east, m\",north'")
        ->required();
    if (what == Reads::observations)
        command.add_option("--value", options.value, "Column of the observed values")->required();
    add_choice(command, "--na", options.na, na_policy_names,
               "What becomes of rows with a missing value (empty, NA, NaN): error (the command ends) or drop");
}

void add_covariance_options(CLI::App& command, ModelOptions& options) {
    add_choice(command, "--family", options.family, covariance_family_names, "Covariance, as below");
    add_choice(command, "--metric", options.metric, metric_names,
               fmt::format("Distances: euclidean, or for lon,lat in degrees chordal or great_circle, in km on a sphere "
                           "of radius {} km",
                           earth_radius_km));
    rarely_used(
        at_least(command.add_option(
                     "--jitter", options.jitter,
                     "Added to the diagonal of the covariance matrix, as a fraction of sigma2; never added unasked"),
                 0.0)
            ->capture_default_str());
    std::string conventions = "Covariances of two observations at distance r:";
    for (const auto& [family, text] : covariance_family_names)
        conventions += fmt::format("\n  {}: {}", text, convention(family));
    command.footer(conventions);
}

CLI::Option* trend_option(CLI::App& command, const std::function<void(const std::string&)>& keep,
                          const std::string& help) {
    const auto complaint = [](const std::string& text) -> std::string {
        try {
            (void)geo::TrendFormula::parse(text);
            return {};
        } catch (const Error& error) {
            return error.what();
        }
    };
    return command.add_option_function<std::string>("--trend", keep, help)
        ->check(CLI::Validator(complaint, ""))
        ->type_name("none|constant|linear|FORMULA");
}

void add_mean_options(CLI::App& command, ModelOptions& options, geo::Trend default_trend) {
    options.trend = default_trend;
    add_trend_option(command, options.trend,
                     "Mean of the field: none, constant, linear in the coordinates, or a formula of columns in R's "
                     "manner, as '~ sqrt(dist) + soil' (text is a factor); its coefficients are estimated")
        ->default_str(options.trend.text());
    add_choice(command, "--estimation", options.estimation, geo::estimation_names,
               "Likelihood: of the observations (ml), or restricted to what does not depend on the trend (reml)");
    rarely_used(add_choice(command, "--center", options.center, center_names,
                           "Instead of a trend: mean (subtract the sample mean; needs --trend none), or none"));
}

void add_theta_option(CLI::App& command, ModelOptions& options) {
    comma_separated(
        command.add_option("--theta", options.theta,
                           "Parameters: sigma2, range, smoothness where the family has one, nugget (0 unless given)"))
        ->type_name("NAME=NUMBER,…")
        ->required();
}

void add_parameter_options(CLI::App& command, ModelOptions& options) {
    add_assignments(command, "--fix", options.fix,
                    "Parameters that are held at these values and not estimated, as nugget=0");
    rarely_used(add_assignments(command, "--start", options.start, "Where the search begins (default: from the data)"));
    rarely_used(add_assignments(command, "--lower", options.lower, "Lower bounds (default: from the data)"));
    rarely_used(add_assignments(command, "--upper", options.upper, "Upper bounds (default: from the data)"));
}

void add_run_options(CLI::App& command, GeoOptions& options) {
    add_json_option(command, options.run);
    set_heading(command, "Output");
    add_tiling_options(command, options.run);
    add_engine_options(command, options.run);
    command.get_option("--quiet")->group("Output");
    set_heading(command, "Machine");
}

void add_plan_option(CLI::App& command, GeoOptions& options, Plans plans) {
    const bool own = plans == Plans::of_its_own_too;
    auto* plan = command
                     .add_option("--plan", options.plan,
                                 own ? "Owners of tiles in each phase: a file of tesela plan, or auto, which measures "
                                       "the nodes, plans, and corrects the plan while the fit runs"
                                     : "Tile size and owners of tiles in each phase, as tesela plan wrote them")
                     ->type_name(own ? "FILE|auto" : "FILE")
                     ->excludes("--tile")
                     ->excludes("--dist")
                     ->group("Machine");
    if (!own) return;
    rarely_used(at_least(command.add_option("--plan-budget", options.plan_budget,
                                            "Seconds that --plan auto may look for a plan"),
                         0.0)
                    ->capture_default_str()
                    ->needs(plan)
                    ->group("Machine"));
}

void add_method_options(CLI::App& command, geo::EvaluationRequest& method) {
    static constexpr Names<geo::Method, 3> names{
        {{geo::Method::exact, "exact"}, {geo::Method::tlr, "tlr"}, {geo::Method::automatic, "auto"}}};
    add_choice(command, "--method", method.method, names,
               "exact: all elements of the covariance matrix are stored; tlr: tiles of low rank, to --accuracy; auto: "
               "what takes less work, judged by some of its tiles")
        ->default_str("exact");
    at_least(command.add_option("--accuracy", method.accuracy,
                                "With tlr: what a tile may differ from the true one, in the Frobenius norm, relative "
                                "to sigma2 (default: 1e-9)"),
             0.0);
    rarely_used(
        at_least(command.add_option("--band", method.band,
                                    "With tlr: so many diagonals of tiles, from the main one on, are stored whole "
                                    "(default: as some tiles make it look best)"),
                 Index{1}));
    rarely_used(at_least(
        command.add_option("--refine", method.refine,
                           "With tlr: improve solutions against the true matrix, of which nothing is stored, "
                           "until residuals are this small, as 1e-10: means of predictions and coefficients are "
                           "then exact to that, whatever --accuracy is"),
        geo::least_refinement));
    rarely_used(command.add_flag_callback(
        "--single", [&method] { method.precision = FactorPrecision::as_needed; },
        "With tlr: store what the accuracy allows of U and V in single precision, which takes less memory"));
    rarely_used(command.add_flag_callback(
        "--tune", [&method] { method.speeds = geo::Speeds::measured; },
        "With tlr: choose tile and band by how fast this machine is measured to be now, and say them; otherwise by "
        "usual speeds, so that the same command gives the same digits"));
}

geo::EvaluationRequest evaluation_request(const GeoOptions& options) {
    geo::EvaluationRequest request = options.method;
    if (!is_automatic_tile(options.run.tile)) request.tile = parse_tile(options.run.tile);
    request.owners = options.run.distribution;
    if (!options.plan.empty())
        request.owners_from = options.plan == "auto" ? geo::OwnersFrom::own_plan : geo::OwnersFrom::plan;
    return request;
}

geo::Model model_of(const ModelOptions& options, const geo::Observations& observations) {
    geo::Model model{
        .family = options.family, .metric = options.metric, .trend = options.trend, .estimation = options.estimation};
    if (options.center == Center::mean) model.center = observations.mean();
    model.jitter = options.jitter;
    apply(model, "--fix", options.fix, &geo::ParameterChoice::fixed);
    apply(model, "--start", options.start, &geo::ParameterChoice::start);
    apply(model, "--lower", options.lower, &geo::ParameterChoice::lower);
    apply(model, "--upper", options.upper, &geo::ParameterChoice::upper);
    geo::validate(model);
    (void)geo::TrendBasis(model.trend, observations);  // says what is wrong with it before anything is computed
    return model;
}

CovarianceParameters theta_of(const ModelOptions& options) {
    const CovarianceFamily family = options.family;
    std::array<std::optional<double>, geo::all_parameters.size()> given{};
    given[static_cast<std::size_t>(Parameter::nugget)] = 0;
    for (const auto& [parameter, value] : parse_assignments("--theta", options.theta)) {
        if (!geo::uses(family, parameter))
            throw Error("--theta: the family {} has no {}", name(family), name(parameter));
        given[static_cast<std::size_t>(parameter)] = value;
    }
    CovarianceParameters theta;
    for (const Parameter p : geo::all_parameters) {
        const auto& value = given[static_cast<std::size_t>(p)];
        if (!value && geo::uses(family, p)) throw Error("--theta lacks {} for the family {}", name(p), name(family));
        if (value) geo::value_of(theta, p) = *value;
    }
    validate(family, theta, options.metric);
    return theta;
}

nlohmann::ordered_json settings_json(const GeoOptions& options) {
    return {{"na", name_in(na_policy_names, options.data.na)},
            {"center", name_in(center_names, options.model.center)},
            {"fix", options.model.fix},
            {"start", options.model.start},
            {"lower", options.model.lower},
            {"upper", options.model.upper},
            {"dist", options.run.distribution}};
}

}  // namespace tesela::cli
