#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/geo/uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::bench {
namespace {

using geo::Parameter;

struct RecoveryOptions {
    Index n = 1600;
    Index seeds = 20;
    bool errors = false;
    std::string table;
    EngineOptions engine;
};

void add_recovery_options(CLI::App& command, RecoveryOptions& options) {
    command.add_option("--n", options.n, "Points of a field")->capture_default_str();
    command.add_option("--seeds", options.seeds, "Fields")->capture_default_str();
    command.add_flag("--errors", options.errors,
                     "Compare the standard errors of the fits with the spread of their estimates instead; exit code 1 "
                     "if they differ by more than 15 %");
    command.add_option("--table", options.table, "CSV file for the estimates of each seed");
    add_engine_options(command, options.engine);
}

constexpr CovarianceParameters true_parameters{.sigma2 = 1, .range = 0.1, .smoothness = 1, .nugget = 0.1};

// In standard deviations over the seeds.
constexpr double most_of_mean = 0.5;
constexpr double most_of_seed = 3;
// Of standard errors from the spread. The spread of 100 estimates is itself uncertain by 7 %.
constexpr double most_of_errors = 0.15;

/// One row of the table.
struct Recovered {
    std::uint64_t seed = 0;
    geo::FitResult fit;
    geo::Uncertainty uncertainty{};
};

Recovered recover(Stream& stream, const RecoveryOptions& options, std::uint64_t seed) {
    geo::Observations data{.coordinates = geo::random_points(options.n, seed), .values = {}};
    data.values = geo::sample(stream, {.theta = true_parameters}, data.coordinates, {.seed = seed});
    // The field was sampled with mean 0, and that is known.
    geo::Likelihood likelihood(stream, data, {.trend = geo::Trend::none});
    Recovered found{seed, geo::fit(likelihood)};
    if (options.errors) found.uncertainty = geo::uncertainty(likelihood, found.fit);
    return found;
}

std::vector<double> recovered_values(const std::vector<Recovered>& rows, Parameter p) {
    std::vector<double> values;
    for (const Recovered& row : rows) values.push_back(geo::value_of(row.fit.theta, p));
    return values;
}

struct RecoveredMoments {
    double mean = 0;
    double spread = 0;
};
RecoveredMoments moments_of(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double mean = 0;
    double squares = 0;
    for (const double v : values) mean += v / count;
    for (const double v : values) squares += (v - mean) * (v - mean);
    return {mean, std::sqrt(squares / (count - 1))};
}

/// A parameter's estimates beside the truth; errors in units of their spread.
Row summary_of_estimates(const std::vector<double>& estimates, double truth) {
    const auto [mean, spread] = moments_of(estimates);
    double worst = 0;
    for (const double e : estimates) worst = std::max(worst, std::abs(e - truth) / spread);
    const double of_mean = std::abs(mean - truth) / spread;
    return {{"truth", truth},
            {"mean", mean},
            {"spread", spread},
            {"mean_error_in_spreads", of_mean},
            {"worst_error_in_spreads", worst},
            {"recovered", of_mean <= most_of_mean && worst <= most_of_seed}};
}

/// Standard errors of a parameter's logarithm beside the spread of its estimates, and the part of the seeds whose 95 %
/// interval holds the truth; over those whose estimate is inside the bounds.
Row summary_of_errors(const std::vector<Recovered>& rows, Parameter p) {
    const double truth = geo::value_of(true_parameters, p);
    std::vector<double> logs;
    std::vector<double> errors;
    double covered = 0;
    for (const Recovered& row : rows) {
        const auto& known = row.uncertainty.parameters[static_cast<std::size_t>(p)];
        if (!known) continue;
        logs.push_back(std::log(geo::value_of(row.fit.theta, p)));
        errors.push_back(known->log_standard_error);
        if (truth >= *known->logarithmic.lower && truth <= *known->logarithmic.upper) covered += 1;
    }
    if (logs.size() < 2) throw Error("fewer than two seeds have a standard error of {}", name(p));
    const double spread = moments_of(logs).spread;
    const double error = median(errors);
    return {{"seeds", logs.size()},
            {"spread_of_log", spread},
            {"standard_error_of_log", error},
            {"ratio", error / spread},
            {"covered", covered / static_cast<double>(logs.size())}};
}

/// Standard errors where they were asked for; at a bound there is none.
Row recovered_row(const Recovered& recovered, bool errors) {
    Row row{{"seed", recovered.seed}};
    for (const Parameter p : geo::all_parameters) row[std::string(name(p))] = geo::value_of(recovered.fit.theta, p);
    for (const Parameter p : geo::all_parameters) {
        if (!errors) break;
        const auto& known = recovered.uncertainty.parameters[static_cast<std::size_t>(p)];
        row[fmt::format("{}_log_error", name(p))] = known ? Row(known->log_standard_error) : Row();
    }
    row["loglik"] = recovered.fit.log_likelihood;
    row["evaluations"] = recovered.fit.evaluations;
    return row;
}

std::vector<Row> recovery_table(const std::vector<Recovered>& all, bool errors) {
    std::vector<Row> rows;
    for (const Recovered& recovered : all) rows.push_back(recovered_row(recovered, errors));
    return rows;
}

void report_errors(const std::vector<Recovered>& rows, Report& report) {
    for (const Parameter p : geo::all_parameters) {
        const Row summary = summary_of_errors(rows, p);
        report.figures[std::string(name(p))] = summary;
        report.checks.push_back(at_most(fmt::format("{}: standard error off the spread", name(p)),
                                        std::abs(summary.at("ratio").get<double>() - 1), most_of_errors));
    }
}

void report_estimates(const std::vector<Recovered>& rows, Report& report) {
    bool all = true;
    for (const Parameter p : geo::all_parameters) {
        const Row summary = summary_of_estimates(recovered_values(rows, p), geo::value_of(true_parameters, p));
        all = all && summary.at("recovered").get<bool>();
        report.figures[std::string(name(p))] = summary;
        report.checks.push_back(at_most(fmt::format("{}: error of the mean, in spreads over the seeds", name(p)),
                                        summary.at("mean_error_in_spreads").get<double>(), most_of_mean));
        report.checks.push_back(at_most(fmt::format("{}: largest error of a seed, in spreads", name(p)),
                                        summary.at("worst_error_in_spreads").get<double>(), most_of_seed));
    }
    report.figures["recovered"] = all;
}

Report recover_parameters(const RecoveryOptions& options) {
    if (options.seeds < 2) throw Error("--seeds must be at least 2, for a spread");
    const auto engine = start_engine(options.engine);
    std::vector<Recovered> rows;
    const double seconds = seconds_of([&] {
        for (Index seed = 1; seed <= options.seeds; ++seed) {
            Stream stream(*engine);
            rows.push_back(recover(stream, options, static_cast<std::uint64_t>(seed)));
        }
    });
    if (!options.table.empty() && engine->is_first())
        write_table(options.table, recovery_table(rows, options.errors), Digits::computed);
    Report report{.figures = {{"n", options.n}, {"seeds", options.seeds}, {"seconds", seconds}}};
    if (options.errors)
        report_errors(rows, report);
    else
        report_estimates(rows, report);
    return report;
}

}  // namespace

Experiment recovery() {
    return experiment("recovery",
                      "Sample fields, fit them, and compare the estimates with the truth; exit code 1 if the mean of a "
                      "parameter is off by more than half its spread over the seeds, or a seed by more than 3",
                      add_recovery_options, recover_parameters);
}

}  // namespace tesela::bench
