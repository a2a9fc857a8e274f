#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/random.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace tesela::bench {
namespace {

using geo::Parameter;

struct FitsOptions {
    /// CSV files with columns x, y and one or more variables.
    std::string folder = "bench/fits/data";
    Index samples = 8;         ///< fields that are sampled beside these
    Index points = 150;        ///< of a sampled field
    Index random_starts = 20;  ///< that each fit is compared with
    std::uint64_t seed = 1;    ///< of samples and starts
    geo::FitOptions fit{};
    std::string table{};  ///< CSV file for the rows; nowhere if empty
    EngineOptions engine;
};

void add_fits_options(CLI::App& command, FitsOptions& options) {
    command.add_option("--folder", options.folder, "Of CSV files with columns x, y and variables; \"\" for none")
        ->capture_default_str();
    command.add_option("--samples", options.samples, "Fields that are sampled beside these")->capture_default_str();
    command.add_option("--points", options.points, "Points of a sampled field")->capture_default_str();
    command.add_option("--random-starts", options.random_starts, "Random starts that each fit is compared with")
        ->capture_default_str();
    command.add_option("--seed", options.seed, "Seed of samples and starts")->capture_default_str();
    add_choice(command, "--optimizer", options.fit.optimizer, geo::optimizer_names, "That of tesela fit");
    command.add_option("--starts", options.fit.starts, "That of tesela fit")->capture_default_str();
    command.add_option("--table", options.table, "CSV file for the rows");
    add_engine_options(command, options.engine);
}

// The bars, from before the first run: log-likelihoods below the best of the random starts, and slopes per unit of a
// logarithm, of which 1e-3 gains 5e-7 where the curvature is 1.
constexpr double most_below = 0.01;
constexpr double steepest = 1e-3;

struct FittedData {
    std::string name;
    geo::Observations observations;
};

void add_variables(const std::filesystem::path& file, std::vector<FittedData>& sets) {
    const CsvTable table = read_csv(file.string());
    for (const std::string& variable : table.names()) {
        if (variable == "x" || variable == "y") continue;
        NumericTable numbers = table.numbers({"x", "y", variable}, NaPolicy::drop);
        sets.push_back({fmt::format("{} {}", file.stem().string(), variable),
                        {.coordinates = {numbers.columns[0], numbers.columns[1]},
                         .values = std::move(numbers.columns[2]),
                         .value_name = variable}});
    }
}

/// A field of a covariance that is drawn too: from rough to smooth, from short to long, with little noise and much.
FittedData sampled_field(Stream& stream, const FitsOptions& options, Index number) {
    const Random random(options.seed);
    const auto drawn = [&](std::uint64_t which, double lower, double upper) {
        const double u = random.uniform({.i = static_cast<std::uint64_t>(number), .j = which});
        return lower * std::pow(upper / lower, u);
    };
    const CovarianceParameters truth{
        .sigma2 = 1, .range = drawn(0, 0.02, 0.5), .smoothness = drawn(1, 0.3, 2.5), .nugget = drawn(2, 0.001, 1)};
    const std::uint64_t seed = options.seed * 1000 + static_cast<std::uint64_t>(number);
    FittedData set{fmt::format("sample {}", seed),
                   {.coordinates = geo::random_points(options.points, seed), .values = {}}};
    set.observations.values = geo::sample(stream, {.theta = truth}, set.observations.coordinates, {.seed = seed});
    return set;
}

std::vector<FittedData> data_sets(Stream& stream, const FitsOptions& options) {
    std::vector<std::filesystem::path> files;
    if (!options.folder.empty())
        for (const auto& entry : std::filesystem::directory_iterator(options.folder))
            if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<FittedData> sets;
    for (const auto& file : files) add_variables(file, sets);
    for (Index k = 0; k < options.samples; ++k) sets.push_back(sampled_field(stream, options, k));
    if (sets.empty()) throw Error("there is nothing to fit: {} has no CSV file, and --samples is 0", options.folder);
    return sets;
}

/// That is left; infinite where a search by slopes does not know it.
double slope_of(const geo::FitResult& result, const geo::FitOptions& options) {
    if (result.slope >= 0 || options.optimizer == geo::Optimizer::bobyqa) return result.slope;
    return std::numeric_limits<double>::infinity();
}

/// The best of fits that climb from one random point each.
double best_of_random_starts(Stream& stream, const FittedData& data, const geo::Model& model,
                             const FitsOptions& options) {
    const double diameter = PointSet(model.metric, data.observations.coordinates).diameter_bound();
    double best = -std::numeric_limits<double>::infinity();
    for (Index k = 0; k < options.random_starts; ++k) {
        const Random random(options.seed + 17);
        const auto drawn = [&](std::uint64_t which, double lower, double upper) {
            const double u = random.uniform({.i = static_cast<std::uint64_t>(k), .j = which});
            return lower * std::pow(upper / lower, u);
        };
        geo::Model started = model;
        started.choice(Parameter::range).start = drawn(0, 0.005 * diameter, diameter);
        if (geo::uses(model.family, Parameter::smoothness))
            started.choice(Parameter::smoothness).start =
                model.family == CovarianceFamily::matern ? drawn(1, 0.2, 4) : drawn(1, 0.3, 1.95);
        started.choice(Parameter::sigma2).start = 1;
        started.choice(Parameter::nugget).start = drawn(2, 1e-4, 30);
        geo::Likelihood likelihood(stream, data.observations, started);
        try {
            best = std::max(best, geo::fit(likelihood, options.fit).log_likelihood);
        } catch (const geo::NotPositiveDefinite&) {
            continue;  // this start was none
        }
    }
    return best;
}

Row compare_fit(Stream& stream, const FittedData& data, const geo::Model& model, const FitsOptions& options) {
    geo::Likelihood likelihood(stream, data.observations, model);
    const geo::FitResult result = geo::fit(likelihood, options.fit);
    const double best = best_of_random_starts(stream, data, model, options);
    return {{"data", data.name},
            {"n", data.observations.size()},
            {"family", name(model.family)},
            {"trend", model.trend.text()},
            {"loglik", result.log_likelihood},
            {"random_starts", best},
            {"below", std::max(0.0, best - result.log_likelihood)},
            {"slope", slope_of(result, options.fit)},
            {"evaluations", result.evaluations},
            {"gradients", result.gradients},
            {"stop_reason", geo::name(result.stop_reason)}};
}

std::vector<double> fit_column(const std::vector<Row>& rows, const char* name) {
    std::vector<double> values;
    for (const Row& row : rows) values.push_back(row.at(name).get<double>());
    return values;
}

/// How many are larger.
double count_above(const std::vector<double>& values, double limit) {
    return static_cast<double>(std::ranges::count_if(values, [&](double value) { return value > limit; }));
}

/// Fits every family with a constant and a linear trend to every variable and sampled field, and compares the maximum
/// with the best that random starts come to: none may end more than 0.01 below, or with a slope that leads on.
Report run_fits(const FitsOptions& options) {
    const auto engine = start_engine(options.engine);
    const bool speaks = engine->is_first();
    Stream stream(*engine);
    std::vector<Row> rows;
    const double seconds = seconds_of([&] {
        for (const FittedData& data : data_sets(stream, options)) {
            for (const auto& [family, text] : covariance_family_names)
                for (const geo::Trend trend : {geo::Trend::constant, geo::Trend::linear})
                    rows.push_back(compare_fit(stream, data, {.family = family, .trend = trend}, options));
            if (speaks && !options.engine.quiet) fmt::print(stderr, "{} …\n", data.name);
        }
    });
    if (!options.table.empty() && speaks) write_table(options.table, rows, Digits::computed);
    const std::vector<double> below = fit_column(rows, "below");
    const std::vector<double> slopes = fit_column(rows, "slope");
    return {.figures = {{"fits", rows.size()},
                        {"seconds", seconds},
                        {"evaluations", median(fit_column(rows, "evaluations"))},
                        {"gradients", median(fit_column(rows, "gradients"))},
                        {"furthest_below", std::ranges::max(below)},
                        {"steepest_slope", std::ranges::max(slopes)}},
            .checks = {at_most("fits that end more than 0.01 below the best of the random starts",
                               count_above(below, most_below), 0),
                       at_most("fits that end with a slope above 0.001 per unit of a logarithm",
                               count_above(slopes, steepest), 0)}};
}

}  // namespace

Experiment fits() {
    return experiment("fits",
                      "Fit every family and trend to data sets and sampled fields, each beside random starts; exit "
                      "code 1 if one ends more than 0.01 below the best of these, or with a slope above 0.001 per unit "
                      "of a logarithm",
                      add_fits_options, run_fits);
}

}  // namespace tesela::bench
