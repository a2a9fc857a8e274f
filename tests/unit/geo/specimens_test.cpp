#include "tesela/geo/specimens.hpp"

#include "tesela/calibration/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::geo::specimens_test {
namespace {

TEST(GeoSpecimens, CanBeTimedAtAnyTileSize) {
    for (const auto& sample : calibration::time_kernels(
             {.specimens = specimens(), .tiles = {1, 33}, .seconds = 0.002, .walked_bytes = 1 << 20}))
        EXPECT_GT(sample.busy.mean, 0) << sample.kernel;
}

TEST(GeoSpecimens, AreOfGenerationAndOfSumsOfSquares) {
    EXPECT_THAT(kernel_names(specimens()), ::testing::UnorderedElementsAre("dcmg", "dcolsq"));
}

}  // namespace
}  // namespace tesela::geo::specimens_test
