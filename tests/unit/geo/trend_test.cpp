#include "tesela/geo/trend.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/internal/part_of.hpp"
#include "tesela/geo/model_field.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/geo/variogram.hpp"
#include "unit/geo/meuse_covariates.hpp"
#include "unit/geo/trend_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>

namespace tesela::geo::trend_test {
namespace {

using tesela::testing::meuse_covariates;
using tesela::testing::meuse_grid_covariates;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Model exponential(const std::string& formula) {
    return {.family = CovarianceFamily::exponential, .trend = TrendFormula::parse(formula)};
}

void expect_relative(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t k = 0; k < got.size(); ++k)
        EXPECT_NEAR(got[k], expected[k], tolerance * std::abs(expected[k])) << k;
}

TEST(TrendFit, CoefficientsAndErrorsEqualGlsAtItsParameters) {
    InlineEngine engine;
    for (const auto& expected : tesela::testing::reference_gls()) {
        SCOPED_TRACE(expected.formula + (expected.free ? " free" : " fixed"));
        Stream s(engine);
        Likelihood likelihood(s, meuse_covariates(), exponential(expected.formula), {.tile = 40});
        const LikelihoodValue value = likelihood.evaluate(expected.theta);
        ASSERT_TRUE(value.status.ok());
        EXPECT_EQ(value.trend.names, expected.names);
        expect_relative(value.trend.coefficients, expected.coefficients, 1e-8);
        expect_relative(value.trend.standard_errors, expected.standard_errors, 1e-8);
        EXPECT_NEAR(value.log_likelihood, expected.log_likelihood, 1e-8 * std::abs(expected.log_likelihood));
    }
}

TEST(TrendFit, FitsAreNotBelowThoseOfGls) {
    InlineEngine engine;
    for (const auto& expected : tesela::testing::reference_gls()) {
        SCOPED_TRACE(expected.formula + (expected.free ? " free" : " fixed"));
        Stream s(engine);
        Model model = exponential(expected.formula);
        if (!expected.free) model.choice(Parameter::range).fixed = expected.theta.range;
        Likelihood likelihood(s, meuse_covariates(), model, {.tile = 80});
        const FitResult result = fit(likelihood);
        EXPECT_GE(result.log_likelihood, expected.log_likelihood - 1e-6);
        EXPECT_EQ(result.trend.names, expected.names);
        if (expected.free) expect_relative(result.trend.coefficients, expected.coefficients, 0.02);
    }
}

TEST(TrendFit, PredictionsEqualUniversalKrigingOfGstat) {
    InlineEngine engine;
    const CovarianceParameters theta{.sigma2 = 0.2, .range = 300, .smoothness = 0.5, .nugget = 0.05};
    const Sites places = meuse_grid_covariates({0, 499, 1499, 2499, 3102});
    for (const auto& expected : tesela::testing::reference_universal()) {
        SCOPED_TRACE(expected.formula);
        Stream s(engine);
        Likelihood likelihood(s, meuse_covariates(), exponential(expected.formula), {.tile = 50});
        const Predictions got = predict(likelihood, theta, places, {.block = 2});
        expect_relative(got.mean, expected.mean, 1e-8);
        expect_relative(got.variance, expected.variance, 1e-8);
    }
}

TEST(TrendFit, AFormulaOfCoordinatesIsTheLinearTrend) {
    InlineEngine engine;
    Stream s(engine);
    const CovarianceParameters theta{.sigma2 = 0.2, .range = 300, .smoothness = 0.5, .nugget = 0.05};
    Likelihood linear(s, meuse_covariates(), exponential("linear"), {.tile = 50});
    Likelihood formula(s, meuse_covariates(), exponential("log_zinc ~ x + y"), {.tile = 50});
    const LikelihoodValue a = linear.evaluate(theta);
    const LikelihoodValue b = formula.evaluate(theta);
    EXPECT_EQ(a.log_likelihood, b.log_likelihood);
    EXPECT_EQ(a.trend.names, b.trend.names);
    EXPECT_EQ(a.trend.coefficients, b.trend.coefficients);
}

TEST(TrendFit, APartOfTheObservationsCarriesTheirCovariates) {
    const Observations data = meuse_covariates({.landuse = true});
    const Observations part = part_of(data, PointSet(Metric::euclidean, data.coordinates), 60);
    EXPECT_NO_THROW(validate(part));
    ASSERT_EQ(part.size(), 60);
    ASSERT_EQ(part.covariates.size(), 5U);
    for (std::size_t i = 0; i < 60; ++i) {
        const auto from = static_cast<std::size_t>(std::find(data.lines.begin(), data.lines.end(), part.lines[i]) -
                                                   data.lines.begin());
        EXPECT_EQ(std::get<0>(part.covariates[1].values)[i], std::get<0>(data.covariates[1].values)[from]);
        EXPECT_EQ(std::get<1>(part.covariates[4].values)[i], std::get<1>(data.covariates[4].values)[from]);
    }
    // Not every land use is among them.
    EXPECT_LT(TrendBasis(TrendFormula::parse("~ landuse"), part, DependentColumns::leave_out).size(),
              TrendBasis(TrendFormula::parse("~ landuse"), data).size());
}

TEST(TrendFit, ResidualsOfAFormulaAreThoseOfLeastSquares) {
    const Observations data = meuse_covariates();
    const TrendFormula formula = TrendFormula::parse("~ 0 + dist + factor(soil)");
    const std::vector<double> residuals = without_trend(data, formula).values;
    const SmallMatrix X = TrendDesign(formula, data).matrix(data.sites());
    double squares = 0;
    for (Index k = 0; k < X.cols; ++k) {
        double product = 0;
        for (Index i = 0; i < X.rows; ++i) product += X(i, k) * residuals[static_cast<std::size_t>(i)];
        EXPECT_NEAR(product, 0, 1e-9);
    }
    for (const double r : residuals) squares += r * r;
    EXPECT_GT(squares, 10);
    EXPECT_LT(squares, 60);
}

FittedModel fitted_formula() {
    FittedModel fitted{.model = exponential("~ sqrt(dist) + factor(soil) + landuse:elev"),
                       .observations = meuse_covariates({.landuse = true}),
                       .result = {},
                       .program = "tesela test"};
    std::erase_if(fitted.observations.covariates, [](const Covariate& c) { return c.name == "ffreq"; });
    fitted.result.theta = {.sigma2 = 0.2, .range = 300, .smoothness = 0.5, .nugget = 0.05};
    fitted.result.stop_reason = StopReason::converged;
    InlineEngine engine;
    Stream s(engine);
    fitted.result.trend = Likelihood(s, fitted.observations, fitted.model).evaluate(fitted.result.theta).trend;
    return fitted;
}

std::string message_of(const std::function<void(nlohmann::json&)>& damage) {
    nlohmann::json json = nlohmann::json::parse(to_json(fitted_formula()).dump());
    damage(json);
    try {
        (void)parse_model(json.dump(), "m.json");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(TrendModelFile, CarriesFormulaLevelsAndCovariates) {
    const FittedModel before = fitted_formula();
    const nlohmann::ordered_json json = to_json(before);
    EXPECT_EQ(json["trend"]["kind"], "formula");
    EXPECT_EQ(json["trend"]["formula"], "~ sqrt(dist) + factor(soil) + landuse:elev");
    EXPECT_EQ(json["trend"]["levels"]["factor(soil)"], (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(json["observations"]["covariates"]["landuse"].size(), 154U);
    const FittedModel after = parse_model(json.dump(), "m.json");
    EXPECT_EQ(after.model.trend, before.model.trend);
    EXPECT_EQ(after.result.trend.names, before.result.trend.names);
    EXPECT_EQ(after.result.trend.coefficients, before.result.trend.coefficients);
    EXPECT_EQ(mean_at(after, after.observations.sites()), mean_at(before, before.observations.sites()));
    EXPECT_FALSE(
        to_json(FittedModel{.model = {}, .observations = tesela::testing::meuse(), .result = {}, .program = ""})
            .at("observations")
            .contains("covariates"));
}

TEST(TrendModelFile, RefusesWhatContradictsItself) {
    EXPECT_EQ(message_of([](auto&) {}), "");
    EXPECT_THAT(message_of([](auto& j) { j["trend"]["formula"] = "~ sqrt("; }),
                HasSubstr("the field trend.formula: the formula"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"]["formula"] = "linear"; }),
                HasSubstr("\"linear\" is not a formula"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"].erase("formula"); }), HasSubstr("trend.formula is missing"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"]["kind"] = "linear"; }),
                HasSubstr("trend.formula is there, but trend.kind is"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"]["formula"] = "zinc ~ sqrt(dist) + factor(soil) + landuse:elev"; }),
                HasSubstr("is of zinc, but the values are those of log_zinc"));
    EXPECT_THAT(message_of([](auto& j) {
                    j["trend"]["levels"]["factor(soil)"] = {"1", "2"};
                }),
                HasSubstr("trend.levels.factor(soil) is not what the observations have, which is 1, 2, 3"));
    EXPECT_THAT(message_of([](auto& j) {
                    j["trend"]["levels"]["dist"] = {"1", "2"};
                }),
                HasSubstr("trend.levels has 3 factors"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"].erase("levels"); }), HasSubstr("trend.levels is missing"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"]["coefficients"]["wind"] = 1; }),
                HasSubstr("trend.coefficients.wind is of no coefficient of the trend"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"]["coefficients"].erase("sqrt(dist)"); }),
                HasSubstr("trend.coefficients.sqrt(dist) is missing"));
    EXPECT_THAT(message_of([](auto& j) { j["trend"]["standard_errors"].erase("intercept"); }),
                HasSubstr("trend.standard_errors.intercept is missing"));
    EXPECT_THAT(
        message_of([](auto& j) { j["observations"]["covariates"].erase("dist"); }),
        HasSubstr("observations.covariates has elev, landuse, soil; the trend needs dist, soil, landuse, elev"));
    EXPECT_THAT(message_of([](auto& j) { j["observations"]["covariates"]["dist"].erase(0); }),
                HasSubstr("153 values of dist at 154 points"));
    EXPECT_THAT(message_of([](auto& j) { j["observations"]["covariates"]["dist"][3] = "far"; }),
                HasSubstr("observations.covariates.dist must be a list of numbers"));
    EXPECT_THAT(message_of([](auto& j) { j["observations"]["covariates"]["landuse"][3] = 3; }),
                HasSubstr("observations.covariates.landuse must be a list of texts"));
}

}  // namespace
}  // namespace tesela::geo::trend_test
