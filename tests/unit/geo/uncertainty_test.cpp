#include "tesela/geo/uncertainty.hpp"

#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/derivatives.hpp"
#include "tesela/geo/prediction_table.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tesela::geo::uncertainty_test {
namespace {

using tesela::testing::meuse;
using ::testing::HasSubstr;

/// Only sigma2 is free, and the correlations are known: everything follows in closed form.
Model with_known_correlations(Estimation estimation) {
    Model model{.family = CovarianceFamily::exponential, .trend = Trend::linear, .estimation = estimation};
    model.choice(Parameter::range).fixed = 300;
    model.choice(Parameter::nugget).fixed = 0;
    return model;
}

const ParameterUncertainty& of(const Uncertainty& all, Parameter p) {
    return all.parameters[static_cast<std::size_t>(p)].value();
}

class OfSigma2Alone : public ::testing::TestWithParam<Estimation> {
protected:
    InlineEngine engine_;
    Stream stream_{engine_};
    Likelihood likelihood_{stream_, meuse(), with_known_correlations(GetParam()), {.tile = 50}};
    FitResult result_ = fit(likelihood_);
    double degrees_ = GetParam() == Estimation::reml ? 152 : 155;
};

TEST_P(OfSigma2Alone, IsTheResidualOverItsDegreesOfFreedom) {
    const LikelihoodValue at_one = likelihood_.evaluate({.sigma2 = 1, .range = 300, .nugget = 0});
    EXPECT_NEAR(result_.theta.sigma2, at_one.fit.quadratic / degrees_, 1e-10);
}

TEST_P(OfSigma2Alone, StandardErrorIsTheTextbookS) {
    // The information on sigma2 is degrees / (2 sigma2²); at the maximum the observed and the expected are the same.
    const double s2 = result_.theta.sigma2;
    for (const InformationKind kind : {InformationKind::expected, InformationKind::observed}) {
        const Uncertainty found = uncertainty(likelihood_, result_, kind);
        EXPECT_NEAR(of(found, Parameter::sigma2).standard_error, s2 * std::sqrt(2 / degrees_), 1e-5 * s2);
        EXPECT_FALSE(found.parameters[static_cast<std::size_t>(Parameter::range)].has_value());
    }
}

TEST_P(OfSigma2Alone, ProfileEndsWhereTheLikelihoodHasFallenByHalfOfZSquared) {
    const ProfileInterval found = profile_interval(likelihood_, result_, Parameter::sigma2, {.level = 0.9});
    const double z = normal_interval(0.9);
    for (const auto& end : {found.interval.lower, found.interval.upper}) {
        // 2(ℓ(ŝ) − ℓ(s)) = d·(log(s/ŝ) + ŝ/s − 1)
        const double ratio = end.value() / result_.theta.sigma2;
        EXPECT_NEAR(std::sqrt(degrees_ * (std::log(ratio) + 1 / ratio - 1)), z, 5e-3);
    }
    EXPECT_LT(*found.interval.lower, result_.theta.sigma2);
    EXPECT_GT(*found.interval.upper, result_.theta.sigma2);
    EXPECT_LT(found.above_fit, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(, OfSigma2Alone, ::testing::Values(Estimation::ml, Estimation::reml),
                         [](const auto& tested) { return std::string(name_in(estimation_names, tested.param)); });

TEST(Uncertainty, ComesFromTheInverseOfTheInformation) {
    InlineEngine engine;
    Stream s(engine);
    Model model;
    model.choice(Parameter::smoothness).fixed = 1.5;
    Likelihood likelihood(s, meuse(), model, {.tile = 50});
    const FitResult result = fit(likelihood);
    for (const auto& [kind, name] : information_names) {
        const Uncertainty found = uncertainty(likelihood, result, kind, 0.8);
        LikelihoodDerivatives derivatives(likelihood);
        const LikelihoodValue value = likelihood.evaluate(result.theta);
        const std::array free{Parameter::sigma2, Parameter::range, Parameter::nugget};
        SmallMatrix F = kind == InformationKind::expected ? derivatives.expected_information(value)
                        : kind == InformationKind::average
                            ? derivatives.average_information(value)
                            : observed_information(likelihood, derivatives, result.theta, all_parameters);
        SmallMatrix part(3, 3);
        for (Index i = 0; i < 3; ++i)
            for (Index j = 0; j < 3; ++j)
                part(i, j) = F(static_cast<Index>(free[static_cast<std::size_t>(i)]),
                               static_cast<Index>(free[static_cast<std::size_t>(j)]));
        const SmallMatrix C = small_inverse(small_cholesky(part, 0).value());
        for (Index i = 0; i < 3; ++i) {
            const Parameter p = free[static_cast<std::size_t>(i)];
            const double estimate = value_of(result.theta, p);
            const double error = std::sqrt(C(i, i));
            const ParameterUncertainty& got = of(found, p);
            EXPECT_NEAR(got.standard_error / error, 1, 1e-4) << name;
            EXPECT_NEAR(got.log_standard_error, got.standard_error / estimate, 1e-12);
            EXPECT_NEAR(*got.natural.upper - estimate, 1.2815515655446004 * got.standard_error, 1e-9 * estimate);
            EXPECT_NEAR(std::log(*got.logarithmic.upper / estimate), 1.2815515655446004 * got.log_standard_error, 1e-9);
            EXPECT_NEAR(estimate / *got.logarithmic.lower, *got.logarithmic.upper / estimate, 1e-9);
        }
        EXPECT_NEAR(found.correlation(0, 1), C(0, 1) / std::sqrt(C(0, 0) * C(1, 1)), 1e-3);
    }
}

TEST(Uncertainty, HasNoneForAParameterAtItsBound) {
    InlineEngine engine;
    Stream s(engine);
    Model model;
    model.choice(Parameter::smoothness).fixed = 0.5;
    model.choice(Parameter::range).upper = 400;
    Likelihood likelihood(s, meuse(), model, {.tile = 50});
    const FitResult result = fit(likelihood);
    const Uncertainty found = uncertainty(likelihood, result);
    EXPECT_FALSE(found.parameters[static_cast<std::size_t>(Parameter::range)].has_value());
    EXPECT_GT(of(found, Parameter::nugget).standard_error, 0);
    const ProfileInterval profile = profile_interval(likelihood, result, Parameter::range);
    EXPECT_FALSE(profile.interval.upper.has_value());
    EXPECT_LT(profile.interval.lower.value(), 400);
}

TEST(Profile, EndsWhereARefitHasFallenByHalfOfZSquared) {
    InlineEngine engine;
    Stream s(engine);
    Model model{.trend = Trend::linear};
    model.choice(Parameter::smoothness).fixed = 1;
    Likelihood likelihood(s, meuse(), model, {.tile = 80});
    const FitResult result = fit(likelihood);
    for (const Parameter p : {Parameter::sigma2, Parameter::range, Parameter::nugget}) {
        const ProfileInterval found = profile_interval(likelihood, result, p);
        for (const auto& end : {found.interval.lower, found.interval.upper}) {
            ASSERT_TRUE(end.has_value()) << name(p);
            Model fixed = model;
            fixed.choice(p).fixed = *end;
            Likelihood again(s, meuse(), fixed, {.tile = 80});
            EXPECT_NEAR(std::sqrt(2 * (result.log_likelihood - fit(again).log_likelihood)), 1.959964, 0.01) << name(p);
        }
    }
}

TEST(Profile, EndsAtTheBoundsWhereTheDataSayNothing) {
    InlineEngine engine;
    Stream s(engine);
    Observations few = meuse();
    for (auto& column : few.coordinates) column.resize(6);
    few.values.resize(6);
    few.lines.resize(6);
    Likelihood likelihood(s, few, {.family = CovarianceFamily::exponential}, {.tile = 6});
    const FitResult result = fit(likelihood);
    for (const Parameter p : {Parameter::range, Parameter::nugget}) {
        const ProfileInterval found = profile_interval(likelihood, result, p);
        EXPECT_LT(found.evaluations, 3000) << name(p);
        EXPECT_FALSE(found.interval.lower.has_value() && found.interval.upper.has_value()) << name(p);
    }
}

TEST(Profile, OfAFixedParameterIsRefused) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, meuse(), with_known_correlations(Estimation::ml), {.tile = 50});
    const FitResult result = fit(likelihood);
    EXPECT_THROW((void)profile_interval(likelihood, result, Parameter::range), Error);
    EXPECT_THROW((void)profile_interval(likelihood, result, Parameter::smoothness), Error);
}

/// nlme 3.1-162: gls(log_zinc ~ x + y, correlation = corExp(c(500, 0.1), form = ~ x + y, nugget = TRUE, fixed = TRUE),
/// method = "REML").
TEST(RestrictedLikelihood, EqualsThatOfNlme) {
    constexpr double sigma = 0.69515897737814;
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(
        s, meuse(), {.family = CovarianceFamily::exponential, .trend = Trend::linear, .estimation = Estimation::reml},
        {.tile = 50});
    const LikelihoodValue value =
        likelihood.evaluate({.sigma2 = 0.9 * sigma * sigma, .range = 500, .nugget = 0.1 * sigma * sigma});
    EXPECT_NEAR(value.log_likelihood, -112.65982591764, 1e-8);
    EXPECT_NEAR(value.fit.quadratic, 152, 1e-8);
    EXPECT_NEAR(value.trend.coefficients[1], -0.00102350414174936, 1e-11);
    EXPECT_NEAR(value.trend.standard_errors[2], 2.22990962932e-4, 1e-12);
}

}  // namespace
}  // namespace tesela::geo::uncertainty_test
