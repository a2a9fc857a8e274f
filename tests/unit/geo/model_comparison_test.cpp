#include "tesela/geo/model_comparison.hpp"

#include "tesela/base/error.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tesela::geo::model_comparison_test {
namespace {

using ::testing::HasSubstr;

FittedModel fitted(CovarianceFamily family, double log_likelihood, std::size_t coefficients) {
    FittedModel result;
    result.model.family = family;
    result.observations = tesela::testing::meuse();
    result.result.log_likelihood = log_likelihood;
    result.result.trend.coefficients.assign(coefficients, 1.0);
    return result;
}

TEST(InformationCriteria, CountWhatWasEstimated) {
    Model model{.family = CovarianceFamily::matern};
    EXPECT_EQ(estimated_parameters(model, 1), 5);
    model.choice(Parameter::smoothness).fixed = 0.5;
    EXPECT_EQ(estimated_parameters(model, 3), 6);
    model.family = CovarianceFamily::exponential;  // it has no smoothness
    EXPECT_EQ(estimated_parameters(model, 0), 3);
    for (const Parameter p : all_parameters) model.choice(p).fixed = 1;
    EXPECT_EQ(estimated_parameters(model, 0), 0);
}

TEST(InformationCriteria, AreTwiceThePenaltyLessTwiceTheLogLikelihood) {
    const InformationCriteria c = information_criteria({}, -97.30535192, 1, 155);
    EXPECT_NEAR(c.aic, 204.61070384, 1e-10);
    EXPECT_NEAR(c.bic, 5 * 5.0434251169192470 + 194.61070384, 1e-10);
}

/// nlme 3.1-162: AIC() and BIC() of a gls fit of log_zinc ~ x + y with corExp and a nugget, method = "REML".
TEST(InformationCriteria, OfRestrictedLikelihoodsCountLessObservationsAsInNlme) {
    const Model model{.family = CovarianceFamily::exponential, .trend = Trend::linear, .estimation = Estimation::reml};
    const InformationCriteria c = information_criteria(model, -108.770716092678, 3, 155);
    EXPECT_NEAR(c.aic, 229.54143218536, 1e-10);
    EXPECT_NEAR(c.bic, 247.68471531043, 1e-10);
}

TEST(ModelComparison, WeightsAreRelativeLikelihoods) {
    const std::vector<FittedModel> models{fitted(CovarianceFamily::matern, -97, 1),
                                          fitted(CovarianceFamily::exponential, -99, 1),
                                          fitted(CovarianceFamily::exponential, -98.5, 3)};
    const auto got = compare(models, {"a", "b", "c"});
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].criteria.aic, 204);
    EXPECT_EQ(got[1].criteria.aic, 206);
    EXPECT_EQ(got[2].criteria.aic, 209);
    EXPECT_EQ(got[0].difference.aic, 0);
    EXPECT_EQ(got[2].difference.aic, 5);
    const double sum = 1 + std::exp(-1.0) + std::exp(-2.5);
    EXPECT_NEAR(got[1].weight, std::exp(-1.0) / sum, 1e-15);
    EXPECT_NEAR(got[0].weight + got[1].weight + got[2].weight, 1, 1e-15);
    EXPECT_EQ(std::min({got[0].difference.bic, got[1].difference.bic, got[2].difference.bic}), 0);
    EXPECT_THROW((void)compare({models[0]}, {"a"}), Error);
}

std::string refusal(const FittedModel& a, const FittedModel& b) {
    try {
        (void)compare({a, b}, {"a.json", "b.json"});
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(ModelComparison, IsOfModelsOfTheSameValuesInWhateverOrder) {
    const FittedModel a = fitted(CovarianceFamily::matern, -97, 1);
    FittedModel reversed = a;
    for (auto& column : reversed.observations.coordinates) std::ranges::reverse(column);
    std::ranges::reverse(reversed.observations.values);
    EXPECT_EQ(refusal(a, reversed), "");
    FittedModel transformed = a;
    for (double& z : transformed.observations.values) z = std::exp(z);
    transformed.observations.value_name = "zinc";
    EXPECT_THAT(refusal(a, transformed), HasSubstr("a.json and b.json are of different values at the same places"));
    FittedModel fewer = a;
    fewer.observations.values.pop_back();
    for (auto& column : fewer.observations.coordinates) column.pop_back();
    EXPECT_THAT(refusal(a, fewer), HasSubstr("different data (155 observations of log_zinc; 154 observations"));
}

TEST(ModelComparison, DoubtsFitsThatEndedEarlyAndMeansThatAreNotCounted) {
    FittedModel model = fitted(CovarianceFamily::matern, -97, 1);
    EXPECT_TRUE(doubts(model, "a").empty());
    model.result.stop_reason = StopReason::max_evaluations;
    model.model.trend = Trend::none;
    model.model.center = 5.9;
    EXPECT_EQ(doubts(model, "a").size(), 2U);
}

}  // namespace
}  // namespace tesela::geo::model_comparison_test
