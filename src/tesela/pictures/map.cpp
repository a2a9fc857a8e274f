#include "tesela/pictures/map.hpp"

#include "tesela/base/error.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

namespace tesela {
namespace {

// --- grids -----------------------------------------------------------------------------------------------------------

/// Equidistant positions first + k step, k < count, along one axis.
struct Line {
    double first = 0;
    double step = 0;  ///< 0 if there is only one position
    Index count = 1;
    [[nodiscard]] Index nearest(double value) const { return step == 0 ? 0 : std::llround((value - first) / step); }
};

/// Mean of the gaps that are at most half as large again as the smallest, gaps up to `same` aside: the step of
/// equidistant positions some of which are absent, even if the coordinates were rounded.
double typical_gap(std::span<const double> sorted, double same) {
    std::vector<double> gaps;
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (const double gap = sorted[i] - sorted[i - 1]; gap > same) gaps.push_back(gap);
    if (gaps.empty()) return same;
    const double limit = 1.5 * *std::min_element(gaps.begin(), gaps.end());
    const auto end = std::partition(gaps.begin(), gaps.end(), [&](double gap) { return gap < limit; });
    return std::accumulate(gaps.begin(), end, 0.0) / static_cast<double>(end - gaps.begin());
}

/// Equidistant positions that hold every value, if there are.
std::optional<Line> find_line(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const double extent = sorted.back() - sorted.front();
    if (extent == 0) return Line{.first = sorted.front()};
    const double steps = std::round(extent / typical_gap(sorted, 1e-7 * extent));
    const Line line{sorted.front(), extent / steps, static_cast<Index>(steps) + 1};
    const bool fits = std::all_of(sorted.begin(), sorted.end(), [&](double value) {
        const double position = (value - line.first) / line.step;
        return std::abs(position - std::round(position)) < 0.05;
    });
    return fits ? std::optional(line) : std::nullopt;
}

/// Cell numbers row * columns + column of the points, sorted.
std::vector<Index> sorted_cells(const Line& columns, const Line& rows, std::span<const double> x,
                                std::span<const double> y) {
    std::vector<Index> cells(x.size());
    for (std::size_t p = 0; p < x.size(); ++p) cells[p] = rows.nearest(y[p]) * columns.count + columns.nearest(x[p]);
    std::sort(cells.begin(), cells.end());
    return cells;
}

/// Whether at least half of the points have another one in a neighbouring cell.
bool is_connected(const std::vector<Index>& cells, Index columns) {
    const auto has = [&](Index cell) { return std::binary_search(cells.begin(), cells.end(), cell); };
    const auto neighboured = std::count_if(cells.begin(), cells.end(), [&](Index cell) {
        const Index column = cell % columns;
        return (column > 0 && has(cell - 1)) || (column + 1 < columns && has(cell + 1)) || has(cell - columns) ||
               has(cell + columns);
    });
    return 2 * static_cast<std::size_t>(neighboured) >= cells.size();
}

}  // namespace

std::optional<RegularGrid> find_grid(std::span<const double> x, std::span<const double> y) {
    if (x.size() < 2) return std::nullopt;
    const std::optional<Line> columns = find_line(x);
    const std::optional<Line> rows = find_line(y);
    if (!columns || !rows) return std::nullopt;
    const Index cells = columns->count * rows->count;
    if (cells < 2 || cells > 100 * static_cast<Index>(x.size())) return std::nullopt;
    if (!is_connected(sorted_cells(*columns, *rows, x, y), columns->count)) return std::nullopt;
    // A single row or column has no step of its own: its cells are square.
    const double dx = columns->step == 0 ? rows->step : columns->step;
    const double dy = rows->step == 0 ? columns->step : rows->step;
    return RegularGrid{columns->first, rows->first, dx, dy, columns->count, rows->count};
}

namespace {

// --- values as colours -----------------------------------------------------------------------------------------------

/// More levels than can be told apart, few enough for neighbouring cells of a smooth map to share one.
constexpr int levels = 128;

int level_of(double value, ValueRange range) {
    const double fraction = (value - range.low) / (range.high - range.low);
    return static_cast<int>(std::clamp(fraction * levels, 0.0, levels - 1.0));
}

std::string colour_of_level(int level, ColourMap map) { return hex(colour_at(map, (level + 0.5) / levels)); }

void extend(ValueRange& range, std::span<const double> values) {
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        range.low = std::min(range.low, value);
        range.high = std::max(range.high, value);
    }
}

/// A range wide enough to have ticks: equal values get one around them.
ValueRange widened(ValueRange range) {
    if (!(range.low <= range.high) || !std::isfinite(range.high - range.low))
        throw Error("a map cannot show values from {} to {}", range.low, range.high);
    const double size = std::max(std::abs(range.low), std::abs(range.high));
    if (range.high - range.low > 1e-9 * size) return range;
    const double half = size > 0 ? 0.05 * size : 0.5;
    return {range.low - half, range.high + half};
}

ValueRange colour_range(const MapPanel& panel, const MapObservations& observations) {
    if (panel.range) return widened(*panel.range);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ValueRange range{infinity, -infinity};
    extend(range, panel.values);
    if (range.low > range.high) throw Error("panel '{}' of the map has no finite value", panel.title);
    if (panel.marks == MapMarks::values) extend(range, observations.values);
    return widened(range);
}

// --- layout ----------------------------------------------------------------------------------------------------------

constexpr double panel_gap = 22;

/// What the axes of every panel show.
struct Extent {
    ValueRange x;
    ValueRange y;
};

/// What the panels share.
struct Layout {
    std::optional<RegularGrid> grid;
    Frame frame;  ///< the first panel's, without a title
};

/// One panel in its place.
struct Place {
    const MapRequest& request;
    const MapPanel& panel;
    const std::optional<RegularGrid>& grid;
    Frame frame;
    ColourBar bar;

    [[nodiscard]] SvgPoint pixel(double x, double y) const { return frame.at(x, y); }
    [[nodiscard]] int level(double value) const { return level_of(value, bar.range); }
};

void extend(Extent& extent, const RegularGrid& grid) {
    const auto columns = static_cast<double>(grid.columns);
    const auto rows = static_cast<double>(grid.rows);
    extend(extent.x, std::array{grid.x0 - grid.dx / 2, grid.x0 + (columns - 0.5) * grid.dx});
    extend(extent.y, std::array{grid.y0 - grid.dy / 2, grid.y0 + (rows - 0.5) * grid.dy});
}

/// All points and cells, with a margin of 3 % of the longer side.
Extent data_extent(const MapRequest& request, const std::optional<RegularGrid>& grid) {
    Extent extent{{request.x[0], request.x[0]}, {request.y[0], request.y[0]}};
    for (const auto* x : {&request.x, &request.observations.x}) extend(extent.x, *x);
    for (const auto* y : {&request.y, &request.observations.y}) extend(extent.y, *y);
    if (grid) extend(extent, *grid);
    const double longer = std::max(extent.x.high - extent.x.low, (extent.y.high - extent.y.low) * request.aspect);
    const double pad = longer > 0 ? 0.03 * longer : 0.5;
    return {widened({extent.x.low - pad, extent.x.high + pad}),
            widened({extent.y.low - pad / request.aspect, extent.y.high + pad / request.aspect})};
}

/// Longitudes beyond ±180° by the names that they have: 190 is −170.
void write_within_180(Ticks& ticks) {
    for (std::size_t k = 0; k < ticks.at.size(); ++k) {
        if (std::abs(ticks.at[k]) <= 180) continue;
        const double turned = ticks.at[k] > 0 ? ticks.at[k] - 360 : ticks.at[k] + 360;
        const std::size_t point = ticks.labels[k].find('.');
        const auto decimals = point == std::string::npos ? 0 : static_cast<int>(ticks.labels[k].size() - point - 1);
        ticks.labels[k] = fmt::format("{}{:.{}f}", turned < 0 ? "\u2212" : "", std::abs(turned), decimals);
    }
}

Layout make_layout(const MapRequest& request) {
    Layout layout{.grid = find_grid(request.x, request.y), .frame = {}};
    const auto [x, y] = data_extent(request, layout.grid);
    const double wide = x.high - x.low;
    const double high = (y.high - y.low) * request.aspect;
    const double most_wide = request.panels.size() == 1 ? 480 : request.panels.size() == 2 ? 340 : 270;
    constexpr double most_high = 420;
    const double scale = std::min(most_wide / wide, most_high / high);
    const bool has_titles = std::ranges::any_of(request.panels, [](const MapPanel& p) { return !p.title.empty(); });
    layout.frame = {.area = {0, has_titles ? 36.0 : 18.0, wide * scale, high * scale},
                    .x = x,
                    .y = y,
                    .x_label = request.x_label,
                    .y_label = request.y_label,
                    .x_ticks = ticks_along(x.low, x.high, wide * scale)};
    if (request.x_axis == MapAxis::longitude) write_within_180(*layout.frame.x_ticks);
    return layout;
}

/// Beside what is drawn already. The panels share their rows: numbers are at the first only.
Place place_panel(const Svg& svg, const MapRequest& request, const Layout& layout, std::size_t number) {
    const MapPanel& panel = request.panels[number];
    Place place{.request = request,
                .panel = panel,
                .grid = layout.grid,
                .frame = layout.frame,
                .bar = {colour_range(panel, request.observations), panel.colours, panel.bar_label}};
    place.frame.title = panel.title;
    if (number == 0) return place;
    place.frame.y_ticks = ticks_upward(place.frame.y.low, place.frame.y.high, place.frame.area.height);
    place.frame.y_ticks->labels.clear();
    place.frame.y_label.clear();
    place.frame.area.x = svg.right() + panel_gap;
    return place;
}

// --- cells -----------------------------------------------------------------------------------------------------------

/// The level of every cell, top row first as it is drawn; -1 where there is no value.
std::vector<int> cell_levels(const Place& place, const RegularGrid& grid) {
    std::vector<int> result(static_cast<std::size_t>(grid.columns * grid.rows), -1);
    for (std::size_t p = 0; p < place.panel.values.size(); ++p) {
        if (!std::isfinite(place.panel.values[p])) continue;
        const Index column = std::llround((place.request.x[p] - grid.x0) / grid.dx);
        const Index row = grid.rows - 1 - std::llround((place.request.y[p] - grid.y0) / grid.dy);
        result[static_cast<std::size_t>(row * grid.columns + column)] = place.level(place.panel.values[p]);
    }
    return result;
}

/// Cells next to each other in a row.
struct Run {
    Index column;
    Index row;
    Index length;
};

/// Path data of runs as horizontal strokes one cell high, relative to the end of the one before.
class Strokes {
public:
    void add(const Run& run) {
        fmt::format_to(std::back_inserter(data_), FMT_COMPILE("m{} {}h{}"), run.column - column_, run.row - row_,
                       run.length);
        column_ = run.column + run.length;
        row_ = run.row;
    }
    [[nodiscard]] const std::string& data() const { return data_; }

private:
    std::string data_;
    Index column_ = 0;
    Index row_ = 0;
};

/// Calls visit(run, level of its first cell) for each longest run of cells in a row with equal key(level), holes aside.
template <class Key, class Visit>
void for_each_run(const std::vector<int>& cells, Index columns, Key key, Visit visit) {
    const auto size = static_cast<Index>(cells.size());
    for (Index begin = 0; begin < size;) {
        const int level = cells[static_cast<std::size_t>(begin)];
        const Index row_end = (begin / columns + 1) * columns;
        Index end = begin + 1;
        while (end < row_end && key(cells[static_cast<std::size_t>(end)]) == key(level)) ++end;
        if (level >= 0) visit(Run{begin % columns, begin / columns, end - begin}, level);
        begin = end;
    }
}

/// Cells as strokes: one path per colour, one stroke of 6 to 9 bytes per run of equal cells in a row. That stays
/// below 1 MB for 100 000 cells of pure noise, scales without blur, and needs no image decoder or viewer setting.
/// Below them lies one path of all cells, so that viewers that smooth edges show no white seams.
void draw_strokes(Svg& svg, const std::vector<int>& cells, Index columns, ColourMap colours) {
    Strokes all;
    for_each_run(
        cells, columns, [](int level) { return level >= 0; }, [&](const Run& run, int) { all.add(run); });
    std::array<Strokes, levels> per_level;
    for_each_run(
        cells, columns, [](int level) { return level; },
        [&](const Run& run, int level) { per_level[static_cast<std::size_t>(level)].add(run); });
    svg.path(all.data(), fmt::format("stroke=\"{}\"", colour_of_level(levels / 2, colours)));
    for (int level = 0; level < levels; ++level)
        if (const std::string& data = per_level[static_cast<std::size_t>(level)].data(); !data.empty())
            svg.path(data, fmt::format("stroke=\"{}\"", colour_of_level(level, colours)));
}

void draw_cells(Svg& svg, const Place& place, const RegularGrid& grid) {
    // Units are cells; the origin is the left edge and the middle of the top row, where a stroke begins.
    const SvgPoint origin = place.pixel(grid.x0 - grid.dx / 2, grid.y0 + static_cast<double>(grid.rows - 1) * grid.dy);
    const SvgPoint next = place.pixel(grid.x0 + grid.dx / 2, grid.y0 + static_cast<double>(grid.rows - 2) * grid.dy);
    const double height = next.y - origin.y;
    // Rows overlap by a tenth of a pixel: renderers round the two edges of a stroke, each on its own.
    svg.open_group(
        fmt::format("class=\"cells\" fill=\"none\" stroke-width=\"{:.5g}\" shape-rendering=\"crispEdges\" "
                    "transform=\"translate({:.6g} {:.6g}) scale({:.8g} {:.8g})\"",
                    1 + 0.1 / height, origin.x, origin.y, next.x - origin.x, height));
    draw_strokes(svg, cell_levels(place, grid), grid.columns, place.panel.colours);
    svg.close_group();
}

// --- dots ------------------------------------------------------------------------------------------------------------

/// Path data of a dot: a stroke of no length, which round caps make a disc. A third of the size of a circle element.
std::string dot(SvgPoint at) { return fmt::format("M{:.1f} {:.1f}h0", at.x, at.y); }

std::string dot_style(double diameter, std::string_view colour) {
    return fmt::format("stroke-linecap=\"round\" stroke-width=\"{}\" stroke=\"{}\"", svg_number(diameter), colour);
}

/// How wide marks may be, in pixels, and which share of the area they may fill together.
struct MarkSize {
    double share;
    double least;
    double most;
};
constexpr MarkSize predicted_mark{.share = 0.6, .least = 1, .most = 8};
// The map is to be seen between them, however many there are.
constexpr MarkSize observed_mark{.share = 0.08, .least = 0.6, .most = 7};
constexpr MarkSize position_mark{.share = 0.04, .least = 0.6, .most = 3.2};

double mark_width(const SvgBox& area, std::size_t count, const MarkSize& size) {
    const double each = size.share * area.width * area.height / static_cast<double>(count);
    return std::clamp(std::sqrt(each), size.least, size.most);
}

/// Squares, so that nobody takes them for observations: strokes as long as they are wide, over darker ones that leave
/// an outline, since some colours are as light as the ground.
void draw_squares(Svg& svg, const Place& place) {
    const MapRequest& request = place.request;
    const double width = mark_width(place.frame.area, request.x.size(), predicted_mark);
    const double outline = std::min(1.0, width / 5);
    const auto square = [&](std::size_t p, double side) {
        const SvgPoint at = place.pixel(request.x[p], request.y[p]);
        return fmt::format("M{:.2f} {:.2f}h{}", at.x - side / 2, at.y, svg_number(side));
    };
    std::string outlines;
    std::array<std::string, levels> paths;
    for (std::size_t p = 0; p < request.x.size(); ++p)
        if (const double value = place.panel.values[p]; std::isfinite(value)) {
            outlines += square(p, width + outline);
            paths[static_cast<std::size_t>(place.level(value))] += square(p, width);
        }
    svg.path(outlines, fmt::format("stroke-width=\"{}\" stroke=\"#555\"", svg_number(width + outline)));
    svg.open_group("class=\"squares\"");
    for (int level = 0; level < levels; ++level)
        if (const std::string& data = paths[static_cast<std::size_t>(level)]; !data.empty())
            svg.path(data, fmt::format("stroke-width=\"{}\" stroke=\"{}\"", svg_number(width),
                                       colour_of_level(level, place.panel.colours)));
    svg.close_group();
}

void draw_positions(Svg& svg, const Place& place) {
    const MapObservations& observations = place.request.observations;
    const double diameter = mark_width(place.frame.area, observations.x.size(), position_mark);
    std::string all;
    for (std::size_t p = 0; p < observations.x.size(); ++p)
        all += dot(place.pixel(observations.x[p], observations.y[p]));
    svg.open_group("class=\"observations\"");
    svg.path(all, dot_style(diameter + std::min(1.4, 0.4 * diameter), "#fff"));
    svg.path(all, dot_style(diameter, "#000"));
    svg.close_group();
}

/// Circles one by one, so that where they overlap each keeps its outline.
void draw_values(Svg& svg, const Place& place) {
    const MapObservations& observations = place.request.observations;
    const double diameter = mark_width(place.frame.area, observations.x.size(), observed_mark);
    svg.open_group(fmt::format("class=\"observations\" stroke=\"#fff\" stroke-width=\"{}\"",
                               svg_number(std::min(1.0, diameter / 5))));
    for (std::size_t p = 0; p < observations.x.size(); ++p)
        if (const double value = observations.values[p]; std::isfinite(value))
            svg.circle(place.pixel(observations.x[p], observations.y[p]), diameter / 2,
                       fmt::format("fill=\"{}\"", colour_of_level(place.level(value), place.panel.colours)));
    svg.close_group();
}

// --- the picture -----------------------------------------------------------------------------------------------------

void draw_panel(Svg& svg, const Place& place) {
    draw_frame(svg, place.frame, [&] {
        svg.rect(place.frame.area, filled("#f0f0f0"));
        if (place.grid)
            draw_cells(svg, place, *place.grid);
        else
            draw_squares(svg, place);
        if (place.panel.marks == MapMarks::positions) draw_positions(svg, place);
        if (place.panel.marks == MapMarks::values) draw_values(svg, place);
    });
    draw_colour_bar(svg, place.frame.area, place.bar);
}

/// What the marks are, behind the title and at the right of the picture.
void draw_marks_legend(Svg& svg, const MapRequest& request, const Layout& layout) {
    std::vector<LegendEntry> entries;
    const auto add = [&](const std::string& name, const Mark& mark) {
        if (!name.empty()) entries.push_back({name, [&svg, mark](SvgPoint at) { draw_mark(svg, at, mark); }});
    };
    if (!layout.grid) add(request.points_label, {MarkShape::square, 3, filled("#666")});
    add(request.observations.label, {MarkShape::circle, 2.5, filled("#000")});
    const double x = std::max(text_width(request.title, 14) + 14, svg.right() - legend_width(entries));
    draw_legend(svg, {x, -4}, entries, LegendLayout::row);
}

void check(const MapRequest& request) {
    const std::size_t points = request.x.size();
    if (points == 0 || request.panels.empty()) throw Error("a map needs at least one point and one panel");
    if (!(request.aspect > 0)) throw Error("the aspect of a map must be positive; it is {}", request.aspect);
    if (request.y.size() != points) throw Error("a map has {} x and {} y coordinates", points, request.y.size());
    const MapObservations& observations = request.observations;
    if (observations.x.size() != observations.y.size())
        throw Error("a map has observations with {} x and {} y coordinates", observations.x.size(),
                    observations.y.size());
    for (const auto* values : {&request.x, &request.y, &observations.x, &observations.y})
        if (!std::all_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); }))
            throw Error("a coordinate of the map is not finite");
    for (const MapPanel& panel : request.panels) {
        if (panel.values.size() != points)
            throw Error("panel '{}' of the map has {} values for {} points", panel.title, panel.values.size(), points);
        if (panel.marks == MapMarks::values && observations.values.size() != observations.x.size())
            throw Error("panel '{}' of the map shows the values of {} observations, but {} are given", panel.title,
                        observations.x.size(), observations.values.size());
    }
}

}  // namespace

std::string draw_map(const MapRequest& request) {
    check(request);
    const Layout layout = make_layout(request);
    Svg svg(request.title);
    for (std::size_t k = 0; k < request.panels.size(); ++k) draw_panel(svg, place_panel(svg, request, layout, k));
    draw_marks_legend(svg, request, layout);
    return std::move(svg).finish();
}

}  // namespace tesela
