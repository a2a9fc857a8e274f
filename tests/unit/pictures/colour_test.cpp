#include "tesela/pictures/colour.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

namespace tesela::colour_test {
namespace {

struct Published {
    ColourMap map;
    int index;  ///< of 0…255
    std::array<double, 3> colour;
};

/// Entries of the published tables between those that the code holds.
constexpr std::array published{
    Published{ColourMap::viridis, 32, {0.278826, 0.175490, 0.483397}},
    Published{ColourMap::viridis, 64, {0.229739, 0.322361, 0.545706}},
    Published{ColourMap::viridis, 128, {0.127568, 0.566949, 0.550556}},
    Published{ColourMap::viridis, 192, {0.369214, 0.788888, 0.382914}},
    Published{ColourMap::viridis, 224, {0.678489, 0.863742, 0.189503}},
    Published{ColourMap::magma, 32, {0.113094, 0.065492, 0.276784}},
    Published{ColourMap::magma, 64, {0.316654, 0.071690, 0.485380}},
    Published{ColourMap::magma, 128, {0.716387, 0.214982, 0.475290}},
    Published{ColourMap::magma, 192, {0.986700, 0.535582, 0.382210}},
};

/// CIE L* of an sRGB colour.
double lightness(Rgb colour) {
    const auto linear = [](std::uint8_t byte) {
        const double c = byte / 255.0;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double y = 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
    return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : y * 24389 / 27;
}

TEST(ColourMap, AgreesWithThePublishedTables) {
    for (const Published& entry : published) {
        const Rgb colour = colour_at(entry.map, entry.index / 255.0);
        EXPECT_NEAR(colour.red, 255 * entry.colour[0], 2) << name(entry.map) << entry.index;
        EXPECT_NEAR(colour.green, 255 * entry.colour[1], 2) << name(entry.map) << entry.index;
        EXPECT_NEAR(colour.blue, 255 * entry.colour[2], 2) << name(entry.map) << entry.index;
    }
}

TEST(ColourMap, EndsWhereItShouldAndClamps) {
    EXPECT_EQ(hex(colour_at(ColourMap::viridis, 0)), "#440154");
    EXPECT_EQ(hex(colour_at(ColourMap::viridis, 1)), "#fde725");
    EXPECT_EQ(colour_at(ColourMap::magma, -3), colour_at(ColourMap::magma, 0));
    EXPECT_EQ(colour_at(ColourMap::magma, 1e300), colour_at(ColourMap::magma, 1));
}

/// So that a map read in greyscale keeps its order.
TEST(ColourMap, GetsLighterAllTheWay) {
    for (const ColourMap map : {ColourMap::viridis, ColourMap::magma, ColourMap::greys})
        for (int k = 0; k < 64; ++k)
            EXPECT_LT(lightness(colour_at(map, k / 64.0)), lightness(colour_at(map, (k + 1) / 64.0)))
                << name(map) << " " << k;
}

TEST(ColourMap, OfTwoEndsIsLightestInItsMiddle) {
    for (int k = 0; k < 32; ++k)
        for (const int sign : {-1, 1})
            EXPECT_LT(lightness(colour_at(ColourMap::blue_red, 0.5 + sign * (k + 1) / 64.0)),
                      lightness(colour_at(ColourMap::blue_red, 0.5 + sign * k / 64.0)))
                << k;
    const Rgb low = colour_at(ColourMap::blue_red, 0);
    const Rgb high = colour_at(ColourMap::blue_red, 1);
    EXPECT_GT(low.blue, low.red);
    EXPECT_GT(high.red, high.blue);
}

TEST(CategoricalColours, AreOkabeAndItosFirstAndAllDifferent) {
    std::set<std::string> first;
    for (Index k = 0; k < 9; ++k) first.insert(hex(categorical_colour(k)));
    EXPECT_EQ(first, (std::set<std::string>{"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00",
                                            "#cc79a7", "#999999"}));
    // Darkened black is black: 26 of the 27 differ.
    std::set<std::string> all;
    for (Index k = 0; k < 27; ++k) all.insert(hex(categorical_colour(k)));
    EXPECT_EQ(all.size(), 26U);
    EXPECT_EQ(categorical_colour(27), categorical_colour(0));
}

}  // namespace
}  // namespace tesela::colour_test
