#include "tesela/apps/geo/prediction_map.hpp"

#include "tesela/base/error.hpp"
#include "unit/apps/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::geo {
namespace {

using ::testing::HasSubstr;

TEST(PredictionMap, ShowsMeanDeviationAndObservationsWithTheirNames) {
    const auto points = tesela::testing::meuse_grid(50);
    const Predictions flat{.mean = std::vector<double>(50, 6.0), .variance = std::vector<double>(50, 0.25)};
    const std::string svg = draw_predictions(tesela::testing::meuse(), Metric::euclidean, points, flat);
    EXPECT_THAT(svg, HasSubstr("log_zinc by kriging"));
    EXPECT_THAT(svg, HasSubstr("Standard deviation"));
    EXPECT_THAT(svg, HasSubstr("155 observations"));
    EXPECT_THROW((void)draw_predictions(tesela::testing::meuse(), Metric::euclidean, {points[0]}, flat), Error);
}

}  // namespace
}  // namespace tesela::geo
