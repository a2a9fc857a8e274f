#include "tesela/geo/scores.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/geo/residual_plot.hpp"
#include "unit/geo/meuse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tesela::geo::scores_test {
namespace {

double phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// ∫ (F(x) − [x >= y])² dx by Simpson's rule on both sides of the step.
double integrated_crps(double y, double mean, double sd) {
    const auto simpson = [&](double a, double b, auto f) {
        constexpr int pieces = 20000;
        const double h = (b - a) / pieces;
        double sum = f(a) + f(b);
        for (int k = 1; k < pieces; ++k) sum += (k % 2 == 1 ? 4 : 2) * f(a + k * h);
        return sum * h / 3;
    };
    const double low = std::min(y, mean - 12 * sd);
    const double high = std::max(y, mean + 12 * sd);
    const auto below = [&](double x) { return std::pow(phi((x - mean) / sd), 2); };
    const auto above = [&](double x) { return std::pow(1 - phi((x - mean) / sd), 2); };
    return simpson(low, y, below) + simpson(y, high, above);
}

TEST(Scores, CrpsIsTheIntegralOfItsDefinition) {
    for (const double error : {-7.0, -0.3, 0.0, 0.01, 1.0, 2.5})
        for (const double sd : {0.1, 1.0, 3.0})
            EXPECT_NEAR(normal_crps(error, sd), integrated_crps(1 + error, 1, sd), 1e-9) << error << " " << sd;
}

TEST(Scores, AreTheMeansOfTheirDefinitions) {
    const Residuals r = residuals({1, 2, 4}, {.mean = {1.5, 2, 1}, .variance = {0.25, 1, 4}});
    EXPECT_DOUBLE_EQ(r.error[0], -0.5);
    EXPECT_DOUBLE_EQ(r.standardised[2], 1.5);
    const Scores s = score(r, 0.8);  // ± 1.28
    EXPECT_DOUBLE_EQ(s.rmse, std::sqrt((0.25 + 0 + 9) / 3));
    EXPECT_DOUBLE_EQ(s.mae, 3.5 / 3);
    EXPECT_DOUBLE_EQ(s.mean_error, 2.5 / 3);
    EXPECT_DOUBLE_EQ(s.standardised_square, (1 + 0 + 2.25) / 3);
    EXPECT_DOUBLE_EQ(s.coverage, 2.0 / 3);
    EXPECT_NEAR(s.crps, (integrated_crps(1, 1.5, 0.5) + integrated_crps(2, 2, 1) + integrated_crps(4, 1, 2)) / 3, 1e-9);
    const auto density = [](double e, double sd) {
        return std::exp(-e * e / (2 * sd * sd)) / (sd * std::sqrt(2 * std::numbers::pi));
    };
    EXPECT_NEAR(s.log_score, -(std::log(density(-0.5, 0.5)) + std::log(density(0, 1)) + std::log(density(3, 2))) / 3,
                1e-14);
    EXPECT_THROW((void)score(r, 1), Error);
    EXPECT_THROW((void)score({}, 0.95), Error);
    EXPECT_THROW((void)residuals({1}, {.mean = {1}, .variance = {0}}), Error);
    EXPECT_THROW((void)residuals({1, 2}, {.mean = {1}, .variance = {1}}), Error);
}

TEST(Scores, TrueProbabilitiesAreCoveredAndScoreBest) {
    const Random random(11);
    std::vector<double> values;
    for (std::uint64_t i = 0; i < 20000; ++i) values.push_back(2 * random.normal({.i = i}));
    const auto scored = [&](double variance) {
        return score(residuals(values, {.mean = std::vector<double>(values.size(), 0.0),
                                        .variance = std::vector<double>(values.size(), variance)}),
                     0.9);
    };
    const Scores right = scored(4);
    EXPECT_NEAR(right.coverage, 0.9, 0.01);
    EXPECT_NEAR(right.standardised_square, 1, 0.03);
    for (const double wrong : {2.0, 8.0}) {
        EXPECT_LT(right.crps, scored(wrong).crps);
        EXPECT_LT(right.log_score, scored(wrong).log_score);
    }
}

TEST(Scores, NormalQuantilesInvertTheDistribution) {
    for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.8, 0.999}) EXPECT_NEAR(phi(normal_quantile(p)), p, 1e-14);
    const std::vector<double> scores = normal_scores(3);
    EXPECT_NEAR(scores[0], -0.9674215661017010, 1e-14);
    EXPECT_EQ(scores[1], 0);
}

TEST(ResidualPlot, HasADotPerObservationInBothPanelsAndOnTheMap) {
    const Observations data = tesela::testing::meuse();
    Predictions predictions{.mean = data.values, .variance = std::vector<double>(155, 0.1)};
    for (std::size_t i = 0; i < 155; ++i) predictions.mean[i] += i % 2 == 0 ? 0.2 : -0.1;
    const Residuals r = residuals(data.values, predictions);
    const auto count = [](const std::string& text, const std::string& word) {
        std::size_t found = 0;
        for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
        return found;
    };
    const std::string plot = draw_residuals(r, "Leave-one-out <all>", "log_zinc");
    EXPECT_EQ(count(plot, "<circle"), 2U * 155);
    EXPECT_NE(plot.find("observed log_zinc"), std::string::npos);
    EXPECT_NE(plot.find("&lt;all&gt;"), std::string::npos);
    const std::string map = draw_residual_map(data, Metric::euclidean, r, "Errors");
    EXPECT_NE(map.find("Standardised error"), std::string::npos);
    EXPECT_NE(map.find("155 observations"), std::string::npos);
    Observations line = data;
    line.coordinates.pop_back();
    EXPECT_THROW((void)draw_residual_map(line, Metric::euclidean, r, "Errors"), Error);
}

}  // namespace
}  // namespace tesela::geo::scores_test
