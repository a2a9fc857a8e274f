#include "tesela/cli/commands.hpp"

#include "tesela/algs/compressed_cut.hpp"
#include "tesela/autoplan/running_plan.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/fields.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/base/version.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/interrupt.hpp"
#include "tesela/cli/map_options.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/places.hpp"
#include "tesela/geo/model_field.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/geo/prediction_table.hpp"
#include "tesela/geo/rank_sample.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tesela::cli {
namespace {

using geo::Parameter;

// --- what is printed -------------------------------------------------------------------------------------------------

std::string unit_of(Parameter parameter, const geo::Model& model, const geo::Observations& data) {
    if (parameter == Parameter::smoothness) return "";
    if (parameter != Parameter::range) return fmt::format("({})²", data.value_name);
    if (model.metric != Metric::euclidean) return "km";
    std::string names;
    for (std::size_t d = 0; d < data.coordinates.size(); ++d) names += (d == 0 ? "" : ", ") + data.coordinate_name(d);
    return "unit of " + names;
}

/// "0.31 to 1.9"; an end that is not there is "…".
std::string describe(const geo::Interval& interval) {
    const auto end = [](const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "…"; };
    return fmt::format("{} to {}", end(interval.lower), end(interval.upper));
}

/// One line of the table of estimates.
struct EstimateRow {
    std::string_view name{};
    std::string estimate{};
    std::string error{};
    std::string interval{};
    std::string unit{};
};
/// Without blanks at its end.
void print_row(const EstimateRow& row, std::size_t width) {
    const std::string line = fmt::format("  {:<{}} {:<12} {:<12} {:<22} {}", row.name, width, row.estimate, row.error,
                                         row.interval, row.unit);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
}

std::string with_sign(double error) { return fmt::format("± {:.3g}", error); }

/// Of the column of names before results.
std::size_t name_width(const geo::TrendEstimate& trend) {
    std::size_t width = 12;
    for (const std::string& name : trend.names) width = std::max(width, name.size());
    return width;
}

void print_theta(const geo::Model& model, const geo::Observations& data, const CovarianceParameters& theta,
                 std::size_t width) {
    for (const Parameter p : geo::all_parameters) {
        if (!geo::uses(model.family, p)) continue;
        std::string line = fmt::format("  {:<{}} {:<12.6g}", name(p), width, geo::value_of(theta, p));
        if (const std::string unit = unit_of(p, model, data); !unit.empty()) line += " " + unit;
        if (model.choice(p).fixed) line += " (fixed)";
        fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    }
}

void print_trend(const geo::TrendEstimate& trend) {
    for (std::size_t k = 0; k < trend.names.size(); ++k)
        fmt::print("  {:<{}} {:<12.6g} ± {:.3g}\n", trend.names[k], name_width(trend), trend.coefficients[k],
                   trend.standard_errors[k]);
}

/// That of the logarithm; where the error is larger than the estimate a logarithm says nothing, and 0 is as good.
geo::Interval printed_interval(const geo::ParameterUncertainty& known) {
    if (known.log_standard_error <= 1) return known.logarithmic;
    return {std::max(0.0, *known.natural.lower), known.natural.upper};
}

/// Intervals are those of printed_interval(), or of a profile where there is one.
void print_parameter(const geo::FittedModel& fitted, Parameter p) {
    std::string error;
    std::string interval;
    if (const auto& known = fitted.uncertainty->parameters[static_cast<std::size_t>(p)]) {
        error = with_sign(known->standard_error);
        interval = describe(printed_interval(*known));
    }
    if (const auto& profile = fitted.profiles[static_cast<std::size_t>(p)])
        interval = describe(profile->interval) + " *";
    std::string unit = unit_of(p, fitted.model, fitted.observations);
    if (fitted.model.choice(p).fixed) unit += unit.empty() ? "(fixed)" : " (fixed)";
    print_row({.name = name(p),
               .estimate = fmt::format("{:.6g}", geo::value_of(fitted.result.theta, p)),
               .error = std::move(error),
               .interval = std::move(interval),
               .unit = std::move(unit)},
              name_width(fitted.result.trend));
}

void print_estimates(const geo::FittedModel& fitted) {
    const double level = fitted.uncertainty->level;
    const double z = geo::normal_interval(level);
    const std::size_t width = name_width(fitted.result.trend);
    print_row(
        {.estimate = "estimate", .error = "± std. error", .interval = fmt::format("{:.12g} % interval", 100 * level)},
        width);
    for (const Parameter p : geo::all_parameters)
        if (geo::uses(fitted.model.family, p)) print_parameter(fitted, p);
    const geo::TrendEstimate& trend = fitted.result.trend;
    for (std::size_t k = 0; k < trend.names.size(); ++k) {
        const double estimate = trend.coefficients[k];
        const double error = trend.standard_errors[k];
        print_row({.name = trend.names[k],
                   .estimate = fmt::format("{:.6g}", estimate),
                   .error = with_sign(error),
                   .interval = describe(geo::Interval{estimate - z * error, estimate + z * error})},
                  width);
    }
    if (std::ranges::any_of(fitted.profiles, [](const auto& profile) { return profile.has_value(); }))
        fmt::print("  * by the profile of the likelihood\n");
}

void print_fit(const geo::FittedModel& fitted, const std::string& output) {
    const geo::FitResult& result = fitted.result;
    fmt::print("{} observations of {}, covariance {}, trend {}{}\n", fitted.observations.size(),
               fitted.observations.value_name, name(fitted.model.family), fitted.model.trend.text(),
               fitted.model.estimation == geo::Estimation::reml ? ", restricted likelihood" : "");
    if (fitted.uncertainty) {
        print_estimates(fitted);
    } else {
        print_theta(fitted.model, fitted.observations, result.theta, name_width(result.trend));
        print_trend(result.trend);
    }
    const geo::InformationCriteria criteria = geo::criteria_of(fitted);
    fmt::print("  {:<{}} {:<12.10g} AIC {:.2f}, BIC {:.2f}\n", "loglik", name_width(result.trend),
               result.log_likelihood, criteria.aic, criteria.bic);
    std::string work = fmt::format("{} evaluations", result.evaluations);
    if (result.gradients > 0) work += fmt::format(", {} of them with slopes,", result.gradients);
    if (result.scan_evaluations > 0) work += fmt::format(" and {} of a part of the points", result.scan_evaluations);
    fmt::print("{}: {} in {}; model in {}\n", geo::name(result.stop_reason), work, format_seconds(result.seconds),
               output);
    if (fitted.configuration.contains("compression"))
        fmt::print("{}\n", describe_compression(fitted.configuration.at("compression")));
}

/// The model file without the data, for --json.
Json brief(Json model, const std::string& output) {
    model.erase("observations");
    model["output"] = output;
    return model;
}

/// Where standard errors come from.
enum class ErrorsFrom : std::uint8_t { expected, observed, average, none };
constexpr Names<ErrorsFrom, 4> errors_from_names{{{ErrorsFrom::expected, "expected"},
                                                  {ErrorsFrom::observed, "observed"},
                                                  {ErrorsFrom::average, "average"},
                                                  {ErrorsFrom::none, "none"}}};

struct FitCommand {
    GeoOptions geo;
    geo::FitOptions search;
    ErrorsFrom errors = ErrorsFrom::expected;
    double level = 0.95;
    std::vector<std::string> profile;
    bool dry_run = false;
    std::string needs_slopes;  ///< an option that was given, with its value, and that slopes are needed for
};

// --- dry run ---------------------------------------------------------------------------------------------------------

/// Operations per second of one core in products of tiles, from about a tenth of a second of them.
double product_rate(Index tile) {
    const auto elements = static_cast<std::size_t>(tile * tile);
    std::vector<double> a(elements, 1e-3);
    std::vector<double> b(elements, 1e-3);
    std::vector<double> c(elements, 0);
    const auto as_tile = [tile](std::vector<double>& v) { return Tile{v.data(), {tile, tile}, tile}; };
    const std::array<Tile, 3> tiles{as_tile(a), as_tile(b), as_tile(c)};
    const GemmArguments arguments{.op_b = Op::transpose, .beta = 0};
    const auto start = Clock::now();
    Index products = 0;
    do {
        Dense<double>::gemm.cpu({tiles, &arguments});
        ++products;
    } while (seconds_since(start) < 0.1);
    return static_cast<double>(products) * 2 * static_cast<double>(tile * tile * tile) / seconds_since(start);
}

/// Matrices of the size of the covariance matrix that a fit holds at once: it, its inverse, and the derivatives of the
/// expected information but one.
double matrices_held(const FitCommand& options, const geo::Model& model) {
    if (options.errors == ErrorsFrom::expected) return geo::uses(model.family, Parameter::smoothness) ? 4 : 3;
    return options.search.optimizer == geo::Optimizer::bobyqa && options.errors == ErrorsFrom::none ? 1 : 2;
}

/// Seconds of an evaluation, by how fast the slowest node is at products, or of one that is run where that is quick:
/// few observations wait for more than products.
double seconds_of_evaluation(const geo::FittedModel& fitted, const geo::LikelihoodOptions& options, double by_products,
                             StarpuEngine& engine) {
    constexpr double quick = 0.5;
    if (by_products > quick) return by_products;
    Stream stream(engine, {.sums = Sums::in_order});
    geo::Likelihood likelihood(stream, fitted.observations, fitted.model, options);
    const PointSet& points = likelihood.points();
    const CovarianceParameters somewhere{
        .sigma2 = 1, .range = points.diameter_bound() / 10, .smoothness = 0.5, .nugget = 0.1};
    (void)likelihood.evaluate(somewhere);  // makes tiles and tables
    const auto start = Clock::now();
    (void)likelihood.evaluate(somewhere);
    return engine.max(seconds_since(start));
}

/// What a fit takes in evaluations of all observations. Those of a part are of work that grows with its square: tiles
/// are few there, and covariances and tasks as long as products.
double evaluations_of_fit(Index n, const geo::FitOptions& search) {
    const Index part = geo::points_of_the_scan(n, search);
    const double share = static_cast<double>(part) / static_cast<double>(n);
    return static_cast<double>(geo::usual_evaluations_of_a_part) * share * share +
           (part < n ? static_cast<double>(geo::usual_evaluations) : 0.0);
}

void dry_run(const FitCommand& command, const geo::FittedModel& fitted, StarpuEngine& engine,
             const autoplan::RunningPlan* plan) {
    const GeoOptions& options = command.geo;
    const Index n = fitted.observations.size();
    // What a Cholesky factorisation reaches of the speed of products when its tiles are many.
    constexpr double efficiency = 0.9;
    const geo::LikelihoodOptions resolved = likelihood_options(options, n, engine, plan);
    geo::EvaluationCost cost = geo::evaluation_cost(n, resolved.tile, *resolved.distribution);
    for (double& bytes : cost.bytes_per_node) bytes *= matrices_held(command, fitted.model);
    if (options.ranks) {  // as far as sampled tiles tell, and without what kernels need besides
        const CompressedCut cut{.tile = resolved.tile, .band = resolved.compression->band};
        cost.flops *= options.ranks->cost_over_dense(cut, {engine.total_workers(), engine.node_count()});
        for (double& bytes : cost.bytes_per_node) bytes *= options.ranks->bytes_over_dense(cut);
    }
    const double rate = engine.min(product_rate(resolved.tile));  // of the slowest node
    const auto workers = static_cast<double>(engine.worker_count() * engine.node_count());
    const double seconds = seconds_of_evaluation(fitted, resolved, cost.flops / (efficiency * rate * workers), engine);
    const double evaluations = evaluations_of_fit(n, command.search);
    Json results{{"n", n},
                 {"method", resolved.compression ? "tlr" : "exact"},
                 {"tile", resolved.tile},
                 {"nodes", engine.node_count()},
                 {"workers", engine.worker_count()}};
    if (resolved.compression) results["band"] = resolved.compression->band;
    if (options.run.json) {
        results.update(Json{{"bytes_per_node", cost.bytes_per_node},
                            {"flops", cost.flops},
                            {"gemm_flops_per_second", rate},
                            {"seconds_per_evaluation", seconds},
                            {"evaluations", evaluations},
                            {"seconds", evaluations * seconds}});
    } else {
        for (std::size_t node = 0; node < cost.bytes_per_node.size(); ++node)
            results[fmt::format("memory of node {}", node)] = format_bytes(cost.bytes_per_node[node]);
        results["flops of an evaluation"] = cost.flops;
        results["speed of products per core"] = format_flops(rate);
        results["expected time of an evaluation"] = format_seconds(seconds);
        results["expected time of a fit"] =
            fmt::format("{}, as long as {:.0f} evaluations; a third or three times that is possible",
                        format_seconds(evaluations * seconds), evaluations);
    }
    print_results(engine, results, options.run.json);
}

// --- fit -------------------------------------------------------------------------------------------------------------

autoplan::Progress progress_of(geo::Likelihood& likelihood, Index evaluations) {
    return {
        .evaluations = evaluations,
        .seconds = likelihood.seconds(),
        .give = [&](const plan::PhaseDistributions& owners) { likelihood.redistribute(owners.second, owners.first); }};
}

geo::FitResult search(const FitCommand& options, geo::Likelihood& likelihood, autoplan::RunningPlan* plan) {
    ProgressLine line(wants_progress(options.geo.run));
    geo::FitOptions with_progress = options.search;
    with_progress.progress = [&](const geo::FitProgress& p) {
        line.show([&] {
            const bool scanning = p.points < likelihood.observations().size();
            const std::string on = scanning ? fmt::format(" (on {} points)", p.points) : "";
            return fmt::format("{} evaluations{}, {}, best loglik {:.6f}; {}: {:.6f}", p.evaluation, on,
                               format_seconds(p.seconds), p.best, geo::describe(likelihood.model().family, p.theta),
                               p.log_likelihood);
        });
    };
    if (plan != nullptr)
        with_progress.between = [plan](geo::Likelihood& of, Index evaluations) {
            plan->correct(progress_of(of, evaluations));
        };
    const Interrupt interrupt(
        "\ntesela: the fit ends after this evaluation, with the best point so far; Ctrl-C again ends it at once\n");
    with_progress.interrupted = Interrupt::came;
    return geo::fit(likelihood, with_progress);
}

geo::InformationKind information_of(ErrorsFrom errors) {
    if (errors == ErrorsFrom::observed) return geo::InformationKind::observed;
    return errors == ErrorsFrom::average ? geo::InformationKind::average : geo::InformationKind::expected;
}

/// The parameters of --profile: those named, or all that are free.
std::vector<Parameter> profiled_parameters(const FitCommand& options, const geo::Model& model) {
    std::vector<Parameter> chosen;
    for (const std::string& word : options.profile)
        if (word == "all") {
            for (const Parameter p : geo::all_parameters)
                if (geo::uses(model.family, p) && !model.choice(p).fixed) chosen.push_back(p);
        } else {
            const Parameter p = geo::parse_parameter(word);
            if (!geo::uses(model.family, p))
                throw Error("--profile: the family {} has no {}", name(model.family), word);
            if (model.choice(p).fixed) throw Error("--profile: {} is fixed", word);
            chosen.push_back(p);
        }
    return chosen;
}

void add_profiles(const FitCommand& options, geo::Likelihood& likelihood, geo::FittedModel& fitted) {
    ProgressLine line(wants_progress(options.geo.run));
    const Interrupt interrupt("\ntesela: no more profiles; Ctrl-C again ends the program at once\n");
    for (const Parameter p : profiled_parameters(options, fitted.model)) {
        const auto progress = [&](Index evaluations) {
            line.show([&] { return fmt::format("profile of {}, {} evaluations", name(p), evaluations); });
        };
        const geo::ProfileInterval found = geo::profile_interval(likelihood, fitted.result, p,
                                                                 {.level = options.level,
                                                                  .optimizer = options.search.optimizer,
                                                                  .interrupted = Interrupt::came,
                                                                  .progress = progress});
        fitted.profiles[static_cast<std::size_t>(p)] = found;
        fitted.result.evaluations += found.evaluations;
        if (found.above_fit > geo::noticeable_difference)
            fitted.result.warnings.push_back(
                {geo::FitWarning::Kind::other_maximum, p,
                 fmt::format(
                     "the profile of {} came to a point that is {:.2g} more likely than the fit: fit again with "
                     "more starts (--starts)",
                     name(p), found.above_fit)});
    }
}

/// Standard errors and profiles; where they cannot be had the fit is kept, with a warning. Returns what the command
/// ends with.
ExitCode add_uncertainty(const FitCommand& options, geo::Likelihood& likelihood, geo::FittedModel& fitted) {
    const auto warn = [&](const std::string& text) {
        fitted.result.warnings.push_back({geo::FitWarning::Kind::no_errors, Parameter::sigma2, text});
    };
    if (fitted.result.stop_reason == geo::StopReason::interrupted) return interrupted;
    if (options.errors == ErrorsFrom::none && options.profile.empty()) return success;
    if (fitted.result.stop_reason != geo::StopReason::converged &&
        fitted.result.stop_reason != geo::StopReason::roundoff_limited)
        return success;  // no maximum
    try {
        const auto kind = options.errors == ErrorsFrom::none ? ErrorsFrom::average : options.errors;
        fitted.uncertainty = geo::uncertainty(likelihood, fitted.result, information_of(kind), options.level);
        if (!fitted.uncertainty->missing.empty()) warn(fitted.uncertainty->missing);
        if (options.errors == ErrorsFrom::none) fitted.uncertainty->parameters = {};
        add_profiles(options, likelihood, fitted);
    } catch (const geo::Interrupted& error) {
        warn(fmt::format("no more profiles: {}", error.what()));
        return interrupted;
    } catch (const Error& error) {
        warn(fmt::format("no {}: {}", fitted.uncertainty ? "more profiles" : "standard errors", error.what()));
    }
    return success;
}

void report_fit(const FitCommand& options, const geo::FittedModel& fitted) {
    const std::string& output = options.geo.output;
    const Json json = to_json(fitted);
    write_json_file(output, json);
    for (const geo::FitWarning& warning : fitted.result.warnings) fmt::print(stderr, "warning: {}\n", warning.text);
    if (is_standard_output(output)) return;
    if (options.geo.run.json)
        fmt::print("{}\n", brief(json, output).dump(2));
    else
        print_fit(fitted, output);
}

/// What a compressed matrix has no derivatives for is searched for by values alone, and has no standard errors; who
/// asks for them gets an exact matrix or an error.
FitCommand with_method(FitCommand options, const geo::FittedModel& fitted, Notes& notes) {
    if (!options.search.checkpoint.empty())
        if (const auto storage = geo::storage_in_checkpoint(options.search.checkpoint)) take_cut(*storage, options.geo);
    if (!options.needs_slopes.empty() && options.geo.method == Method::tlr)
        throw Error("{} needs slopes, which compressed matrices do not have yet: leave it out, or give --method exact",
                    options.needs_slopes);
    if (!options.needs_slopes.empty() && options.geo.method == Method::automatic) {
        options.geo.method = Method::exact;
        notes.push_back(
            fmt::format("--method auto: exact, since {} needs slopes, which compressed matrices do not have yet",
                        options.needs_slopes));
        return options;
    }
    resolve_method(options.geo, fitted.observations, fitted.model, {}, notes);
    if (options.geo.method == Method::exact) return options;
    if (options.search.optimizer == geo::Optimizer::bobyqa && options.errors == ErrorsFrom::none) return options;
    options.search.optimizer = geo::Optimizer::bobyqa;
    options.errors = ErrorsFrom::none;
    notes.emplace_back(
        "compressed matrices have no slopes yet: the search is by values alone (--optimizer bobyqa), "
        "without standard errors (--errors none)");
    return options;
}

/// The first option that was given and that needs slopes.
std::string option_with_slopes(const CLI::App& command, const FitCommand& options) {
    if (command.count("--optimizer") > 0 && options.search.optimizer != geo::Optimizer::bobyqa)
        return fmt::format("--optimizer {}", name_in(geo::optimizer_names, options.search.optimizer));
    if (command.count("--errors") > 0 && options.errors != ErrorsFrom::none)
        return fmt::format("--errors {}", name_in(errors_from_names, options.errors));
    return options.profile.empty() ? "" : "--profile";
}

int run_fit(const FitCommand& given) {
    Notes notes;
    geo::FittedModel fitted;
    fitted.program = std::string("tesela ") + version;
    fitted.observations = read_observations(given.geo.data, notes, given.geo.model);
    fitted.model = model_of(given.geo.model, fitted.observations);
    const FitCommand options = with_method(given, fitted, notes);
    if (std::string twins = geo::check_duplicates(fitted.observations, fitted.model); !twins.empty())
        notes.push_back(std::move(twins));
    (void)profiled_parameters(options, fitted.model);
    if (plans_by_itself(options.geo) && !options.search.checkpoint.empty())
        throw Error(
            "a fit goes on from a checkpoint with the owners that it had, and --plan auto may come to others: write a "
            "plan with tesela plan, and give its file to --plan");
    (void)geo::normal_interval(options.level);
    if (!options.dry_run) require_writable(options.geo.output);
    const auto engine = start_geo_engine(options.geo);
    print_notes(*engine, notes);
    const Index n = fitted.observations.size();
    Digest asked;
    add_fields(asked, options.errors);
    add_fields(asked, options.level);
    for (const std::string& parameter : options.profile) asked.add(std::string_view(parameter));
    engine->require_alike("--errors, --level and --profile", asked.value());
    const auto plan = plan_for_nodes(options.geo, n, *engine);
    if (options.dry_run) {
        dry_run(options, fitted, *engine, plan.get());
        return success;
    }
    Stream stream(*engine, {.sums = Sums::in_order});
    geo::Likelihood likelihood(stream, fitted.observations, fitted.model,
                               likelihood_options(options.geo, n, *engine, plan.get()));
    fitted.result = search(options, likelihood, plan.get());
    const ExitCode exit_code = add_uncertainty(options, likelihood, fitted);
    fitted.storage = {likelihood.options().tile, likelihood.options().compression};
    fitted.configuration = configuration_json(options.geo, likelihood.options(), *engine);
    if (options.geo.ranks) fitted.configuration["sample_seconds"] = options.geo.sample_seconds;
    if (likelihood.options().compression) {
        (void)geo::evaluate_well(likelihood, fitted.result.theta);
        warn_if_ill_conditioned(likelihood, *engine);
        fitted.configuration["compression"] = compression_json(likelihood, {});
    }
    if (is_first(*engine)) report_fit(options, fitted);
    return exit_code;
}

void add_fit_options(CLI::App& command, FitCommand& options) {
    options.geo.output = "model.json";
    add_data_options(command, options.geo.data, Reads::observations);
    set_heading(command, "Data");
    add_covariance_options(command, options.geo.model);
    add_mean_options(command, options.geo.model, geo::Trend::constant);
    set_heading(command, "Model");
    add_parameter_options(command, options.geo.model);
    at_least(command.add_option("--max-evaluations", options.search.max_evaluations, "End the search after so many"),
             Index{2})
        ->capture_default_str();
    at_least(
        command.add_option("--max-seconds", options.search.max_seconds, "End the search after this time (0: no limit)"),
        0.0)
        ->capture_default_str();
    above_zero(command.add_option("--tolerance", options.search.tolerance, "Relative precision of the parameters"))
        ->capture_default_str();
    add_choice(command, "--optimizer", options.search.optimizer, geo::optimizer_names,
               "How maxima are climbed to: by values alone, by slopes, or by slopes and average information");
    at_least(command.add_option("--starts", options.search.starts, "Points of the scan from which the search climbs"),
             Index{1})
        ->capture_default_str();
    command.add_option("--checkpoint", options.search.checkpoint,
                       "Keep evaluations in this file; a fit that was stopped goes on from it");
    set_heading(command, "Search");
    add_choice(
        command, "--errors", options.errors, errors_from_names,
        "Information that standard errors come from; expected costs about six to nine evaluations, average none");
    command.add_option("--level", options.level, "Probability of the intervals")->capture_default_str();
    comma_separated(command.add_option("--profile", options.profile,
                                       "Intervals by the likelihood maximised in all other parameters, of these "
                                       "parameters or of all; takes dozens of evaluations for each"))
        ->type_name("all|NAME,…");
    set_heading(command, "How sure");
    add_method_options(command, options.geo);
    set_heading(command, "Method");
    command.add_option("-o,--output", options.geo.output, "Where the model goes; - is standard output")
        ->capture_default_str();
    command.add_flag("--dry-run", options.dry_run,
                     "Print the memory, operations and time that a fit would take, and do not fit");
    add_run_options(command, options.geo);
    add_plan_option(command, options.geo, Plans::of_its_own_too);
    add_example(command, "tesela fit data/meuse.csv --coords x,y --value log_zinc -o meuse.json");
}

// --- loglik ----------------------------------------------------------------------------------------------------------

int run_loglik(GeoOptions options) {
    Notes notes;
    const geo::Observations observations = read_observations(options.data, notes, options.model);
    const geo::Model model = model_of(options.model, observations);
    const CovarianceParameters theta = theta_of(options.model);
    resolve_method(options, observations, model, theta, notes);
    const auto engine = start_geo_engine(options);
    print_notes(*engine, notes);
    Stream stream(*engine, {.sums = Sums::in_order});
    geo::Likelihood likelihood(stream, observations, model, likelihood_options(options, observations.size(), *engine));
    const auto start = Clock::now();
    const geo::LikelihoodValue value = likelihood.evaluate(theta);
    geo::require_good_evaluation(likelihood, value.status, theta);
    const double seconds = seconds_since(start);
    if (options.run.trace.empty()) warn_if_ill_conditioned(likelihood, *engine);
    const Json compression = compression_json(likelihood, options.run);
    const Json results{{"loglik", value.log_likelihood},
                       {"method", method_name(likelihood)},
                       {"compression", compression},
                       {"theta", geo::theta_json(model.family, theta)},
                       {"trend", geo::trend_json(model.trend, value.trend)},
                       {"log_determinant", value.log_determinant},
                       {"quadratic", value.fit.quadratic},
                       {"center", model.center},
                       {"n", observations.size()},
                       {"tile", likelihood.options().tile},
                       {"overlap", geo::name(likelihood.options().overlap)},
                       {"nodes", engine->node_count()},
                       {"evaluations", 1},
                       {"seconds", seconds},
                       {"sample_seconds", options.sample_seconds}};
    if (options.run.json || !is_first(*engine)) {
        print_results(*engine, results, options.run.json);
        return success;
    }
    fmt::print("loglik of {} observations of {}, covariance {}, trend {}: {:.13g}\n", observations.size(),
               observations.value_name, name(model.family), model.trend.text(), value.log_likelihood);
    print_theta(model, observations, theta, name_width(value.trend));
    print_trend(value.trend);
    if (!compression.is_null()) fmt::print("{}\n", describe_compression(compression));
    return success;
}

void add_loglik_options(CLI::App& command, GeoOptions& options) {
    add_data_options(command, options.data, Reads::observations);
    set_heading(command, "Data");
    add_theta_option(command, options.model);
    add_covariance_options(command, options.model);
    add_mean_options(command, options.model, geo::Trend::none);
    set_heading(command, "Model");
    add_method_options(command, options);
    set_heading(command, "Method");
    add_run_options(command, options);
    add_plan_option(command, options, Plans::of_a_file);
    add_example(command,
                "tesela loglik data/meuse.csv --coords x,y --value log_zinc --trend constant --theta "
                "sigma2=0.6,range=200,smoothness=0.5,nugget=0.05");
}

// --- predict ---------------------------------------------------------------------------------------------------------

struct PredictCommand {
    GeoOptions geo;
    GridOptions grid;
    std::vector<std::string> keep{"all"};
    geo::TableOptions table;
    std::string model;
    geo::PredictionOf variance = geo::PredictionOf::observation;
    MapOptions map;
    Index block = 0;
    bool method_given = false;
};

void report_predictions(const PredictCommand& options, const geo::FittedModel& fitted, const Places& places,
                        const geo::Predictions& predictions) {
    const geo::PredictionTable table = geo::tabulate(predictions, options.table);
    std::vector<CsvColumn> columns = places.coordinate_columns();
    for (CsvColumn& column : table.columns()) columns.push_back(std::move(column));
    write_csv(options.geo.output, places.kept, columns);
    if (options.map.file.empty()) return;
    geo::PredictionMapOptions map = prediction_map(options.map, fitted);
    map.of = options.variance;
    const geo::Observations shown = geo::transformed_back(fitted.observations, options.table.back_transform);
    write_file(options.map.file,
               geo::draw_predictions(shown, places.coordinates, {.mean = table.mean, .variance = table.variance}, map));
}

geo::Predictions predict_or_advise(geo::Likelihood& likelihood, const CovarianceParameters& theta,
                                   const geo::Sites& places, const geo::PredictionOptions& options) {
    try {
        return geo::predict(likelihood, theta, places, options);
    } catch (const geo::NotPositiveDefinite& error) {
        throw geo::NotPositiveDefinite(std::string(error.what()) + when_fitting);
    }
}

Places predicted_places(PredictCommand& options, const geo::FittedModel& fitted, Notes& notes) {
    DataOptions& data = options.geo.data;
    if (!options.grid.cells.empty()) return grid_places(options.grid, fitted);
    if (data.coordinates.empty()) data.coordinates = fitted.observations.coordinate_names;
    const KeepOptions keep{.columns = options.keep, .results = geo::result_names(options.table.back_transform)};
    return file_places(data, keep, fitted, notes);
}

/// The model of the first file or, with --theta, one with these parameters of the observations in it.
geo::FittedModel predicting_model(const PredictCommand& options, Notes& notes) {
    if (options.geo.model.theta.empty())
        return read_model_first("tesela predict", options.model, options.geo.data.file);
    if (geo::is_model_file(options.model))
        throw Error(
            "{} is a model, which has its parameters; with --theta the first file is a CSV file of observations",
            options.model);
    DataOptions data = options.geo.data;
    data.file = options.model;
    if (data.coordinates.empty() || data.value.empty())
        throw Error(
            "with --theta the first file is a CSV file of observations: name its columns by --coords and --value");
    geo::FittedModel known;
    known.observations = read_observations(data, notes, options.geo.model);
    known.model = model_of(options.geo.model, known.observations);
    known.result.theta = theta_of(options.geo.model);
    for (const Parameter p : geo::all_parameters)
        if (geo::uses(known.model.family, p)) known.model.choice(p).fixed = geo::value_of(known.result.theta, p);
    return known;
}

/// The trend's coefficients are estimated again: says so where the file has others, which are not used.
void note_other_coefficients(const geo::FittedModel& fitted, const geo::TrendEstimate& used, const std::string& file,
                             const Engine& engine) {
    constexpr double same = 1e-3;  // of a standard error
    const std::vector<double>& given = fitted.result.trend.coefficients;
    for (std::size_t k = 0; k < std::min(given.size(), used.coefficients.size()); ++k) {
        if (std::abs(given[k] - used.coefficients[k]) <= same * used.standard_errors[k]) continue;
        if (is_first(engine))
            fmt::print(
                stderr,
                "note: the coefficient {} of the trend is {:.6g} with the observations and parameters of {}, and "
                "{:.6g} in it, which is not used\n",
                used.names[k], used.coefficients[k], file, given[k]);
        return;
    }
}

/// As it was fitted, unless the options say otherwise: with the same matrix, compressed or not.
void take_method_of_model(PredictCommand& options, const geo::FittedModel& fitted, Notes& notes) {
    if (!fitted.storage || (options.method_given && options.geo.method == Method::automatic)) return;
    if (!options.method_given) options.geo.method = fitted.storage->compression ? Method::tlr : Method::exact;
    take_storage(*fitted.storage, options.geo);
    if (!options.method_given && options.geo.method == Method::tlr)
        notes.push_back(
            fmt::format("the matrix is compressed to {}, as {} was fitted; --method exact uses the exact one",
                        *options.geo.accuracy, options.model));
}

/// A prediction to come.
struct ComingPrediction {
    const GeoOptions& options;
    const geo::FittedModel& fitted;
    const geo::Likelihood& likelihood;
    double points = 0;
};

/// Of the matrix with all its elements the part that a compressed one stores, as tiles were sampled or the fit found
/// it; 1 where neither is known.
double stored_part(const ComingPrediction& coming) {
    const auto& compression = coming.likelihood.options().compression;
    if (!compression) return 1;
    if (coming.options.ranks)
        return coming.options.ranks->bytes_over_dense({coming.likelihood.options().tile, compression->band});
    const Json found = coming.fitted.configuration.value("compression", Json());
    if (!found.is_object() || !found.contains("bytes") || !found.contains("dense_bytes")) return 1;
    return found.at("bytes").get<double>() / found.at("dense_bytes").get<double>();
}

/// Seconds of one core, about.
struct ExpectedTime {
    double factor = 0;
    double points = 0;
};

/// By how fast this core is at covariances and products: generation and Cholesky before, and for each point n
/// covariances and a triangular solve of n² operations, of those elements that are stored.
ExpectedTime expected_time(const ComingPrediction& coming) {
    const PointSet& observed = coming.likelihood.points();
    const Covariance covariance(coming.fitted.model.family, coming.fitted.result.theta, coming.fitted.model.metric,
                                observed.distance_bound(observed));
    const CompressedRates rates = geo::measure_rates(covariance, observed);
    const double rate = rates.low_rank.product_flops;
    const auto n = static_cast<double>(observed.size());
    const double stored = stored_part(coming);
    return {.factor = stored * dense_cholesky_cost(observed.size(), rates) / rate,
            .points = coming.points * (n * rates.covariance_seconds + stored * n * n / rate)};
}

/// Said before the work where that takes more than a moment; every node calls it.
void tell_expected_time(const ComingPrediction& coming, StarpuEngine& engine) {
    constexpr double noticeable = 2;   // seconds
    constexpr double slow_core = 1e9;  // operations per second: what is done so fast is not worth a measurement
    const auto n = static_cast<double>(coming.likelihood.points().size());
    const auto workers = static_cast<double>(engine.total_workers());
    if (coming.options.run.quiet || n * n * (n / 3 + coming.points) < noticeable * slow_core * workers) return;
    ExpectedTime expected = expected_time(coming);
    expected.factor = engine.max(expected.factor) / workers;
    expected.points = engine.max(expected.points) / workers;
    if (expected.factor + expected.points < noticeable || !is_first(engine)) return;
    fmt::print(stderr, "expected: about {} for the factor, then {} for {:.0f} points\n",
               format_seconds(expected.factor), format_seconds(expected.points), coming.points);
}

int run_predict(PredictCommand options) {
    if (options.geo.data.file.empty() == options.grid.cells.empty())
        throw Error("say where to predict: a CSV file of points or --grid, one of them");
    Notes notes;
    const geo::FittedModel fitted = predicting_model(options, notes);
    (void)prediction_map(options.map, fitted);  // what cannot be drawn is refused before anything is computed
    validate(options.table);
    const Places places = predicted_places(options, fitted, notes);
    const auto& points = places.coordinates;
    if (points.front().empty()) throw Error("{} has no points", options.geo.data.file);
    require_writable(options.geo.output);
    if (!options.map.file.empty()) require_writable(options.map.file);
    take_method_of_model(options, fitted, notes);
    resolve_method(options.geo, fitted.observations, fitted.model, fitted.result.theta, notes);
    const auto engine = start_geo_engine(options.geo);
    print_notes(*engine, notes);
    const auto start = Clock::now();
    Stream stream(*engine, {.sums = Sums::in_order});
    geo::Likelihood likelihood(stream, fitted.observations, fitted.model,
                               likelihood_options(options.geo, fitted.observations.size(), *engine));
    tell_expected_time({options.geo, fitted, likelihood, static_cast<double>(points.front().size())}, *engine);
    ProgressLine line(options.geo.run.quiet ? ProgressLine::Wanted::no : ProgressLine::Wanted::in_files_too);
    std::optional<double> factored;  // when the first points were done, since the factor takes time of its own
    Index before = 0;
    const auto progress = [&](Index done) {
        const auto all = static_cast<Index>(points.front().size());
        const double now = seconds_since(start);
        line.show([&] {
            const double left =
                factored ? (now - *factored) * static_cast<double>(all - done) / static_cast<double>(done - before) : 0;
            return fmt::format("{} of {} points, {}{}", done, all, format_seconds(now),
                               factored ? fmt::format(", about {} left", format_seconds(left)) : "");
        });
        if (factored) return;
        factored = now;
        before = done;
    };
    const geo::Predictions predictions =
        predict_or_advise(likelihood, fitted.result.theta, places.sites(),
                          {.of = options.variance, .block = options.block, .progress = progress});
    warn_if_ill_conditioned(likelihood, *engine, options.geo.model.theta.empty() ? when_fitting : "");
    note_other_coefficients(fitted, predictions.trend, options.model, *engine);
    const Json compression = compression_json(likelihood, options.geo.run);
    if (!is_first(*engine)) return success;
    report_predictions(options, fitted, places, predictions);
    if (is_standard_output(options.geo.output)) {  // which is where predictions went
        if (!compression.is_null() && !options.geo.run.quiet)
            fmt::print(stderr, "{}\n", describe_compression(compression));
        return success;
    }
    Json results{
        {"points", predictions.mean.size()}, {"seconds", seconds_since(start)}, {"output", options.geo.output}};
    if (!options.map.file.empty()) results["map"] = options.map.file;
    if (options.geo.run.json)
        results.update(Json{{"method", method_name(likelihood)},
                            {"tile", likelihood.options().tile},
                            {"sample_seconds", options.geo.sample_seconds},
                            {"compression", compression}});
    print_results(*engine, results, options.geo.run.json);
    if (!compression.is_null() && !options.geo.run.json) fmt::print("{}\n", describe_compression(compression));
    return success;
}

void add_predict_options(CLI::App& command, PredictCommand& options) {
    options.geo.output = "-";
    command.add_option("model", options.model, "Model that tesela fit wrote; with --theta, CSV file of observations")
        ->required();
    add_data_options(command, options.geo.data, Reads::points);
    command.get_option("file")->required(false)->description("CSV file of points with a header; - is standard input");
    command.get_option("--coords")
        ->required(false)
        ->description("Columns of the coordinates (default: as in the model)");
    auto* value = command.add_option("--value", options.geo.data.value, "With --theta: column of the observed values");
    add_grid_options(command, options.grid);
    add_columns_option(command, "--keep", options.keep,
                       "Columns of the points that are written too, as they are: all, none, or names "
                       "(coordinates always)")
        ->default_str("all");
    for (const char* of_a_file : {"--na", "--keep"}) command.get_option(of_a_file)->excludes("--grid");
    set_heading(command, "Data");
    add_theta_option(command, options.geo.model);
    auto* theta = command.get_option("--theta")->required(false)->description(
        "In place of a model: its parameters; sigma2, range, smoothness where the family has one, nugget (0 unless "
        "given)");
    add_covariance_options(command, options.geo.model);
    add_mean_options(command, options.geo.model, geo::Trend::constant);
    value->needs(theta);
    for (const char* of_theta : {"--family", "--metric", "--jitter", "--trend", "--estimation", "--center"})
        command.get_option(of_theta)->needs(theta);
    add_choice(
        command, "--variance", options.variance, geo::prediction_of_names,
        "Variance of what: observation (a new one, nugget included, also at an observed place, where gstat's is 0) "
        "or signal (the field without the nugget)");
    set_heading(command, "Model");
    add_method_options(command, options.geo);
    set_heading(command, "Method");
    command.add_option("-o,--output", options.geo.output, "CSV file to write; - is standard output")
        ->capture_default_str();
    command.add_option("--level", options.table.level, "Probability of the intervals from lower to upper")
        ->capture_default_str();
    add_choice(
        command, "--back-transform", options.table.back_transform, geo::back_transform_names,
        "log: the observed values are natural logarithms, and results are wanted of what they are logarithms of");
    add_map_options(command, options.map);
    set_heading(command, "Output");
    at_least(command.add_option("--block", options.block, "Points computed together (0: as many as keep memory small)"),
             Index{0})
        ->capture_default_str();
    set_heading(command, "Machine");
    add_run_options(command, options.geo);
    add_example(command, "tesela predict meuse.json data/meuse_grid.csv -o kriged.csv --map meuse.svg");
}

// --- sample ----------------------------------------------------------------------------------------------------------

struct SampleCommand {
    GeoOptions geo;
    GridOptions grid;
    std::string model;
    Index n = 0;
    Index draws = 1;
    std::uint64_t seed = 1;
    double mean = 0;
    std::string name = "z";
};

/// n points of the unit square or, with a model, of the box of its observations.
Places random_places(const SampleCommand& options, const geo::FittedModel* fitted) {
    const Metric metric = fitted != nullptr ? fitted->model.metric : options.geo.model.metric;
    if (metric != Metric::euclidean)
        throw Error("--n draws points of {}; give --points{} for {} distances",
                    fitted != nullptr ? "a box in a plane" : "the unit square", fitted != nullptr ? " or --grid" : "",
                    name(metric));
    if (fitted == nullptr) return {.coordinates = geo::random_points(options.n, options.seed), .names = {"x", "y"}};
    require_coordinates_suffice(*fitted, "--n");
    const geo::Observations& observed = fitted->observations;
    const geo::Box box = geo::bounding_box(metric, observed.coordinates);
    return {.coordinates = geo::random_points(options.n, options.seed, box), .names = observed.coordinate_names};
}

/// Columns that the trend uses are written too, so that what was drawn can be fitted with it.
void add_covariates(const Places& places, std::vector<CsvTextColumn>& factors, std::vector<CsvColumn>& numbers) {
    for (const geo::Covariate& covariate : places.covariates)
        if (const auto* values = std::get_if<std::vector<double>>(&covariate.values))
            numbers.push_back({covariate.name, *values});
        else {
            CsvTextColumn& column = factors.emplace_back();
            column.name = covariate.name;
            for (const std::string& label : std::get<std::vector<std::string>>(covariate.values))
                column.values.emplace_back(label);
        }
}

Places sampled_places(SampleCommand& options, const geo::FittedModel* fitted, Notes& notes) {
    DataOptions& data = options.geo.data;
    const int ways = (data.file.empty() ? 0 : 1) + (options.n == 0 ? 0 : 1) + (options.grid.cells.empty() ? 0 : 1);
    if (fitted == nullptr && !options.grid.cells.empty()) throw Error("--grid needs --model, whose box it is over");
    if (ways > 1 || (ways == 0 && fitted == nullptr))
        throw Error("say where to sample: --n N or --points FILE, one of them{}",
                    fitted != nullptr ? " or --grid, or none for the places of the observations" : "");
    if (!options.grid.cells.empty()) return grid_places(options.grid, *fitted);
    if (options.n != 0) return random_places(options, fitted);
    if (data.file.empty())
        return {.coordinates = fitted->observations.coordinates,
                .names = fitted->observations.coordinate_names,
                .covariates = fitted->observations.covariates};
    if (data.coordinates.empty() && fitted != nullptr) data.coordinates = fitted->observations.coordinate_names;
    if (data.coordinates.empty()) data.coordinates = {"x", "y"};
    const Metric metric = fitted != nullptr ? fitted->model.metric : options.geo.model.metric;
    geo::Sites read = read_points(data, notes, metric,
                                  fitted != nullptr ? fitted->observations.covariates : std::vector<geo::Covariate>{});
    return {.coordinates = std::move(read.coordinates),
            .names = data.coordinates,
            .covariates = std::move(read.covariates),
            .source = std::move(read.file),
            .lines = std::move(read.lines)};
}

/// z, or z1, z2, … where several are drawn.
std::string drawn_name(const SampleCommand& options, Index draw) {
    return options.draws == 1 ? options.name : fmt::format("{}{}", options.name, draw + 1);
}

void require_own_names(const SampleCommand& options, const Places& places) {
    for (Index draw = 0; draw < options.draws; ++draw) {
        const std::string name = drawn_name(options, draw);
        if (std::ranges::find(places.names, name) != places.names.end() ||
            std::ranges::find(places.covariates, name, &geo::Covariate::name) != places.covariates.end())
            throw Error("the values would be in a second column {}; give another --name", name);
    }
}

void add_mean(std::vector<std::vector<double>>& draws, const std::vector<double>& mean) {
    for (auto& draw : draws) std::transform(draw.begin(), draw.end(), mean.begin(), draw.begin(), std::plus<>());
}

geo::Field field_of(const SampleCommand& options) {
    if (options.geo.model.theta.empty()) throw Error("say of which field: --theta or --model");
    return {.family = options.geo.model.family,
            .theta = theta_of(options.geo.model),
            .metric = options.geo.model.metric,
            .mean = options.mean,
            .jitter = options.geo.model.jitter};
}

int run_sample(SampleCommand options) {
    std::optional<geo::FittedModel> fitted;
    if (!options.model.empty()) fitted = geo::read_model(options.model);
    const geo::Field field = fitted ? geo::field_of(*fitted) : field_of(options);
    Notes notes;
    const Places places = sampled_places(options, fitted ? &*fitted : nullptr, notes);
    require_own_names(options, places);
    const auto& points = places.coordinates;
    const std::vector<double> mean = fitted ? geo::mean_at(*fitted, places.sites()) : std::vector<double>{};
    require_writable(options.geo.output);
    const auto engine = start_geo_engine(options.geo);
    print_notes(*engine, notes);
    const auto start = Clock::now();
    Stream stream(*engine, {.sums = Sums::in_order});
    const geo::LikelihoodOptions tiling =
        likelihood_options(options.geo, static_cast<Index>(points.front().size()), *engine);
    auto draws = geo::sample_fields(
        stream, field, points,
        {.seed = options.seed, .draws = options.draws, .tile = tiling.tile, .distribution = tiling.distribution});
    if (fitted) add_mean(draws, mean);
    if (!is_first(*engine)) return success;
    std::vector<CsvColumn> columns = places.coordinate_columns();
    std::vector<CsvTextColumn> factors;
    add_covariates(places, factors, columns);
    for (std::size_t k = 0; k < draws.size(); ++k)
        columns.push_back({drawn_name(options, static_cast<Index>(k)), draws[k]});
    write_csv(options.geo.output, factors, columns);
    if (is_standard_output(options.geo.output)) return success;
    print_results(*engine,
                  {{"points", points.front().size()},
                   {"draws", draws.size()},
                   {"theta", geo::theta_json(field.family, field.theta)},
                   {"seed", options.seed},
                   {"seconds", seconds_since(start)},
                   {"output", options.geo.output}},
                  options.geo.run.json);
    return success;
}

void add_sample_options(CLI::App& command, SampleCommand& options) {
    options.geo.output = "-";
    auto* model = command.add_option("--model", options.model,
                                     "Model that tesela fit wrote: parameters, family, metric and trend are its own");
    at_least(command.add_option(
                 "--n", options.n,
                 "Draw so many points uniformly from the unit square (with --model: from the box of its observations)"),
             Index{1});
    command.add_option("--points", options.geo.data.file,
                       "Or take the points of a CSV file (with --model and neither: the observations' places)");
    add_columns_option(command, "--coords", options.geo.data.coordinates,
                       "Columns of its coordinates (default: x,y, or as in the model)");
    add_grid_options(command, options.grid);
    set_heading(command, "Data");
    add_theta_option(command, options.geo.model);
    command.get_option("--theta")->required(false);
    add_covariance_options(command, options.geo.model);
    command.add_option("--mean", options.mean, "Mean of the field")->capture_default_str();
    for (const char* name : {"--theta", "--family", "--metric", "--jitter", "--mean"})
        command.get_option(name)->excludes(model);
    at_least(command.add_option("--draws", options.draws, "Draw so many fields, which costs little more than one"),
             Index{1})
        ->capture_default_str();
    at_least(command.add_option("--seed", options.seed, "Of the points and of the field"), std::uint64_t{0})
        ->capture_default_str();
    set_heading(command, "Model");
    command.add_option("--name", options.name, "Column of the values; of several draws z1, z2, …")
        ->capture_default_str();
    command.add_option("-o,--output", options.geo.output, "CSV file to write; - is standard output")
        ->capture_default_str();
    add_run_options(command, options.geo);
    add_example(command,
                "tesela sample --n 1600 --theta sigma2=1,range=0.1,smoothness=1,nugget=0.1 --seed 7 -o field.csv");
}

}  // namespace

Command fit_command() {
    return {.name = "fit",
            .summary = "Fit a Gaussian process to observations by maximum likelihood",
            .prepare = [](CLI::App& app) {
                const auto options = std::make_shared<FitCommand>();
                add_fit_options(app, *options);
                return std::function<int()>([&app, options] {
                    options->needs_slopes = option_with_slopes(app, *options);
                    return run_fit(*options);
                });
            }};
}

Command loglik_command() {
    return command("loglik", "Gaussian log-likelihood of observations at given parameters", add_loglik_options,
                   run_loglik);
}

Command predict_command() {
    return {.name = "predict",
            .summary = "Kriging mean and variance at new points, from a fitted model",
            .prepare = [](CLI::App& app) {
                const auto options = std::make_shared<PredictCommand>();
                add_predict_options(app, *options);
                return std::function<int()>([&app, options] {
                    options->method_given = app.count("--method") > 0;
                    return run_predict(*options);
                });
            }};
}

Command sample_command() {
    return command("sample", "Draw a Gaussian field with known parameters", add_sample_options, run_sample);
}

}  // namespace tesela::cli
