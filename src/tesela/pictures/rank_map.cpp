#include "tesela/pictures/rank_map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/colour.hpp"
#include "tesela/pictures/svg.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace tesela {
namespace {

constexpr double rank_map_pixels = 300;
constexpr double rank_map_margin = 20;
constexpr double map_top = 78;
constexpr double rank_bar_gap = 12;
constexpr double rank_bar_width = 14;
constexpr double below = 66;  ///< axis, its label and the legend
constexpr Rgb whole_colour{128, 128, 128};

void check(const RankMaps& maps) {
    const GridSize grid = maps.tiling.grid();
    for (const RankMap* map : {&maps.initial, &maps.last})
        if (map->grid != grid || static_cast<Index>(map->ranks.size()) != grid.count())
            throw Error("a map of {}x{} ranks with {} entries does not fit a grid of {}x{} tiles", map->grid.rows,
                        map->grid.cols, map->ranks.size(), grid.rows, grid.cols);
}

std::size_t place(GridSize grid, TileIndex tile) { return static_cast<std::size_t>(tile.i * grid.cols + tile.j); }

Index full_rank(const Tiling& tiling, TileIndex tile) { return std::min(tiling.rows(tile.i), tiling.cols(tile.j)); }

/// The tiles that are stored.
std::vector<TileIndex> stored_tiles_of(const RankMaps& maps) {
    const GridSize grid = maps.tiling.grid();
    std::vector<TileIndex> tiles;
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j)
            if (is_stored({i, j}, maps.stored)) tiles.push_back({i, j});
    return tiles;
}

/// A value for every tile that has one.
using Values = std::function<std::optional<Index>(TileIndex)>;

/// One of the three maps.
struct Panel {
    std::string title;
    std::string bar_label;
    Values value;  ///< none: the tile is stored whole
    double low = 0;
    double high = 1;
    ColourMap colours = ColourMap::viridis;
};

std::vector<Index> values_of(const RankMaps& maps, const Panel& panel) {
    std::vector<Index> values;
    for (const TileIndex tile : stored_tiles_of(maps))
        if (const auto value = panel.value(tile)) values.push_back(*value);
    return values;
}

std::string caption(const std::vector<Index>& values) {
    if (values.empty()) return "all tiles are stored whole";
    double sum = 0;
    for (const Index value : values) sum += static_cast<double>(value);
    return fmt::format("mean {:.1f}, {} to {}", sum / static_cast<double>(values.size()), std::ranges::min(values),
                       std::ranges::max(values));
}

Panel rank_panel(const RankMaps& maps, const RankMap& map, const std::string& title) {
    return {.title = title,
            .bar_label = "rank",
            .value = [&map, grid = maps.tiling.grid()](TileIndex tile) -> std::optional<Index> {
                const Index rank = map.ranks[place(grid, tile)];
                return rank < 0 ? std::nullopt : std::optional(rank);
            }};
}

/// Tiles that were whole before and after have not changed in anything that the map is about.
Panel change_panel(const RankMaps& maps, const RankMap& changes) {
    return {.title = "difference",
            .bar_label = "change of rank",
            .value = [&maps, &changes, grid = maps.tiling.grid()](TileIndex tile) -> std::optional<Index> {
                const std::size_t at = place(grid, tile);
                if (maps.initial.ranks[at] < 0 && maps.last.ranks[at] < 0) return std::nullopt;
                return changes.ranks[at];
            },
            .colours = ColourMap::blue_red};
}

std::vector<Panel> panels_of(const RankMaps& maps, const RankMap& changes) {
    std::vector<Panel> panels{rank_panel(maps, maps.initial, maps.initial_title),
                              rank_panel(maps, maps.last, maps.last_title), change_panel(maps, changes)};
    double highest = 1;
    for (const std::size_t k : {0U, 1U})
        for (const Index value : values_of(maps, panels[k])) highest = std::max(highest, static_cast<double>(value));
    panels[0].high = panels[1].high = highest;
    double most = 1;
    for (const Index value : values_of(maps, panels[2])) most = std::max(most, std::abs(static_cast<double>(value)));
    panels[2].low = -most;
    panels[2].high = most;
    return panels;
}

Rgb colour_of(const Panel& panel, TileIndex tile) {
    const auto value = panel.value(tile);
    if (!value) return whole_colour;
    return colour_at(panel.colours, (static_cast<double>(*value) - panel.low) / (panel.high - panel.low));
}

/// Neighbours of one row with the same colour are one rectangle.
void draw_tiles(Svg& svg, const RankMaps& maps, const Panel& panel, const SvgBox& box) {
    const GridSize grid = maps.tiling.grid();
    const double width = box.width / static_cast<double>(grid.cols);
    const double height = box.height / static_cast<double>(grid.rows);
    svg.open_group("shape-rendering=\"crispEdges\"");  // without seams between tiles
    for (Index i = 0; i < grid.rows; ++i) {
        Index end = 0;
        for (Index j = 0; j < grid.cols; j = end) {
            end = j + 1;
            if (!is_stored({i, j}, maps.stored)) continue;
            const Rgb colour = colour_of(panel, {i, j});
            while (end < grid.cols && is_stored({i, end}, maps.stored) && colour_of(panel, {i, end}) == colour) ++end;
            svg.rect({box.x + static_cast<double>(j) * width, box.y + static_cast<double>(i) * height,
                      static_cast<double>(end - j) * width, height},
                     fmt::format("fill=\"{}\"", hex(colour)));
        }
    }
    svg.close_group();
}

/// Whole numbers of tiles, at the middles of the tiles.
Ticks tile_ticks(Index count, double pixels) {
    const double last = std::max(1.0, static_cast<double>(count - 1));
    Ticks ticks = ticks_along(0, last, pixels);
    Ticks whole;
    for (std::size_t k = 0; k < ticks.at.size(); ++k)
        if (ticks.at[k] == std::floor(ticks.at[k]) && ticks.at[k] < static_cast<double>(count)) {
            whole.at.push_back(ticks.at[k]);
            whole.labels.push_back(ticks.labels[k]);
        }
    return whole;
}

/// From -1/2 to count - 1/2, so that whole numbers are middles of tiles.
Scale tile_scale(Index count, double first, double last) {
    return {.low = -0.5, .high = static_cast<double>(count) - 0.5, .first = first, .last = last};
}

Axis columns_axis(GridSize grid, const SvgBox& box) {
    return {.scale = tile_scale(grid.cols, box.x, box.x + box.width),
            .at = box.y + box.height,
            .side = AxisSide::bottom,
            .ticks = tile_ticks(grid.cols, box.width),
            .label = "tile column"};
}
Axis rows_axis(GridSize grid, const SvgBox& box) {
    return {.scale = tile_scale(grid.rows, box.y, box.y + box.height),
            .at = box.x,
            .side = AxisSide::left,
            .ticks = tile_ticks(grid.rows, box.height),
            .label = "tile row"};
}

ColourBar bar_of(const Panel& panel, const SvgBox& box) {
    return {.box = {box.x + box.width + rank_bar_gap, box.y, rank_bar_width, box.height},
            .low = panel.low,
            .high = panel.high,
            .colours = panel.colours,
            .label = panel.bar_label};
}

void draw_panel(Svg& svg, const RankMaps& maps, const Panel& panel, const SvgBox& box) {
    const GridSize grid = maps.tiling.grid();
    svg.text({box.x, box.y - 24}, panel.title, {.size = 12, .weight = TextWeight::bold});
    svg.text({box.x, box.y - 9}, caption(values_of(maps, panel)), {.size = 11});
    draw_tiles(svg, maps, panel, box);
    svg.rect(box, "fill=\"none\" stroke=\"#262626\" stroke-width=\"0.8\"");
    draw_axis(svg, columns_axis(grid, box));
    draw_axis(svg, rows_axis(grid, box));
    draw_colour_bar(svg, bar_of(panel, box));
}

void draw_legend(Svg& svg, double y) {
    svg.rect({rank_map_margin, y - 9, 12, 12}, fmt::format("fill=\"{}\"", hex(whole_colour)));
    svg.text({rank_map_margin + 18, y + 1}, "stored whole: no rank", {.size = 11});
}

}  // namespace

RankMap rank_changes(const RankMaps& maps) {
    check(maps);
    RankMap changes{.grid = maps.tiling.grid(),
                    .ranks = std::vector<Index>(static_cast<std::size_t>(maps.tiling.grid().count()), 0)};
    const auto rank = [&](const RankMap& map, TileIndex tile) {
        const Index known = map.ranks[place(changes.grid, tile)];
        return known < 0 ? full_rank(maps.tiling, tile) : known;
    };
    for (const TileIndex tile : stored_tiles_of(maps))
        changes.ranks[place(changes.grid, tile)] = rank(maps.last, tile) - rank(maps.initial, tile);
    return changes;
}

std::string draw_rank_maps(const RankMaps& maps) {
    const RankMap changes = rank_changes(maps);
    const GridSize grid = maps.tiling.grid();
    const std::vector<Panel> panels = panels_of(maps, changes);
    const double tallest =
        rank_map_pixels * static_cast<double>(grid.rows) / static_cast<double>(std::max<Index>(1, grid.cols));
    const double height = std::clamp(tallest, 60.0, 2 * rank_map_pixels);
    std::vector<SvgBox> boxes;
    double x = rank_map_margin;
    for (const Panel& panel : panels) {
        SvgBox box{x, map_top, rank_map_pixels, height};
        box.x += axis_room(rows_axis(grid, box));
        boxes.push_back(box);
        x = box.x + box.width + rank_bar_gap + colour_bar_room(bar_of(panel, box)) + rank_map_margin;
    }
    Svg svg(x, map_top + height + below);
    svg.text({rank_map_margin, 28}, maps.title, {.size = 15, .weight = TextWeight::bold});
    for (std::size_t k = 0; k < panels.size(); ++k) draw_panel(svg, maps, panels[k], boxes[k]);
    draw_legend(svg, map_top + height + below - 12);
    return std::move(svg).finish();
}

}  // namespace tesela
