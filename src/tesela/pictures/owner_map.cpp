#include "tesela/pictures/owner_map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/frame.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {
namespace {

constexpr double map_pixels = 640;
constexpr double map_top = 16;
constexpr double bar_pixels = 200;
constexpr double least_cell_for_number = 13;

void check(const OwnerMap& map) {
    const auto nodes = static_cast<std::size_t>(map.distribution.nodes());
    if (map.loads.size() != nodes) throw Error("{} loads do not fit {} nodes", map.loads.size(), nodes);
    if (!map.ideal.empty() && map.ideal.size() != nodes)
        throw Error("{} ideal loads do not fit {} nodes", map.ideal.size(), nodes);
    if (!map.names.empty() && map.names.size() != nodes)
        throw Error("{} names do not fit {} nodes", map.names.size(), nodes);
}

std::string name_of(const OwnerMap& map, Index node) {
    return map.names.empty() ? fmt::format("{}", node) : map.names[static_cast<std::size_t>(node)];
}

/// Black or white, whichever is easier to read on a colour (relative luminance of BT.709).
std::string_view ink_on(Rgb colour) {
    const double light = 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
    return light > 128 ? "#000" : "#fff";
}

double longest_bar(const OwnerMap& map) {
    double longest = std::ranges::max(map.loads);
    if (!map.ideal.empty()) longest = std::max(longest, std::ranges::max(map.ideal));
    return longest > 0 ? longest : 1;
}

std::string load_label(const OwnerMap& map, std::size_t node) {
    if (map.ideal.empty() || !(map.ideal[node] > 0)) return fmt::format("{:.4g}", map.loads[node]);
    return fmt::format("{:.4g} ({:.3f})", map.loads[node], map.loads[node] / map.ideal[node]);
}

/// Neighbours of one row with the same owner are one rectangle, unless each carries its number.
void draw_tiles(Svg& svg, const OwnerMap& map, double cell) {
    const GridSize grid = map.distribution.grid();
    const bool numbered = cell >= least_cell_for_number;
    for (Index i = 0; i < grid.rows; ++i) {
        Index end = 0;
        for (Index j = 0; j < grid.cols; j = end) {
            end = j + 1;
            if (!is_stored({i, j}, map.stored)) continue;
            const NodeId owner = map.distribution.owner({i, j});
            while (!numbered && end < grid.cols && is_stored({i, end}, map.stored) &&
                   map.distribution.owner({i, end}) == owner)
                ++end;
            const Rgb colour = categorical_colour(owner.number());
            const SvgBox box{static_cast<double>(j) * cell, map_top + static_cast<double>(i) * cell,
                             static_cast<double>(end - j) * cell, cell};
            svg.rect(box, filled(hex(colour)));
            if (!numbered) continue;
            svg.open_group(filled(ink_on(colour)));
            const double size = std::min(11.0, cell * (owner.number() > 99 ? 0.45 : 0.6));
            svg.text({box.x + cell / 2, box.y + cell / 2 + size * 0.35}, fmt::format("{}", owner.number()),
                     {.size = size, .anchor = TextAnchor::middle});
            svg.close_group();
        }
    }
}

struct Legend {
    double x = 0;
    double row = 0;
    double names = 0;  ///< pixels for the longest name
};

void draw_bars(Svg& svg, const OwnerMap& map, const Legend& legend) {
    const Scale scale{.low = 0,
                      .high = longest_bar(map),
                      .first = legend.x + 20 + legend.names,
                      .last = legend.x + 20 + legend.names + bar_pixels};
    const double size = std::min(11.0, legend.row - 2);
    for (Index node = 0; node < map.distribution.nodes(); ++node) {
        const auto at = static_cast<std::size_t>(node);
        const double y = map_top + static_cast<double>(node) * legend.row;
        const auto fill = filled(series_colour(at));
        const double height = std::max(2.0, legend.row - 3), baseline = y + height / 2 + size * 0.35;
        svg.rect({legend.x, y, 12, height}, fill);
        svg.text({legend.x + 16, baseline}, name_of(map, node), {.size = size});
        svg.rect({scale.first, y, scale(map.loads[at]) - scale.first, height}, fill);
        svg.text({scale.last + 8, baseline}, load_label(map, at), {.size = size});
        if (!map.ideal.empty()) svg.rect({scale(map.ideal[at]) - 1, y - 1, 2, height + 2}, filled("#000"));
    }
}

/// Tile that stands for a character of the terminal, when every `step`-th tile is shown.
struct Sampling {
    Index step = 1;
    Index rows = 0;
    Index cols = 0;
};

Sampling sampling_for(GridSize grid, Index characters_per_tile, Index columns) {
    const Index step = std::max<Index>(1, ceil_div(grid.cols * characters_per_tile, std::max<Index>(columns, 1)));
    return {.step = step, .rows = ceil_div(grid.rows, step), .cols = ceil_div(grid.cols, step)};
}

/// -1 where nothing is stored or the map has ended.
Index owner_at(const OwnerMap& map, const Sampling& sampling, Index row, Index col) {
    const TileIndex tile{row * sampling.step, col * sampling.step};
    const GridSize grid = map.distribution.grid();
    if (tile.i >= grid.rows || tile.j >= grid.cols || !is_stored(tile, map.stored)) return -1;
    return map.distribution.owner(tile).number();
}

enum class Ground : std::uint8_t { fore = 38, back = 48 };

std::string colour_code(Ground ground, Index node) {
    const Rgb c = categorical_colour(node);
    return fmt::format("\x1b[{};2;{};{};{}m", static_cast<int>(ground), c.red, c.green, c.blue);
}

constexpr std::string_view plain = "\x1b[0m";

std::string numbers(const OwnerMap& map, const TerminalStyle& style) {
    const auto width = static_cast<Index>(fmt::format("{}", map.distribution.nodes() - 1).size()) + 1;
    const Sampling sampling = sampling_for(map.distribution.grid(), width, style.columns);
    std::string out;
    for (Index i = 0; i < sampling.rows; ++i) {
        for (Index j = 0; j < sampling.cols; ++j) {
            const Index owner = owner_at(map, sampling, i, j);
            out += owner < 0 ? std::string(static_cast<std::size_t>(width), ' ') : fmt::format("{:>{}}", owner, width);
        }
        out += '\n';
    }
    return out;
}

std::string blocks(const OwnerMap& map, const Sampling& sampling) {
    std::string out;
    for (Index i = 0; i < sampling.rows; ++i) {
        for (Index j = 0; j < sampling.cols; ++j) {
            const Index owner = owner_at(map, sampling, i, j);
            if (owner < 0)
                out += fmt::format("{}  ", plain);
            else
                out += fmt::format("{}\x1b[{}m{:>2}", colour_code(Ground::back, owner),
                                   ink_on(categorical_colour(owner)) == "#000" ? 30 : 97, owner % 100);
        }
        out += fmt::format("{}\n", plain);
    }
    return out;
}

/// Two rows of tiles in one row of characters: the upper half in the foreground, the lower in the background.
std::string half_blocks(const OwnerMap& map, const Sampling& sampling) {
    std::string out;
    for (Index i = 0; i < sampling.rows; i += 2) {
        for (Index j = 0; j < sampling.cols; ++j) {
            const Index upper = owner_at(map, sampling, i, j), lower = owner_at(map, sampling, i + 1, j);
            out += plain;
            if (upper < 0 && lower < 0)
                out += " ";
            else if (upper < 0)
                out += colour_code(Ground::fore, lower) + "▄";
            else
                out += colour_code(Ground::fore, upper) + (lower < 0 ? "" : colour_code(Ground::back, lower)) + "▀";
        }
        out += fmt::format("{}\n", plain);
    }
    return out;
}

std::string bars(const OwnerMap& map, const TerminalStyle& style) {
    constexpr double length = 40;
    const bool coloured = style.colours == TerminalStyle::Colours::true_colour;
    std::size_t widest = 0;
    for (Index node = 0; node < map.distribution.nodes(); ++node) widest = std::max(widest, name_of(map, node).size());
    std::string out;
    for (Index node = 0; node < map.distribution.nodes(); ++node) {
        const auto at = static_cast<std::size_t>(node);
        const auto cells = static_cast<Index>(std::lround(length * map.loads[at] / longest_bar(map)));
        std::string bar;
        for (Index k = 0; k < cells; ++k) bar += coloured ? "█" : "#";
        const std::string padding(static_cast<std::size_t>(static_cast<Index>(length) - cells), ' ');
        if (coloured) bar = colour_code(Ground::fore, node) + bar + std::string(plain);
        out += fmt::format("{:>{}} {}{} {}\n", name_of(map, node), widest, bar, padding, load_label(map, at));
    }
    return out;
}

}  // namespace

std::string draw_owner_map(const OwnerMap& map) {
    check(map);
    const GridSize grid = map.distribution.grid();
    const double cell = map_pixels / static_cast<double>(std::max<Index>({grid.rows, grid.cols, 1}));
    Legend legend{.x = static_cast<double>(grid.cols) * cell + 28,
                  .row = std::clamp(map_pixels / static_cast<double>(map.distribution.nodes()), 8.0, 18.0)};
    for (Index node = 0; node < map.distribution.nodes(); ++node)
        legend.names = std::max(legend.names, text_width(name_of(map, node), 11) + 8);
    Svg svg(map.title);
    svg.text({legend.x, 0}, map.ideal.empty() ? "load" : "load (over its share, at the mark)", {.size = 11});
    draw_tiles(svg, map, cell);
    draw_bars(svg, map, legend);
    return std::move(svg).finish();
}

std::string print_owner_map(const OwnerMap& map, const TerminalStyle& style) {
    check(map);
    const std::string title = map.title.empty() ? "" : map.title + "\n";
    if (style.colours == TerminalStyle::Colours::none) return title + numbers(map, style) + "\n" + bars(map, style);
    const GridSize grid = map.distribution.grid();
    const std::string tiles = 2 * grid.cols <= style.columns ? blocks(map, sampling_for(grid, 2, style.columns))
                                                             : half_blocks(map, sampling_for(grid, 1, style.columns));
    return title + tiles + "\n" + bars(map, style);
}

}  // namespace tesela
