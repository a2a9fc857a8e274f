#include "tesela/geo/grid.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

namespace tesela::geo {
namespace {

using Columns = std::vector<std::vector<double>>;

constexpr double most_cells = 1e8;

/// How often a ray from the point towards larger x meets the ring. An edge owns its lower end and not its upper one, so
/// that a ray through a corner counts once.
Index crossings(const Ring& ring, double x, double y) {
    Index count = 0;
    for (std::size_t i = 0, j = ring.x.size() - 1; i < ring.x.size(); j = i++) {
        if ((ring.y[i] > y) == (ring.y[j] > y)) continue;
        const double meets = ring.x[i] + (y - ring.y[i]) / (ring.y[j] - ring.y[i]) * (ring.x[j] - ring.x[i]);
        count += x < meets ? 1 : 0;
    }
    return count;
}

std::optional<Index> column_if_any(const CsvTable& table, std::string_view name) {
    const auto& names = table.names();
    if (std::find(names.begin(), names.end(), name) == names.end()) return std::nullopt;
    return table.column(name);
}

void require_corners(const Polygon& polygon, const std::string& file) {
    for (std::size_t r = 0; r < polygon.size(); ++r)
        if (polygon[r].x.size() < 3)
            throw Error(
                "{}: ring {} of the polygon has {} corner{}; at least three are needed (a blank line begins a "
                "new ring)",
                file, r + 1, polygon[r].x.size(), polygon[r].x.size() == 1 ? "" : "s");
}

void require_sensible(const GridRequest& request) {
    const auto& [cells, box, polygon] = request;
    if (cells.size() != box.low.size())
        throw Error("a grid of {} cells has {} coordinate{}, where there are {}", fmt::join(cells, "x"), cells.size(),
                    cells.size() == 1 ? "" : "s", box.low.size());
    for (std::size_t d = 0; d < cells.size(); ++d) {
        if (!std::isfinite(box.low[d]) || !std::isfinite(box.high[d]) || box.high[d] < box.low[d])
            throw Error("the box of the grid goes from {} to {} along coordinate {}; the first must be the smaller",
                        box.low[d], box.high[d], d + 1);
        if (cells[d] > 1 && !(box.high[d] > box.low[d]))
            throw Error("the box of the grid has no length along coordinate {}, where {} cells are wanted", d + 1,
                        cells[d]);
    }
    const double count = std::accumulate(cells.begin(), cells.end(), 1.0,
                                         [](double product, Index n) { return product * static_cast<double>(n); });
    if (count > most_cells)
        throw Error("a grid of {} has {:.3g} cells; at most 100 million are made", fmt::join(cells, "x"), count);
    if (!polygon.empty() && cells.size() < 2)
        throw Error("a polygon needs two coordinates; this grid has {}", cells.size());
}

/// The centre of cell k of n between low and high.
double centre(const Box& box, std::size_t d, Index k, Index n) {
    const double fraction = (static_cast<double>(k) + 0.5) / static_cast<double>(n);
    return box.low[d] + fraction * (box.high[d] - box.low[d]);
}

}  // namespace

bool contains(const Polygon& polygon, double x, double y) {
    Index count = 0;
    for (const Ring& ring : polygon) count += crossings(ring, x, y);
    return count % 2 == 1;
}

Box bounding_box(const Polygon& polygon) {
    Columns corners(2);
    for (const Ring& ring : polygon) {
        corners[0].insert(corners[0].end(), ring.x.begin(), ring.x.end());
        corners[1].insert(corners[1].end(), ring.y.begin(), ring.y.end());
    }
    return bounding_box(Metric::euclidean, corners);
}

Polygon read_polygon(const std::string& path, const std::string& x, const std::string& y) {
    const CsvTable table = read_csv(path);
    const NumericTable corners = table.numbers({x, y}, NaPolicy::drop);
    const std::vector<Index>& rows = corners.rows;
    const std::optional<Index> name = column_if_any(table, "ring");
    Polygon polygon;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        // A blank line and a row that was left out both leave a gap in the numbers of the lines.
        const bool begins = k == 0 || corners.lines[k] != corners.lines[k - 1] + 1 ||
                            (name && table.field(rows[k], *name) != table.field(rows[k - 1], *name));
        if (begins) polygon.emplace_back();
        polygon.back().x.push_back(corners.columns[0][k]);
        polygon.back().y.push_back(corners.columns[1][k]);
    }
    require_corners(polygon, path);
    return polygon;
}

std::vector<Index> parse_cells(std::string_view text, std::string_view option) {
    std::vector<Index> cells;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (;;) {
        Index count = 0;
        const auto [stopped, error] = std::from_chars(at, end, count);
        if (error != std::errc{} || count < 1 || (stopped != end && *stopped != 'x'))
            throw Error("{} takes numbers of cells with an x between them, as 100x100; \"{}\" is not of that form",
                        option, text);
        cells.push_back(count);
        if (stopped == end) return cells;
        at = stopped + 1;
    }
}

std::vector<std::vector<double>> grid_nodes(const GridRequest& request) {
    require_sensible(request);
    const std::size_t dimensions = request.cells.size();
    Columns nodes(dimensions);
    std::vector<Index> cell(dimensions, 0);
    std::vector<double> at(dimensions);
    for (;;) {
        for (std::size_t d = 0; d < dimensions; ++d) at[d] = centre(request.box, d, cell[d], request.cells[d]);
        if (request.polygon.empty() || contains(request.polygon, at[0], at[1]))
            for (std::size_t d = 0; d < dimensions; ++d) nodes[d].push_back(at[d]);
        std::size_t d = 0;
        while (d < dimensions && ++cell[d] == request.cells[d]) cell[d++] = 0;
        if (d == dimensions) break;
    }
    if (nodes.front().empty())
        throw Error(
            "no cell of the {} grid has its centre inside the polygon; make more cells, or compare the units "
            "of both",
            fmt::join(request.cells, "x"));
    return nodes;
}

}  // namespace tesela::geo
