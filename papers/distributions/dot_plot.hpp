#pragma once

#include <string>
#include <vector>

namespace tesela::bench {

/// One dot of a panel: its place on the horizontal axis by number, its series by number, its height.
struct Dot {
    int place = 0;
    int series = 0;
    double value = 0;
};

struct DotPanel {
    std::string title;
    std::vector<Dot> dots;
};

/// Panels in rows of `columns` with a common vertical scale from `bottom` to `top`; dots above it are drawn at the top
/// as triangles.
struct DotPlot {
    std::string title;
    std::string y_label;
    std::vector<std::string> series;
    /// Where series come in groups of so many, a group has a colour and its members their shapes.
    int group = 0;
    std::vector<std::string> places;
    std::vector<DotPanel> panels;
    int columns = 3;
    double bottom = 1;
    double top = 1.1;
};

/// The plot as SVG, colours and shapes both telling the series apart.
[[nodiscard]] std::string draw_dots(const DotPlot& plot);

}  // namespace tesela::bench
