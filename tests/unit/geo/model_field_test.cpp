#include "tesela/geo/model_field.hpp"

#include "tesela/base/error.hpp"
#include "unit/geo/meuse.hpp"

#include <gtest/gtest.h>

namespace tesela::geo::model_field_test {
namespace {

using Columns = std::vector<std::vector<double>>;

FittedModel linear_model() {
    FittedModel fitted;
    fitted.model = {.family = CovarianceFamily::exponential, .trend = Trend::linear, .jitter = 1e-6};
    fitted.observations = tesela::testing::meuse();
    fitted.result.theta = {.sigma2 = 2, .range = 30, .nugget = 0.5};
    fitted.result.trend = {
        .names = {"intercept", "x", "y"}, .coefficients = {7, 0.5, -2}, .standard_errors = {1, 1, 1}};
    return fitted;
}

TEST(ModelField, HasTheModelsCovarianceAndItsTrendApart) {
    const FittedModel fitted = linear_model();
    const Field field = field_of(fitted);
    EXPECT_EQ(field.family, CovarianceFamily::exponential);
    EXPECT_EQ(field.theta, fitted.result.theta);
    EXPECT_EQ(field.jitter, 1e-6);
    EXPECT_EQ(field.mean, 0);
    const auto mean = mean_at(fitted, Columns{{0, 10}, {1, 2}});
    EXPECT_DOUBLE_EQ(mean[0], 7 - 2);
    EXPECT_DOUBLE_EQ(mean[1], 7 + 5 - 4);
}

TEST(ModelField, AMeanThatWasSubtractedIsAddedAgain) {
    FittedModel fitted = linear_model();
    fitted.model.trend = Trend::none;
    fitted.model.center = 5.9;
    fitted.result.trend = {};
    EXPECT_EQ(mean_at(fitted, Columns{{0, 1}, {0, 1}}), (std::vector<double>{5.9, 5.9}));
}

TEST(ModelField, ATermThatIsNoCoordinateIsRefused) {
    FittedModel fitted = linear_model();
    fitted.result.trend.names.back() = "elevation";
    EXPECT_THROW((void)mean_at(fitted, Columns{{0, 1}, {0, 1}}), Error);
}

}  // namespace
}  // namespace tesela::geo::model_field_test
