#include "tesela/geo/prediction_table.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tesela::geo::prediction_table_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_of(const PredictionTable& table) {
    std::vector<std::string> names;
    for (const CsvColumn& column : table.columns()) names.push_back(column.name);
    return names;
}

TEST(PredictionTable, IntervalsOfTheNormalDistribution) {
    // Quantiles (1 + level)/2 of R's qnorm.
    EXPECT_NEAR(normal_interval(0.95), 1.959963984540054, 1e-14);
    EXPECT_NEAR(normal_interval(0.5), 0.6744897501960817, 1e-14);
    EXPECT_NEAR(normal_interval(0.99), 2.575829303548901, 1e-14);
    EXPECT_NEAR(normal_interval(0.999999), 4.891638475698, 1e-9);
    EXPECT_NEAR(normal_interval(1e-6), 1.2533141373e-6, 1e-14);
}

TEST(PredictionTable, HasDeviationsAndIntervals) {
    const PredictionTable table = tabulate({.mean = {1, -2}, .variance = {4, 0}}, {.level = 0.5});
    EXPECT_THAT(names_of(table), ElementsAre("mean", "variance", "sd", "lower", "upper"));
    EXPECT_EQ(result_names(BackTransform::none), names_of(table));
    EXPECT_THAT(table.sd, ElementsAre(2, 0));
    EXPECT_NEAR(table.lower[0], 1 - 2 * 0.6744897501960817, 1e-14);
    EXPECT_NEAR(table.upper[0], 1 + 2 * 0.6744897501960817, 1e-14);
    EXPECT_EQ(table.lower[1], -2);
    EXPECT_EQ(table.upper[1], -2);
}

TEST(PredictionTable, BackFromLogarithmsIsTheLognormalDistribution) {
    const double m = 1.5, v = 0.36;
    const PredictionTable table =
        tabulate({.mean = {m}, .variance = {v}}, {.level = 0.9, .back_transform = BackTransform::log});
    EXPECT_THAT(names_of(table), ElementsAre("mean", "variance", "sd", "median", "lower", "upper"));
    // What 10⁵ exponentials of normals have.
    constexpr std::uint64_t n = 100000;
    std::vector<double> values;
    double mean = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        values.push_back(std::exp(m + std::sqrt(v) * Random(3).normal({i, 0})));
        mean += values.back() / n;
    }
    double variance = 0;
    for (const double value : values) variance += (value - mean) * (value - mean) / n;
    std::sort(values.begin(), values.end());
    EXPECT_NEAR(table.mean[0], mean, 5 * std::sqrt(variance / n));
    EXPECT_NEAR(table.sd[0], std::sqrt(variance), 0.03 * std::sqrt(variance));
    EXPECT_NEAR(table.variance[0], table.sd[0] * table.sd[0], 1e-12);
    EXPECT_NEAR(table.median[0], values[n / 2], 0.02 * values[n / 2]);
    EXPECT_NEAR(table.lower[0], values[n / 20], 0.02 * values[n / 20]);
    EXPECT_NEAR(table.upper[0], values[n - n / 20], 0.02 * values[n - n / 20]);
    EXPECT_DOUBLE_EQ(table.mean[0], std::exp(m + v / 2));
}

TEST(PredictionTable, ObservationsAreShownInTheSameUnit) {
    const Observations logs = tesela::testing::meuse();
    EXPECT_EQ(transformed_back(logs, BackTransform::none).values, logs.values);
    const Observations zinc = transformed_back(logs, BackTransform::log);
    EXPECT_NEAR(zinc.values[0], 1022, 1e-9);
    EXPECT_EQ(zinc.value_name, "exp(log_zinc)");
}

TEST(PredictionTable, ALevelIsAProbability) {
    for (const double level : {0.0, 1.0, 95.0, -0.5, std::nan("")}) EXPECT_THROW(validate({.level = level}), Error);
}

}  // namespace
}  // namespace tesela::geo::prediction_table_test
