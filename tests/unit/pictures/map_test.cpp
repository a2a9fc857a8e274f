#include "tesela/pictures/map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/svg.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela::map_test {
namespace {

using Cell = std::pair<int, int>;  // column, row from the top
using Attributes = std::map<std::string, std::string>;

struct Element {
    std::string tag;
    Attributes attributes;
    std::vector<Attributes> groups;  ///< attributes of the elements that it is in, outermost first
    std::string text;
};

/// Just enough of an XML reader for what is under test; throws unless the text is well formed.
class XmlReader {
public:
    explicit XmlReader(const std::string& text) : rest_(text) {}

    std::vector<Element> read() && {
        while (!rest_.empty()) {
            expect("<");
            const bool closes = accept("/");
            closes ? close(until(">")) : open();
            const std::string text = std::string(rest_.substr(0, rest_.find('<')));
            if (text.find('>') != std::string::npos) throw std::runtime_error("a bare >");
            rest_.remove_prefix(text.size());
            if (!closes) elements_.back().text = text;
        }
        if (!open_.empty()) throw std::runtime_error("<" + open_.back().tag + "> is not closed");
        return std::move(elements_);
    }

private:
    bool accept(std::string_view token) {
        if (rest_.substr(0, token.size()) != token) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!accept(token)) throw std::runtime_error("expected " + std::string(token) + " at " + std::string(rest_));
    }
    std::string until(std::string_view token) {
        std::string text(rest_.substr(0, rest_.find(token)));
        rest_.remove_prefix(text.size());
        expect(token);
        return text;
    }
    void close(const std::string& tag) {
        if (open_.empty() || open_.back().tag != tag) throw std::runtime_error("</" + tag + "> closes nothing");
        open_.pop_back();
    }
    void open() {
        Element element;
        while (!rest_.empty() && std::isalpha(static_cast<unsigned char>(rest_.front())) != 0) {
            element.tag += rest_.front();
            rest_.remove_prefix(1);
        }
        for (const Element& parent : open_) element.groups.push_back(parent.attributes);
        while (accept(" ")) {
            const std::string key = until("=\"");
            const std::string value = until("\"");
            const bool valid = value.find('<') == std::string::npos && element.attributes.emplace(key, value).second;
            if (!valid) throw std::runtime_error("bad attribute " + key);
        }
        if (!accept("/>")) {
            expect(">");
            open_.push_back(element);
        }
        elements_.push_back(std::move(element));
    }

    std::string_view rest_;
    std::vector<Element> open_;
    std::vector<Element> elements_;
};

std::vector<Element> elements(const std::string& svg) { return XmlReader(svg).read(); }

bool is_in(const Element& element, const std::string& group) {
    for (const Attributes& attributes : element.groups)
        if (const auto found = attributes.find("class"); found != attributes.end() && found->second == group)
            return true;
    return false;
}

/// Cells that the strokes of a path cover; fails if one is covered twice.
std::vector<Cell> cells_of(const std::string& data) {
    std::vector<Cell> cells;
    int x = 0;
    int y = 0;
    int dx = 0;
    int dy = 0;
    int length = 0;
    int used = 0;
    const char* at = data.c_str();
    for (; std::sscanf(at, "m%d %dh%d%n", &dx, &dy, &length, &used) == 3; at += used) {
        x += dx;
        y += dy;
        for (int k = 0; k < length; ++k) cells.emplace_back(x + k, y);
        x += length;
    }
    EXPECT_EQ(*at, '\0') << at;
    return cells;
}

/// What a panel shows: the colour of each cell, and the union that lies below.
struct Decoded {
    std::map<Cell, std::string> colours;
    std::map<Cell, int> below;
    bool once = true;
};

Decoded decode(const std::string& svg) {
    Decoded decoded;
    bool first = true;
    for (const Element& element : elements(svg)) {
        if (element.tag != "path" || !is_in(element, "cells")) continue;
        for (const Cell& cell : cells_of(element.attributes.at("d"))) {
            if (first) {
                decoded.once = decoded.once && ++decoded.below[cell] == 1;
            } else {
                decoded.once = decoded.once && decoded.colours.emplace(cell, element.attributes.at("stroke")).second;
            }
        }
        first = false;
    }
    return decoded;
}

std::array<int, 3> channels(const std::string& colour) {
    const int value = std::stoi(colour.substr(1), nullptr, 16);
    return {value / 65536, value / 256 % 256, value % 256};
}

/// How far two colours are apart in their worst channel.
int difference(const std::string& a, const std::string& b) {
    int worst = 0;
    for (std::size_t k = 0; k < 3; ++k) worst = std::max(worst, std::abs(channels(a)[k] - channels(b)[k]));
    return worst;
}

/// translate(left top) scale(width height) of the first group of cells.
struct Placement {
    double left = 0;
    double top = 0;
    double width = 0;
    double height = 0;
};

Placement placement(const std::string& svg) {
    Placement place;
    for (const Element& element : elements(svg)) {
        if (element.tag != "g" || !element.attributes.contains("transform")) continue;
        const std::string& transform = element.attributes.at("transform");
        EXPECT_EQ(std::sscanf(transform.c_str(), "translate(%lf %lf) scale(%lf %lf)", &place.left, &place.top,
                              &place.width, &place.height),
                  4)
            << transform;
        return place;
    }
    ADD_FAILURE() << "no cells";
    return place;
}

MapRequest two_by_two() {
    return {.title = "A title",
            .x_label = "x (m)",
            .y_label = "y (m)",
            .x = {0, 10, 0, 10},
            .y = {0, 0, 10, 10},
            .panels = {{.title = "mean", .bar_label = "z", .values = {1, 2, 3, 4}}}};
}

std::string error_of(const MapRequest& request) {
    try {
        (void)draw_map(request);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

// --- grids -----------------------------------------------------------------------------------------------------------

RC_GTEST_PROP(FindGrid, FindsTheCellsOfAnyGridWithHoles, ()) {
    const auto columns = *rc::gen::inRange(2, 15);
    const auto rows = *rc::gen::inRange(2, 15);
    const double dx = *rc::gen::element(40.0, 0.1, 1.0 / 3, 1e-6, 1e5);
    const double dy = dx * *rc::gen::element(1.0, 0.5, 3.0);
    const double x0 = *rc::gen::element(0.0, 178460.0, -7.3) * dx;
    const auto holes = *rc::gen::container<std::vector<bool>>(static_cast<std::size_t>(columns * rows),
                                                              rc::gen::weightedElement<bool>({{1, true}, {4, false}}));
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const bool edge = i == 0 || j == 0 || i == rows - 1 || j == columns - 1;  // keeps the extent
            if (!edge && holes[static_cast<std::size_t>(i * columns + j)]) continue;
            x.push_back(x0 + j * dx);
            y.push_back(-5 + i * dy);
        }
    const std::optional<RegularGrid> grid = find_grid(x, y);
    RC_ASSERT(grid.has_value());
    RC_ASSERT(grid->columns == columns);
    RC_ASSERT(grid->rows == rows);
    RC_ASSERT(std::abs(grid->dx - dx) < 1e-6 * dx);
    RC_ASSERT(std::abs(grid->dy - dy) < 1e-6 * dy);
    RC_ASSERT(grid->x0 == x.front());
}

TEST(FindGrid, ForgivesRoundedCoordinates) {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < 1000; ++i) {
        x.push_back(std::round(i / 3.0 * 1000) / 1000);  // steps of 0.333 and 0.334
        y.push_back(7);
    }
    const std::optional<RegularGrid> grid = find_grid(x, y);
    ASSERT_TRUE(grid.has_value());
    EXPECT_EQ(grid->columns, 1000);
    EXPECT_NEAR(grid->dx, 1.0 / 3, 1e-6);
    EXPECT_EQ(grid->rows, 1);
    EXPECT_EQ(grid->dy, grid->dx);
}

TEST(FindGrid, DoesNotTakeScatteredPointsForOne) {
    std::vector<double> x;
    std::vector<double> y;
    for (int k = 0; k < 155; ++k) {  // whole metres, as in a survey
        x.push_back(178000 + (k * 7919) % 2785);
        y.push_back(329000 + (k * 104729) % 3897);
    }
    EXPECT_FALSE(find_grid(x, y).has_value());
    EXPECT_FALSE(find_grid(std::vector<double>{1}, std::vector<double>{1}).has_value());
    EXPECT_FALSE(find_grid(std::vector<double>{1, 1}, std::vector<double>{2, 2}).has_value());
    // Pairs of neighbours far apart would make a grid of a billion empty cells.
    EXPECT_FALSE(find_grid(std::vector<double>{0, 1, 100000, 100001}, std::vector<double>{0, 0, 90000, 90000}));
}

// --- pictures --------------------------------------------------------------------------------------------------------

RC_GTEST_PROP(DrawMap, PaintsEveryCellOnceInItsColour, ()) {
    const auto columns = *rc::gen::inRange(2, 12);
    const auto rows = *rc::gen::inRange(2, 12);
    const auto codes =
        *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(columns * rows), rc::gen::inRange(-3, 20));
    MapRequest request{.panels = {{}}};
    std::map<Cell, double> expected;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const int code = codes[static_cast<std::size_t>(i * columns + j)];
            request.x.push_back(2 * j);
            request.y.push_back(3 * i);
            request.panels[0].values.push_back(code < 0 ? std::nan("") : code);
            if (code >= 0) expected[{j, rows - 1 - i}] = code;
        }
    RC_PRE(!expected.empty());
    request.panels[0].range = ValueRange{0, 20};
    const Decoded decoded = decode(draw_map(request));
    RC_ASSERT(decoded.once);
    RC_ASSERT(decoded.colours.size() == expected.size());
    RC_ASSERT(decoded.below.size() == expected.size());
    for (const auto& [cell, value] : expected) {
        RC_ASSERT(decoded.below.contains(cell));
        RC_ASSERT(difference(decoded.colours.at(cell), hex(colour_at(ColourMap::viridis, value / 20))) <= 4);
    }
}

TEST(DrawMap, PutsCellsWhereTheAxesSay) {
    const std::string svg = draw_map(two_by_two());
    const auto [left, top, cell, height] = placement(svg);
    EXPECT_EQ(cell, height);  // equal aspect
    // The labels "0" and "10" of the x axis stand below the middles of the columns, those of y beside the rows.
    std::map<std::string, std::vector<std::array<double, 2>>> labels;
    for (const Element& element : elements(svg))
        if (element.tag == "text")
            labels[element.text].push_back(
                {std::stod(element.attributes.at("x")), std::stod(element.attributes.at("y"))});
    ASSERT_EQ(labels["0"].size(), 2U);
    ASSERT_EQ(labels["10"].size(), 2U);
    EXPECT_NEAR(labels["0"][0][0], left + cell / 2, 0.02);
    EXPECT_NEAR(labels["10"][0][0], left + 1.5 * cell, 0.02);
    EXPECT_NEAR(labels["0"][1][1] - labels["10"][1][1], cell, 0.02);
    EXPECT_NEAR(labels["10"][1][1], top, 4);  // text stands on its base line
    const Decoded decoded = decode(svg);
    EXPECT_LE(difference(decoded.colours.at({0, 1}), hex(colour_at(ColourMap::viridis, 0))), 3);  // (0, 0): lower left
    EXPECT_LE(difference(decoded.colours.at({1, 0}), hex(colour_at(ColourMap::viridis, 1))), 3);  // (10, 10)
}

TEST(DrawMap, StretchesTheVerticalByTheAspect) {
    MapRequest request = two_by_two();
    request.aspect = 2;
    const Placement place = placement(draw_map(request));
    EXPECT_NEAR(place.height / place.width, 2, 1e-6);
}

TEST(DrawMap, ScatteredPointsAreSquaresAndObservationsRound) {
    MapRequest request{.x = {0, 1, 5.3, 2.2}, .y = {0, 3.1, 1.7, 8}, .panels = {{.values = {1, 2, std::nan(""), 4}}}};
    request.points_label = "4 predictions";
    request.observations = {.x = {3}, .y = {5}, .values = {2}, .label = "1 sample"};
    request.panels[0].marks = MapMarks::values;
    std::size_t squares = 0;
    std::size_t circles = 0;
    bool has_label = false;
    for (const Element& element : elements(draw_map(request))) {
        has_label = has_label || element.text.find("4 predictions") != std::string::npos;
        circles += element.tag == "circle" && is_in(element, "observations") ? 1U : 0U;
        if (element.tag != "path" || !is_in(element, "squares")) continue;
        const std::string& data = element.attributes.at("d");
        squares += static_cast<std::size_t>(std::count(data.begin(), data.end(), 'M'));
        EXPECT_FALSE(element.attributes.contains("stroke-linecap"));
        EXPECT_EQ(data.substr(data.find('h') + 1, data.find('M', 1) - data.find('h') - 1),
                  element.attributes.at("stroke-width"));
    }
    EXPECT_EQ(squares, 3U);
    EXPECT_EQ(circles, 1U);
    EXPECT_TRUE(has_label);
}

TEST(DrawMap, SaysWhatSquaresAreOnlyWhereThereAreSome) {
    MapRequest request = two_by_two();
    request.points_label = "4 predictions";
    EXPECT_EQ(draw_map(request).find("4 predictions"), std::string::npos);
}

/// Many observations are small, so that the map can be seen between them.
TEST(DrawMap, MarksShrinkWithTheirNumber) {
    for (const std::size_t count : {1U, 100U, 1000U, 20000U}) {
        MapRequest request = two_by_two();
        for (std::size_t k = 0; k < count; ++k) {
            request.observations.x.push_back(10 * std::fmod(0.7548776662 * static_cast<double>(k), 1));
            request.observations.y.push_back(10 * std::fmod(0.5698402910 * static_cast<double>(k), 1));
            request.observations.values.push_back(1);
        }
        request.panels[0].marks = MapMarks::values;
        double covered = 0;
        double area = 0;
        for (const Element& element : elements(draw_map(request))) {
            if (element.tag == "circle") {
                const double outline = std::stod(element.groups.back().at("stroke-width"));
                covered += std::acos(-1.0) * std::pow(std::stod(element.attributes.at("r")) + outline / 2, 2);
            } else if (element.tag == "rect" && element.attributes.at("fill") == "#f0f0f0") {
                area = std::stod(element.attributes.at("width")) * std::stod(element.attributes.at("height"));
            }
        }
        EXPECT_GT(area, 0);
        EXPECT_LT(covered / area, 0.12) << count;
    }
}

TEST(DrawMap, WritesLongitudesAcross180AsTheyAreCalled) {
    MapRequest request{
        .x = {170, 180, 190, 170, 180, 190}, .y = {0, 0, 0, 10, 10, 10}, .panels = {{.values = {1, 2, 3, 4, 5, 6}}}};
    const auto has = [&](const std::string& label) {
        const auto all = elements(draw_map(request));
        return std::any_of(all.begin(), all.end(), [&](const Element& e) { return e.text == label; });
    };
    EXPECT_TRUE(has("190"));
    request.x_axis = MapAxis::longitude;
    EXPECT_TRUE(has("170"));
    EXPECT_TRUE(has("180"));
    EXPECT_TRUE(has("\u2212170"));
    EXPECT_FALSE(has("190"));
}

TEST(DrawMap, FillsObservationsWithTheColourOfTheirValue) {
    MapRequest request = two_by_two();
    request.observations = {.x = {3, 4}, .y = {5, 6}, .values = {-10, 10}, .label = "2 samples"};
    request.panels[0].marks = MapMarks::values;
    std::vector<std::string> fills;
    bool has_label = false;
    for (const Element& element : elements(draw_map(request))) {
        if (element.tag == "circle" && is_in(element, "observations")) fills.push_back(element.attributes.at("fill"));
        has_label = has_label || element.text.find("2 samples") != std::string::npos;
    }
    ASSERT_EQ(fills.size(), 2U);
    EXPECT_LE(difference(fills[0], "#440154"), 3);  // the range reaches to the observations
    EXPECT_LE(difference(fills[1], "#fde725"), 3);
    EXPECT_TRUE(has_label);
}

TEST(DrawMap, EveryPanelStaysInsideThePicture) {
    MapRequest request = two_by_two();
    request.title = "A title that is much longer than the picture below it would be wide on its own, by far and away";
    request.panels.assign(3, request.panels[0]);
    request.observations = {.x = {-30}, .y = {40}, .label = "1 sample"};
    for (MapPanel& panel : request.panels) panel.marks = MapMarks::positions;
    const std::vector<Element> all = elements(draw_map(request));
    double left = 0, top = 0, width = 0, height = 0;
    ASSERT_EQ(
        std::sscanf(all.front().attributes.at("viewBox").c_str(), "%lf %lf %lf %lf", &left, &top, &width, &height), 4);
    std::size_t areas = 0;
    for (const Element& element : all) {
        if (element.tag != "rect") continue;
        const double x = std::stod(element.attributes.at("x")) - left, y = std::stod(element.attributes.at("y")) - top;
        EXPECT_GE(x, 0);
        EXPECT_GE(y, 0);
        EXPECT_LE(x + std::stod(element.attributes.at("width")), width);
        EXPECT_LE(y + std::stod(element.attributes.at("height")), height);
        ++areas;
    }
    EXPECT_EQ(areas, 1U + 3 * 4);  // background; per panel: area, frame, colour bar and its frame
    EXPECT_GE(width, text_width(request.title, 14));
}

TEST(DrawMap, EscapesTitlesAndLabels) {
    MapRequest request = two_by_two();
    request.title = "<script>&\x02";
    request.x_label = "\"x\" < y";
    request.panels[0].title = "]]> & <!--";
    const std::string svg = draw_map(request);
    EXPECT_NO_THROW((void)elements(svg));
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(svg.find('\x02'), std::string::npos);
}

TEST(DrawMap, EqualValuesAndSinglePointsHaveAPictureToo) {
    MapRequest request = two_by_two();
    request.panels[0].values = {3, 3, 3, 3};
    EXPECT_EQ(decode(draw_map(request)).colours.size(), 4U);
    request.panels[0].values = {0, 0, 0, 0};
    EXPECT_EQ(decode(draw_map(request)).colours.size(), 4U);
    const MapRequest single{.x = {5}, .y = {5}, .panels = {{.values = {1e-300}}}};
    EXPECT_NO_THROW((void)elements(draw_map(single)));
}

TEST(DrawMap, StaysBelowOneMegabyteFor100000CellsOfNoise) {
    MapRequest request{.panels = {{}}};
    std::uint32_t state = 1;
    for (int i = 0; i < 316; ++i)
        for (int j = 0; j < 317; ++j) {
            request.x.push_back(j);
            request.y.push_back(i);
            state = state * 1664525U + 1013904223U;
            request.panels[0].values.push_back(state >> 8U);
        }
    EXPECT_LT(draw_map(request).size(), 1000000U);
}

TEST(DrawMap, SaysWhatIsWrong) {
    MapRequest request = two_by_two();
    request.panels[0].values.pop_back();
    EXPECT_EQ(error_of(request), "panel 'mean' of the map has 3 values for 4 points");
    request = two_by_two();
    request.y.pop_back();
    EXPECT_EQ(error_of(request), "a map has 4 x and 3 y coordinates");
    request = two_by_two();
    request.x[0] = std::nan("");
    EXPECT_EQ(error_of(request), "a coordinate of the map is not finite");
    request = two_by_two();
    request.panels[0].values.assign(4, std::nan(""));
    EXPECT_EQ(error_of(request), "panel 'mean' of the map has no finite value");
    request = two_by_two();
    request.panels[0].values = {-1e308, 1e308, 1e308, 1e308};
    EXPECT_EQ(error_of(request), "a map cannot show values from -1e+308 to 1e+308");
    request = two_by_two();
    request.panels[0].range = ValueRange{2, 1};
    EXPECT_EQ(error_of(request), "a map cannot show values from 2 to 1");
    request = two_by_two();
    request.observations = {.x = {1}, .y = {1}};
    request.panels[0].marks = MapMarks::values;
    EXPECT_EQ(error_of(request), "panel 'mean' of the map shows the values of 1 observations, but 0 are given");
    request = two_by_two();
    request.aspect = 0;
    EXPECT_EQ(error_of(request), "the aspect of a map must be positive; it is 0");
    EXPECT_EQ(error_of({}), "a map needs at least one point and one panel");
}

}  // namespace
}  // namespace tesela::map_test
