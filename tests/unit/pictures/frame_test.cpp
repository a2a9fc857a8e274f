#include "tesela/pictures/frame.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tesela::frame_test {
namespace {

/// A label as a number: its minus sign is the typographic one, U+2212.
double value_of(const std::string& label) {
    std::string plain;
    for (std::size_t i = 0; i < label.size(); ++i) {
        const bool minus = label.compare(i, 3, "\u2212") == 0;
        plain.push_back(minus ? '-' : label[i]);
        i += minus ? 2U : 0U;
    }
    return std::stod(plain);
}

TEST(NiceTicks, AreWhatAPersonWouldChoose) {
    EXPECT_EQ(nice_ticks(0, 1, 6).labels, (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
    EXPECT_EQ(nice_ticks(178460, 181540, 4).labels, (std::vector<std::string>{"179000", "180000", "181000"}));
    EXPECT_EQ(nice_ticks(-1, 1, 5).labels, (std::vector<std::string>{"\u22121.0", "\u22120.5", "0.0", "0.5", "1.0"}));
    EXPECT_EQ(nice_ticks(0, 3e-7, 4).labels, (std::vector<std::string>{"0", "1e\u22127", "2e\u22127", "3e\u22127"}));
    EXPECT_EQ(nice_ticks(1e9, 1.1e9, 3).labels, (std::vector<std::string>{"1.00e9", "1.05e9", "1.10e9"}));
    EXPECT_EQ(nice_ticks(0.3, 0.9, 3).at, (std::vector<double>{0.4, 0.6, 0.8}));
}

/// The next finer step of the series 1, 2, 5, 10, …
double finer(double step) {
    const double power = std::pow(10.0, std::floor(std::log10(step) + 1e-6));
    const double mantissa = std::round(step / power);
    return mantissa == 5 ? 2 * power : mantissa == 2 ? power : power / 2;
}

double count_of_multiples(double low, double high, double step) {
    return std::floor(high / step + 1e-9) - std::ceil(low / step - 1e-9) + 1;
}

RC_GTEST_PROP(NiceTicks, AreTheFinestOneTwoFiveMultiplesThatFit, ()) {
    const auto middle = *rc::gen::inRange(-100000, 100000);
    const auto width = *rc::gen::inRange(1, 100000);
    const auto exponent = *rc::gen::inRange(-9, 9);
    const auto most = *rc::gen::inRange(3, 12);
    const double scale = std::pow(10.0, exponent);
    const double low = (middle - width) * scale;
    const double high = (middle + width) * scale;
    const Ticks ticks = nice_ticks(low, high, most);
    RC_ASSERT(ticks.at.size() <= static_cast<std::size_t>(most));
    RC_ASSERT(ticks.at.size() == ticks.labels.size());
    for (std::size_t k = 0; k < ticks.at.size(); ++k) {
        RC_ASSERT(low <= ticks.at[k] && ticks.at[k] <= high);
        RC_ASSERT(std::abs(value_of(ticks.labels[k]) - ticks.at[k]) <= 1e-9 * (high - low) + 1e-15 * std::abs(low));
    }
    if (ticks.at.size() < 2) return;
    const double step = ticks.at[1] - ticks.at[0];
    const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-6));
    RC_ASSERT(std::abs(mantissa - std::round(mantissa)) < 1e-5);
    RC_ASSERT(std::round(mantissa) == 1 || std::round(mantissa) == 2 || std::round(mantissa) == 5);
    RC_ASSERT(count_of_multiples(low, high, finer(step)) > most);
}

RC_GTEST_PROP(TicksAlong, LeaveRoomBetweenLabels, ()) {
    const auto low = *rc::gen::inRange(-1000000, 1000000);
    const auto width = *rc::gen::inRange(1, 1000000);
    const auto pixels = *rc::gen::inRange(200, 600);
    const Ticks ticks = ticks_along(low, low + width, pixels);
    for (std::size_t k = 1; k < ticks.at.size(); ++k) {
        const double gap = (ticks.at[k] - ticks.at[k - 1]) / width * pixels;
        RC_ASSERT(gap > (text_width(ticks.labels[k], 10) + text_width(ticks.labels[k - 1], 10)) / 2);
    }
}

TEST(Scale, MapsEndsToEnds) {
    const Scale scale{.low = 10, .high = 20, .first = 100, .last = 0};
    EXPECT_EQ(scale(10), 100);
    EXPECT_EQ(scale(20), 0);
    EXPECT_EQ(scale(15), 50);
}

TEST(Frame, PutsContentBetweenTheGridAndTheOutline) {
    const Frame frame{.area = {10, 20, 100, 50},
                      .x = {0, 10},
                      .y = {0, 5},
                      .title = "A & B",
                      .x_label = "across",
                      .y_label = "upward",
                      .grid = GridLines::through_zero};
    EXPECT_EQ(frame.at(0, 0).x, 10);
    EXPECT_EQ(frame.at(0, 0).y, 70);
    Svg svg("");
    draw_frame(svg, frame, [&] { svg.circle(frame.at(5, 2.5), 2, filled("#abc")); });
    const std::string out = std::move(svg).finish();
    const std::size_t grid = out.find("M10 70L110 70"), content = out.find("cx=\"60\" cy=\"45\"");
    const std::size_t outline = out.find("<rect x=\"10\" y=\"20\" width=\"100\" height=\"50\"");
    EXPECT_LT(grid, content);
    EXPECT_LT(content, outline);
    EXPECT_LT(outline, out.size());
    for (const char* text : {">A &amp; B<", ">across<", ">upward<", ">0<", ">10<"})
        EXPECT_NE(out.find(text), std::string::npos) << text;
}

TEST(Frame, TicksWithoutLabelsAreMarksAlone) {
    Frame frame{.area = {0, 0, 100, 100}, .x = {0, 1}, .y = {0, 1}};
    const double numbered = left_room(frame);
    frame.y_ticks = Ticks{.at = {0, 1}, .labels = {}};
    EXPECT_LT(left_room(frame), numbered);
    frame.x_ticks = Ticks{};
    Svg svg("");
    draw_frame(svg, frame);
    const std::string out = std::move(svg).finish();
    EXPECT_NE(out.find("M0 100h-4M0 0h-4"), std::string::npos);
    EXPECT_EQ(out.find("<text"), std::string::npos);
}

TEST(Legend, TakesAsMuchRoomInARowAsItSays) {
    Svg svg("");
    const std::vector<LegendEntry> entries{{"one", [&](SvgPoint at) { draw_mark(svg, at, series_mark(0)); }},
                                           {"another", [&](SvgPoint at) { draw_mark(svg, at, series_mark(1)); }}};
    draw_legend(svg, {0, 0}, entries, LegendLayout::row);
    EXPECT_NEAR(svg.right(), legend_width(entries), 1e-9);
    EXPECT_EQ(legend_width({}), 0);
}

TEST(Marks, OfSeriesDifferInShapeAndColour) {
    for (std::size_t k = 1; k < 4; ++k) {
        EXPECT_NE(series_mark(k).shape, series_mark(k - 1).shape);
        EXPECT_NE(series_mark(k).attributes, series_mark(k - 1).attributes);
    }
}

}  // namespace
}  // namespace tesela::frame_test
