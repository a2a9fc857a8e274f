#include "tesela/cli/commands.hpp"

#include "tesela/autoplan/running_plan.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/base/version.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/interrupt.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/geo/prediction_table.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/jobs/fit.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace tesela::cli {
namespace {

using geo::Parameter;

struct FitCommand {
    GeoOptions geo;
    geo::FitOptions search;
    std::optional<geo::Optimizer> optimizer;
    std::optional<jobs::ErrorsFrom> errors;
    double level = 0.95;
    std::vector<std::string> profile;
    bool dry_run = false;
};

// --- what is asked for -----------------------------------------------------------------------------------------------

/// The parameters of --profile: those named, or all that are free.
std::vector<Parameter> profiled_parameters(const std::vector<std::string>& words, const geo::Model& model) {
    std::vector<Parameter> chosen;
    for (const std::string& word : words)
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

/// Reads the data.
jobs::FitRequest request_of(const FitCommand& given, Notes& notes) {
    jobs::FitRequest request{.observations = read_observations(given.geo.data, notes, given.geo.model),
                             .evaluation = evaluation_request(given.geo),
                             .search = given.search,
                             .optimizer = given.optimizer,
                             .errors = given.errors,
                             .level = given.level};
    request.model = model_of(given.geo.model, request.observations);
    request.profile = profiled_parameters(given.profile, request.model);
    return request;
}

/// A fit on the way: a line on a terminal, Ctrl-C, and the plan that follows the nodes.
class Watch {
public:
    Watch(const RunOptions& run, const jobs::FitRequest& request, autoplan::RunningPlan* plan)
        : line_(wants_progress(run)),
          request_(request),
          plan_(plan) {}

    [[nodiscard]] jobs::FitObserver observer() {
        jobs::FitObserver observer{.begins = [this](jobs::FitStage stage) { begin(stage); },
                                   .progress = [this](const geo::FitProgress& p) { show(p); },
                                   .profiling = [this](Parameter p, Index evaluations) { show(p, evaluations); },
                                   .interrupted = Interrupt::came};
        if (plan_ != nullptr)
            observer.between = [this](geo::Likelihood& of, Index evaluations) {
                plan_->correct({.evaluations = evaluations,
                                .seconds = of.seconds(),
                                .give = [&](const plan::PhaseDistributions& owners) {
                                    of.redistribute(owners.second, owners.first);
                                }});
            };
        return observer;
    }

private:
    void begin(jobs::FitStage stage) {
        line_.clear();
        interrupt_.reset();
        if (stage == jobs::FitStage::search)
            interrupt_.emplace(
                "\ntesela: the fit ends after this evaluation, with the best point so far; Ctrl-C again "
                "ends it at once\n");
        if (stage == jobs::FitStage::profiles)
            interrupt_.emplace("\ntesela: no more profiles; Ctrl-C again ends the program at once\n");
    }
    void show(const geo::FitProgress& p) {
        line_.show([&] {
            const bool scanning = p.points < request_.observations.size();
            const std::string on = scanning ? fmt::format(" (on {} points)", p.points) : "";
            return fmt::format("{} evaluations{}, {}, best loglik {:.6f}; {}: {:.6f}", p.evaluation, on,
                               format_seconds(p.seconds), p.best, geo::describe(request_.model.family, p.theta),
                               p.log_likelihood);
        });
    }
    void show(Parameter p, Index evaluations) {
        line_.show([&] { return fmt::format("profile of {}, {} evaluations", name(p), evaluations); });
    }

    ProgressLine line_;
    const jobs::FitRequest& request_;
    autoplan::RunningPlan* plan_;
    std::optional<Interrupt> interrupt_;
};

// --- what is printed -------------------------------------------------------------------------------------------------

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

/// Intervals are those of geo::shown_interval(), or of a profile where there is one.
void print_parameter(const geo::FittedModel& fitted, Parameter p) {
    std::string error;
    std::string interval;
    if (const auto& known = fitted.uncertainty->parameters[static_cast<std::size_t>(p)]) {
        error = with_sign(known->standard_error);
        interval = describe(geo::shown_interval(*known));
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

void print_fit(const jobs::Fit& fit, const std::string& output) {
    const geo::FittedModel& fitted = fit.fitted;
    const geo::FitResult& result = fitted.result;
    fmt::print("{} observations of {}, covariance {}, trend {}{}\n", fitted.observations.size(),
               fitted.observations.value_name, name(fitted.model.family), fitted.model.trend.text(),
               fitted.model.estimation == geo::Estimation::reml ? ", restricted likelihood" : "");
    if (fitted.uncertainty)
        print_estimates(fitted);
    else
        print_parameters(fitted.model, fitted.observations, result.theta, result.trend);
    const geo::InformationCriteria criteria = geo::criteria_of(fitted);
    fmt::print("  {:<{}} {:<12.10g} AIC {:.2f}, BIC {:.2f}\n", "loglik", name_width(result.trend),
               result.log_likelihood, criteria.aic, criteria.bic);
    std::string work = fmt::format("{} evaluations", result.evaluations);
    if (result.gradients > 0) work += fmt::format(", {} of them with slopes,", result.gradients);
    if (result.scan_evaluations > 0) work += fmt::format(" and {} of a part of the points", result.scan_evaluations);
    fmt::print("{}: {} in {}; model in {}\n", geo::name(result.stop_reason), work, format_seconds(result.seconds),
               output);
    if (fit.compressed) fmt::print("{}\n", in_words(*fit.compressed));
}

/// The model file without the data, for --json.
Json brief(Json model, const std::string& output) {
    model.erase("observations");
    model["output"] = output;
    return model;
}

void report_fit(const FitCommand& given, const jobs::Fit& fit) {
    const std::string& output = given.geo.output;
    const Json json = to_json(fit.fitted);
    write_json_file(output, json);
    for (const geo::FitWarning& warning : fit.fitted.result.warnings) fmt::print(stderr, "warning: {}\n", warning.text);
    if (is_standard_output(output)) return;
    if (given.geo.run.json)
        fmt::print("{}\n", brief(json, output).dump(2));
    else
        print_fit(fit, output);
}

Json to_json(const jobs::FitEstimate& estimate) {
    return {{"bytes_per_node", estimate.bytes_per_node},
            {"flops", estimate.flops},
            {"gemm_flops_per_second", estimate.product_flops},
            {"seconds_per_evaluation", estimate.seconds_per_evaluation},
            {"evaluations", estimate.evaluations},
            {"seconds", estimate.seconds()}};
}

Json lines_of(const jobs::FitEstimate& estimate) {
    Json lines;
    for (std::size_t node = 0; node < estimate.bytes_per_node.size(); ++node)
        lines[fmt::format("memory of node {}", node)] = format_bytes(estimate.bytes_per_node[node]);
    lines["flops of an evaluation"] = estimate.flops;
    lines["speed of products per core"] = format_flops(estimate.product_flops);
    lines["expected time of an evaluation"] = format_seconds(estimate.seconds_per_evaluation);
    lines["expected time of a fit"] =
        fmt::format("{}, as long as {:.0f} evaluations; a third or three times that is possible",
                    format_seconds(estimate.seconds()), estimate.evaluations);
    return lines;
}

void print_estimate(const geo::ResolvedEvaluation& resolved, const jobs::FitEstimate& estimate, const Engine& engine,
                    const RunOptions& run) {
    const geo::LikelihoodOptions& options = resolved.likelihood;
    Json results{{"n", resolved.observations},
                 {"method", method_name(options)},
                 {"tile", options.tile},
                 {"nodes", engine.node_count()},
                 {"workers", engine.worker_count()}};
    if (options.compression) results["band"] = options.compression->band;
    results.update(run.json ? to_json(estimate) : lines_of(estimate));
    print_results(engine, results, run.json);
}

/// The settings, what was decided, and what sampling took where it decided.
Json configuration_of(const FitCommand& given, const jobs::Fit& fit, double sample_seconds) {
    Json configuration = settings_json(given.geo);
    configuration.update(fit.fitted.configuration);
    if (fit.compressed) configuration["sample_seconds"] = sample_seconds;
    return configuration;
}

int run_fit(const FitCommand& given) {
    Notes notes;
    const jobs::FitRequest request = request_of(given, notes);
    jobs::RankSampler sampler(request.observations, request.model, {}, given.geo.run.workers);
    geo::EvaluationFacts facts = jobs::facts_of(sampler, request);
    if (std::string twins = jobs::check(request, facts); !twins.empty()) notes.push_back(std::move(twins));
    if (!given.dry_run) require_writable(given.geo.output);
    const auto engine = start_geo_engine(given.geo.run);
    print_notes(*engine, notes);
    const OwnersPlan plan = plan_owners(given.geo, facts.observations, *engine);
    facts.plan = plan.owners;
    const jobs::ResolvedFit resolved = jobs::resolve_together(*engine, request, facts);
    print_reasons(*engine, resolved.evaluation.reasons);
    Stream stream(*engine, {.sums = Sums::in_order});
    if (given.dry_run) {
        print_estimate(resolved.evaluation, jobs::estimate(stream, request, resolved), *engine, given.geo.run);
        return success;
    }
    jobs::Fit fit = jobs::fit(stream, request, resolved, Watch(given.geo.run, request, plan.running.get()).observer());
    print_doubts(*engine, fit.doubts);
    fit.fitted.program = std::string("tesela ") + version;
    fit.fitted.configuration = configuration_of(given, fit, sampler.seconds());
    if (engine->is_first()) report_fit(given, fit);
    return fit.interrupted ? interrupted : success;
}

void add_fit_options(CLI::App& command, FitCommand& options) {
    options.geo.output = "model.json";
    add_data_options(command, options.geo.data, Reads::observations);
    set_heading(command, "Data");
    add_covariance_options(command, options.geo.model);
    add_mean_options(command, options.geo.model, geo::Trend::constant);
    set_heading(command, "Model");
    add_parameter_options(command, options.geo.model);
    rarely_used(at_least(command.add_option("--max-evaluations", options.search.max_evaluations,
                                            "End the search after so many"),
                         Index{2})
                    ->capture_default_str());
    rarely_used(at_least(command.add_option("--max-seconds", options.search.max_seconds,
                                            "End the search after this time (0: no limit)"),
                         0.0)
                    ->capture_default_str());
    rarely_used(
        above_zero(command.add_option("--tolerance", options.search.tolerance, "Relative precision of the parameters"))
            ->capture_default_str());
    rarely_used(
        add_choice(command, "--optimizer", options.optimizer, geo::optimizer_names,
                   "How maxima are climbed to: by values alone, by slopes, or by slopes and average information")
            ->default_str("scoring"));
    rarely_used(at_least(command.add_option("--starts", options.search.starts,
                                            "Points of the scan from which the search climbs"),
                         Index{1})
                    ->capture_default_str());
    command.add_option("--checkpoint", options.search.checkpoint,
                       "Keep evaluations in this file; a fit that was stopped goes on from it");
    set_heading(command, "Search");
    add_choice(command, "--errors", options.errors, jobs::errors_from_names,
               "Information that standard errors come from; expected costs about six to nine evaluations, average none")
        ->default_str("expected");
    rarely_used(command.add_option("--level", options.level, "Probability of the intervals")->capture_default_str());
    rarely_used(
        comma_separated(command.add_option("--profile", options.profile,
                                           "Intervals by the likelihood maximised in all other parameters, of these "
                                           "parameters or of all; takes dozens of evaluations for each"))
            ->type_name("all|NAME,…"));
    set_heading(command, "How sure");
    add_method_options(command, options.geo.method);
    set_heading(command, "Method");
    command.add_option("-o,--output", options.geo.output, "Where the model goes; - is standard output")
        ->capture_default_str();
    command.add_flag("--dry-run", options.dry_run,
                     "Print the memory, operations and time that a fit would take, and do not fit");
    add_run_options(command, options.geo);
    add_plan_option(command, options.geo, Plans::of_its_own_too);
    add_example(command, "tesela fit data/meuse.csv --coords x,y --value log_zinc -o meuse.json");
}

}  // namespace

Command fit_command() {
    return command("fit", "Fit a Gaussian process to observations by maximum likelihood", add_fit_options, run_fit);
}

}  // namespace tesela::cli
