#include "tesela/geo/degrees.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::geo::degrees_test {
namespace {

using ::testing::HasSubstr;
using Columns = std::vector<std::vector<double>>;
using Texts = std::vector<std::string>;
const std::vector<Index> lines{2, 3, 5};

std::string complaint(const Columns& columns, const Texts& names, Metric metric = Metric::chordal) {
    return message_of<Error>([&] { require_degrees(metric, {columns, names, lines, "d.csv"}); });
}

TEST(Degrees, LatitudesAndLongitudesOutOfRangeAreNamedWithTheirPlace) {
    EXPECT_EQ(complaint({{5, 6, 7}, {51, 52, 91}}, {"x", "y"}),
              "'d.csv', line 5, column 'y': 91 is not a latitude, which is in [-90, 90]; longitude comes first: "
              "--coords y,x");
    EXPECT_EQ(complaint({{5, 6, 361}, {51, 52, 90}}, {"x", "y"}, Metric::great_circle),
              "'d.csv', line 5, column 'x': 361 is not a longitude, which is in [-180, 360]; longitude comes first, as "
              "in --coords lon,lat");
}

TEST(Degrees, InTheWrongOrderAreRefusedAlsoWhereOnlyTheNamesShowIt) {
    EXPECT_THAT(complaint({{-20, -21, -22}, {146, 145, 147}}, {"lat", "lon"}),
                HasSubstr("line 2, column 'lon': 146 is not a latitude"));
    EXPECT_EQ(
        complaint({{51, 52, 53}, {5, 6, 7}}, {"Latitude", "Longitude"}),
        "the coordinates 'Latitude' and 'Longitude' are in the wrong order for chordal distances; longitude comes "
        "first: --coords Longitude,Latitude");
    const Columns right{{5, 6, 7}, {51, 52, 53}};
    EXPECT_NO_THROW(require_degrees(Metric::chordal, {right, {"lon", "lat"}, lines, "d.csv"}));
    const Columns metres{{181072, 181025, 181165}, {333611, 333558, 333537}};
    EXPECT_NO_THROW(require_degrees(Metric::euclidean, {metres, {"x", "y"}, lines, "d.csv"}));
}

TEST(Degrees, WithEuclideanDistancesAreProbablyNotMeant) {
    const Columns degrees{{5, 6, 7}, {51, 52, 53}};
    const Texts names{"lon", "lat"};
    EXPECT_THAT(explain_euclidean_degrees(Metric::euclidean, {degrees, names, lines, "d.csv"}),
                HasSubstr("--metric chordal --coords lon,lat"));
    const Texts exchanged{"Lat", "Long"};
    EXPECT_THAT(explain_euclidean_degrees(Metric::euclidean, {degrees, exchanged, lines, "d.csv"}),
                HasSubstr("--metric chordal --coords Long,Lat"));
    EXPECT_EQ(explain_euclidean_degrees(Metric::chordal, {degrees, names, lines, "d.csv"}), "");
    const Texts others{"x", "y"};
    EXPECT_EQ(explain_euclidean_degrees(Metric::euclidean, {degrees, others, lines, "d.csv"}), "");
    const Columns metres{{181072, 181025, 181165}, {333611, 333558, 333537}};
    EXPECT_EQ(explain_euclidean_degrees(Metric::euclidean, {metres, names, lines, "d.csv"}), "");
}

}  // namespace
}  // namespace tesela::geo::degrees_test
