#pragma once

#include "tesela/base/names.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/io/csv.hpp"

#include <string>
#include <vector>

namespace tesela::geo {

/// What the observed values are of what is wanted: the values themselves, or their natural logarithms.
enum class BackTransform : std::uint8_t { none, log };
inline constexpr Names<BackTransform, 2> back_transform_names{
    {{BackTransform::none, "none"}, {BackTransform::log, "log"}}};

struct TableOptions {
    double level = 0.95;  ///< probability that the interval holds what is predicted
    BackTransform back_transform = BackTransform::none;
};

/// Throws Error unless the level is between 0 and 1.
void validate(const TableOptions& options);

/// Predictions as people read them. With m and v the kriging mean and variance: mean m, variance v, sd √v, and the
/// interval m ± z·√v. Transformed back from logarithms, those of the lognormal distribution: mean exp(m + v/2),
/// variance (exp(v) − 1)·exp(2m + v), median exp(m), and the ends of the interval exponentiated.
struct PredictionTable {
    std::vector<double> mean;
    std::vector<double> variance;
    std::vector<double> sd;
    std::vector<double> median;  ///< only of what was transformed back; otherwise it is the mean
    std::vector<double> lower;
    std::vector<double> upper;

    /// By the names of result_names(); valid as long as the table.
    [[nodiscard]] std::vector<CsvColumn> columns() const;
};
[[nodiscard]] PredictionTable tabulate(const Predictions& predictions, const TableOptions& options);

/// mean, variance, sd, median where something is transformed back, lower, upper.
[[nodiscard]] std::vector<std::string> result_names(BackTransform transform);

/// The observations in the unit of a table.
[[nodiscard]] Observations transformed_back(const Observations& observations, BackTransform transform);

/// z with P(|Z| <= z) = level for a standard normal Z: 1.96 for 0.95. Throws Error unless the level is between 0 and 1.
[[nodiscard]] double normal_interval(double level);

}  // namespace tesela::geo
