#include "tesela/cli/commands.hpp"

#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace tesela::cli {
namespace {

struct Report {
    const jobs::LoglikRequest& request;
    const jobs::Loglik& found;
    double sample_seconds = 0;
};

Json to_json(const Report& report, const Engine& engine) {
    const geo::LikelihoodValue& value = report.found.value;
    const geo::Model& model = report.request.model;
    const geo::LikelihoodOptions& options = report.found.options;
    return {{"loglik", value.log_likelihood},
            {"method", method_name(options)},
            {"compression", compression_json(report.found.compressed)},
            {"theta", geo::theta_json(model.family, report.request.theta)},
            {"trend", geo::trend_json(model.trend, value.trend)},
            {"log_determinant", value.log_determinant},
            {"quadratic", value.fit.quadratic},
            {"center", model.center},
            {"n", report.request.observations.size()},
            {"tile", options.tile},
            {"overlap", geo::name(options.overlap)},
            {"nodes", engine.node_count()},
            {"evaluations", 1},
            {"seconds", report.found.seconds},
            {"sample_seconds", report.sample_seconds}};
}

void print_report(const Report& report, const Engine& engine, const RunOptions& run) {
    print_doubts(engine, report.found.doubts);
    if (run.json || !engine.is_first()) return print_results(engine, to_json(report, engine), run.json);
    const geo::Observations& observations = report.request.observations;
    const geo::Model& model = report.request.model;
    const geo::LikelihoodValue& value = report.found.value;
    fmt::print("loglik of {} observations of {}, covariance {}, trend {}: {:.13g}\n", observations.size(),
               observations.value_name, name(model.family), model.trend.text(), value.log_likelihood);
    print_parameters(model, observations, report.request.theta, value.trend);
    if (report.found.compressed) fmt::print("{}\n", in_words(*report.found.compressed));
}

int run_loglik(const GeoOptions& options) {
    Notes notes;
    jobs::LoglikRequest request{.observations = read_observations(options.data, notes, options.model),
                                .evaluation = evaluation_request(options),
                                .look = look_of(options.run)};
    request.model = model_of(options.model, request.observations);
    request.theta = theta_of(options.model);
    jobs::RankSampler sampler(request.observations, request.model, request.theta, options.run.workers);
    (void)geo::choose_method(request.evaluation, sampler.facts());  // what is refused is so before the engine starts
    const auto engine = start_geo_engine(options.run);
    print_notes(*engine, notes);
    const geo::ResolvedEvaluation resolved = resolve_together(options, sampler.facts(), *engine);
    print_reasons(*engine, resolved.reasons);
    Stream stream(*engine, {.sums = Sums::in_order});
    const jobs::Loglik found = jobs::loglik(stream, request, resolved);
    print_report({request, found, sampler.seconds()}, *engine, options.run);
    return success;
}

void add_loglik_options(CLI::App& command, GeoOptions& options) {
    add_data_options(command, options.data, Reads::observations);
    set_heading(command, "Data");
    add_theta_option(command, options.model);
    add_covariance_options(command, options.model);
    add_mean_options(command, options.model, geo::Trend::none);
    set_heading(command, "Model");
    add_method_options(command, options.method);
    set_heading(command, "Method");
    add_run_options(command, options);
    add_plan_option(command, options, Plans::of_a_file);
    add_example(command,
                "tesela loglik data/meuse.csv --coords x,y --value log_zinc --trend constant --theta "
                "sigma2=0.6,range=200,smoothness=0.5,nugget=0.05");
}

}  // namespace

Command loglik_command() {
    return command("loglik", "Gaussian log-likelihood of observations at given parameters", add_loglik_options,
                   run_loglik);
}

}  // namespace tesela::cli
