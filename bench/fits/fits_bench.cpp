#include "fits/fits_bench.hpp"

#include "checks.hpp"
#include "table.hpp"
#include "timing.hpp"

#include "tesela/apps/geo/sample.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/random.hpp"
#include "tesela/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

namespace tesela::bench {
namespace {

using geo::Parameter;

// The bars, from before the first run: log-likelihoods below the best of the random starts, and slopes per unit of a
// logarithm, of which 1e-3 gains 5e-7 where the curvature is 1.
constexpr double most_below = 0.01;
constexpr double steepest = 1e-3;

struct DataSet {
    std::string name;
    geo::Observations observations;
};

void add_variables(const std::filesystem::path& file, std::vector<DataSet>& sets) {
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
DataSet sampled_field(Stream& stream, const FitsOptions& options, Index number) {
    const Random random(options.seed);
    const auto drawn = [&](std::uint64_t which, double lower, double upper) {
        const double u = random.uniform({.i = static_cast<std::uint64_t>(number), .j = which});
        return lower * std::pow(upper / lower, u);
    };
    const CovarianceParameters truth{
        .sigma2 = 1, .range = drawn(0, 0.02, 0.5), .smoothness = drawn(1, 0.3, 2.5), .nugget = drawn(2, 0.001, 1)};
    const std::uint64_t seed = options.seed * 1000 + static_cast<std::uint64_t>(number);
    DataSet set{fmt::format("sample {}", seed),
                {.coordinates = geo::random_points(options.points, seed), .values = {}}};
    set.observations.values = geo::sample(stream, {.theta = truth}, set.observations.coordinates, {.seed = seed});
    return set;
}

std::vector<DataSet> data_sets(Stream& stream, const FitsOptions& options) {
    std::vector<std::filesystem::path> files;
    if (!options.folder.empty())
        for (const auto& entry : std::filesystem::directory_iterator(options.folder))
            if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<DataSet> sets;
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
double best_of_random_starts(Stream& stream, const DataSet& data, const geo::Model& model, const FitsOptions& options) {
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

Row compare(Stream& stream, const DataSet& data, const geo::Model& model, const FitsOptions& options) {
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

std::vector<double> column(const std::vector<Row>& rows, const char* name) {
    std::vector<double> values;
    for (const Row& row : rows) values.push_back(row.at(name).get<double>());
    return values;
}

double above(const std::vector<double>& values, double limit) {
    return static_cast<double>(std::ranges::count_if(values, [&](double value) { return value > limit; }));
}

}  // namespace

nlohmann::ordered_json fits_benchmark(StarpuEngine& engine, const FitsOptions& options) {
    Stream stream(engine);
    std::vector<Row> rows;
    const double seconds = seconds_of([&] {
        for (const DataSet& data : data_sets(stream, options)) {
            for (const auto& [family, text] : covariance_family_names)
                for (const geo::Trend trend : {geo::Trend::constant, geo::Trend::linear})
                    rows.push_back(compare(stream, data, {.family = family, .trend = trend}, options));
            if (engine.this_node() == NodeId{0}) fmt::print(stderr, "{} …\n", data.name);
        }
    });
    if (!options.table.empty() && engine.this_node() == NodeId{0}) write_table(options.table, rows, Digits::computed);
    const std::vector<double> below = column(rows, "below");
    const std::vector<double> slopes = column(rows, "slope");
    std::vector<double> evaluations = column(rows, "evaluations");
    nlohmann::ordered_json result{{"fits", rows.size()}, {"seconds", seconds}};
    result["evaluations"] = median(evaluations);
    result["gradients"] = median(column(rows, "gradients"));
    result["furthest_below"] = std::ranges::max(below);
    result["steepest_slope"] = std::ranges::max(slopes);
    result["checks"] = Row::array(
        {at_most("fits that end more than 0.01 below the best of the random starts", above(below, most_below), 0),
         at_most("fits that end with a slope above 0.001 per unit of a logarithm", above(slopes, steepest), 0)});
    return result;
}

}  // namespace tesela::bench
