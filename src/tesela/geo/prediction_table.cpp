#include "tesela/geo/prediction_table.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tesela::geo {
namespace {

void add_row(PredictionTable& table, double mean, double variance, double z) {
    const double sd = std::sqrt(variance);
    table.mean.push_back(mean);
    table.variance.push_back(variance);
    table.sd.push_back(sd);
    table.lower.push_back(mean - z * sd);
    table.upper.push_back(mean + z * sd);
}

void add_lognormal_row(PredictionTable& table, double mean, double variance, double z) {
    const double sd = std::sqrt(variance);
    const double expected = std::exp(mean + variance / 2);
    table.mean.push_back(expected);
    table.variance.push_back(std::expm1(variance) * expected * expected);
    table.sd.push_back(std::sqrt(std::expm1(variance)) * expected);
    table.median.push_back(std::exp(mean));
    table.lower.push_back(std::exp(mean - z * sd));
    table.upper.push_back(std::exp(mean + z * sd));
}

}  // namespace

void validate(const TableOptions& options) { (void)normal_interval(options.level); }

/// Newton's iteration for erfc(z/√2) = 1 − level, which is convex and falls: from 0 it rises to the root.
double normal_interval(double level) {
    if (!(level > 0 && level < 1))
        throw Error("the level of the intervals is {}; it is a probability between 0 and 1, as 0.95", level);
    double z = 0;
    for (int iteration = 0; iteration < 100; ++iteration) {
        const double excess = std::erfc(z / std::numbers::sqrt2) - (1 - level);
        const double slope = std::sqrt(2 / std::numbers::pi) * std::exp(-z * z / 2);
        const double step = excess / slope;
        z += step;
        if (std::abs(step) <= 1e-15 * z) break;
    }
    return z;
}

std::vector<std::string> result_names(BackTransform transform) {
    if (transform == BackTransform::log) return {"mean", "variance", "sd", "median", "lower", "upper"};
    return {"mean", "variance", "sd", "lower", "upper"};
}

std::vector<CsvColumn> PredictionTable::columns() const {
    std::vector<CsvColumn> result;
    const bool transformed = !median.empty();
    for (const std::string& name : result_names(transformed ? BackTransform::log : BackTransform::none)) {
        const auto& values = name == "mean"       ? mean
                             : name == "variance" ? variance
                             : name == "sd"       ? sd
                             : name == "median"   ? median
                             : name == "lower"    ? lower
                                                  : upper;
        result.push_back({name, values});
    }
    return result;
}

PredictionTable tabulate(const Predictions& predictions, const TableOptions& options) {
    validate(options);
    const double z = normal_interval(options.level);
    PredictionTable table;
    for (std::size_t i = 0; i < predictions.mean.size(); ++i) {
        const double mean = predictions.mean[i];
        const double variance = predictions.variance[i];
        if (options.back_transform == BackTransform::log)
            add_lognormal_row(table, mean, variance, z);
        else
            add_row(table, mean, variance, z);
    }
    return table;
}

Observations transformed_back(const Observations& observations, BackTransform transform) {
    Observations result = observations;
    if (transform == BackTransform::none) return result;
    for (double& value : result.values) value = std::exp(value);
    result.value_name = fmt::format("exp({})", observations.value_name);
    return result;
}

}  // namespace tesela::geo
