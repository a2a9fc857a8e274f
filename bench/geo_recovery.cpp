#include "geo_recovery.hpp"

#include "checks.hpp"
#include "table.hpp"
#include "timing.hpp"

#include "tesela/apps/geo/fit.hpp"
#include "tesela/apps/geo/sample.hpp"
#include "tesela/apps/geo/uncertainty.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/base/median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::bench {
namespace {

using geo::Parameter;

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
    data.values = geo::sample(stream, {.theta = options.truth}, data.coordinates, {.seed = seed});
    // The field was sampled with mean 0, and that is known.
    geo::Likelihood likelihood(stream, data, {.trend = geo::Trend::none});
    Recovered found{seed, geo::fit(likelihood)};
    if (options.errors) found.uncertainty = geo::uncertainty(likelihood, found.fit);
    return found;
}

std::vector<double> column(const std::vector<Recovered>& rows, const auto& value) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const Recovered& row : rows) values.push_back(value(row));
    return values;
}

struct Moments {
    double mean = 0;
    double spread = 0;
};
Moments moments_of(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double mean = 0;
    double squares = 0;
    for (const double v : values) mean += v / count;
    for (const double v : values) squares += (v - mean) * (v - mean);
    return {mean, std::sqrt(squares / (count - 1))};
}

nlohmann::ordered_json summarise(const std::vector<double>& estimates, double truth) {
    const auto [mean, spread] = moments_of(estimates);
    LargestDifference worst;
    for (const double e : estimates) worst.add((e - truth) / spread);
    const double of_mean = std::abs(mean - truth) / spread;
    return {{"truth", truth},
            {"mean", mean},
            {"spread", spread},
            {"mean_error_in_spreads", of_mean},
            {"worst_error_in_spreads", worst.value()},
            {"recovered", of_mean <= most_of_mean && worst.value() <= most_of_seed}};
}

/// Of a parameter's logarithm, over the seeds whose estimate is inside the bounds.
nlohmann::ordered_json summarise_errors(const std::vector<Recovered>& rows, Parameter p, double truth) {
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
Row row_of(const Recovered& recovered, bool errors) {
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

std::vector<Row> table_of(const std::vector<Recovered>& all, bool errors) {
    std::vector<Row> rows;
    for (const Recovered& recovered : all) rows.push_back(row_of(recovered, errors));
    return rows;
}

}  // namespace

nlohmann::ordered_json recovery_benchmark(StarpuEngine& engine, const RecoveryOptions& options) {
    if (options.seeds < 2) throw Error("--seeds must be at least 2, for a spread");
    std::vector<Recovered> rows;
    const double seconds = seconds_of([&] {
        for (Index seed = 1; seed <= options.seeds; ++seed) {
            Stream stream(engine);
            rows.push_back(recover(stream, options, static_cast<std::uint64_t>(seed)));
        }
    });
    if (!options.table.empty() && engine.this_node() == NodeId{0})
        write_table(options.table, table_of(rows, options.errors), Digits::computed);
    nlohmann::ordered_json result{{"n", options.n}, {"seeds", options.seeds}, {"seconds", seconds}};
    if (options.errors) {
        Row of_errors = Row::array();
        for (const Parameter p : geo::all_parameters) {
            const auto summary = summarise_errors(rows, p, geo::value_of(options.truth, p));
            result[std::string(name(p))] = summary;
            of_errors.push_back(at_most(fmt::format("{}: standard error off the spread", name(p)),
                                        std::abs(summary.at("ratio").get<double>() - 1), most_of_errors));
        }
        result["checks"] = of_errors;
        return result;
    }
    bool all = true;
    Row checks = Row::array();
    for (const Parameter p : geo::all_parameters) {
        const auto summary = summarise(column(rows, [p](const Recovered& r) { return geo::value_of(r.fit.theta, p); }),
                                       geo::value_of(options.truth, p));
        all = all && summary.at("recovered").get<bool>();
        result[std::string(name(p))] = summary;
        checks.push_back(at_most(fmt::format("{}: error of the mean, in spreads over the seeds", name(p)),
                                 summary.at("mean_error_in_spreads").get<double>(), most_of_mean));
        checks.push_back(at_most(fmt::format("{}: largest error of a seed, in spreads", name(p)),
                                 summary.at("worst_error_in_spreads").get<double>(), most_of_seed));
    }
    result["recovered"] = all;
    result["checks"] = checks;
    return result;
}

}  // namespace tesela::bench
