#include "tesela/pictures/rank_map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/frame.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace tesela {
namespace {

constexpr double rank_map_pixels = 300;
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
    ValueRange range{};
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
    panels[0].range.high = panels[1].range.high = highest;
    double most = 1;
    for (const Index value : values_of(maps, panels[2])) most = std::max(most, std::abs(static_cast<double>(value)));
    panels[2].range = {-most, most};
    return panels;
}

Rgb colour_of(const Panel& panel, TileIndex tile) {
    const auto value = panel.value(tile);
    if (!value) return whole_colour;
    return colour_at(panel.colours,
                     (static_cast<double>(*value) - panel.range.low) / (panel.range.high - panel.range.low));
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
                     filled(hex(colour)));
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

/// Of a row of panels, of which each is at the right of the one before; whole numbers are middles of tiles.
void draw_panel(Svg& svg, const RankMaps& maps, const Panel& panel, bool is_first) {
    const GridSize grid = maps.tiling.grid();
    const double tallest =
        rank_map_pixels * static_cast<double>(grid.rows) / static_cast<double>(std::max<Index>(1, grid.cols));
    Frame frame{.area = {0, 36, rank_map_pixels, std::clamp(tallest, 60.0, 2 * rank_map_pixels)},
                .x = {-0.5, static_cast<double>(grid.cols) - 0.5},
                .y = {static_cast<double>(grid.rows) - 0.5, -0.5},  // downwards
                .title = fmt::format("{}: {}", panel.title, caption(values_of(maps, panel))),
                .x_label = "tile column",
                .y_label = "tile row"};
    frame.x_ticks = tile_ticks(grid.cols, frame.area.width);
    frame.y_ticks = tile_ticks(grid.rows, frame.area.height);
    if (!is_first) frame.area.x = svg.right() + 20 + left_room(frame);
    draw_frame(svg, frame, [&] { draw_tiles(svg, maps, panel, frame.area); });
    draw_colour_bar(svg, frame.area, {panel.range, panel.colours, panel.bar_label});
    if (is_first)
        draw_legend(svg, {0, frame.area.y + frame.area.height + 44},
                    {{"stored whole: no rank",
                      [&](SvgPoint at) {
                          draw_mark(svg, at, {MarkShape::square, 6, filled(hex(whole_colour))});
                      }}},
                    LegendLayout::row);
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
    const std::vector<Panel> panels = panels_of(maps, changes);
    Svg svg(maps.title);
    for (const Panel& panel : panels) draw_panel(svg, maps, panel, &panel == &panels.front());
    return std::move(svg).finish();
}

}  // namespace tesela
