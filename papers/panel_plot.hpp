#pragma once

#include "tesela/pictures/frame.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Values of several series at named places; NaN where there is none.
struct PlotPanel {
    std::string title;
    std::vector<std::string> places;
    std::vector<std::vector<double>> values;  ///< by series, then place
};

/// Lines where places are sizes in increasing order, bars where they are different cases.
enum class PlotStyle { lines, bars };

/// Panels in rows of `columns`, each with a vertical scale of its own from 0.
struct PanelPlot {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::vector<std::string> series;
    std::vector<PlotPanel> panels;
    PlotStyle style = PlotStyle::lines;
    int columns = 3;
    double panel_width = 250;
};

/// Places along an axis, by their numbers.
[[nodiscard]] ValueRange places_range(std::size_t count);
[[nodiscard]] Ticks places_ticks(const std::vector<std::string>& places);

/// The plot as SVG; series are told apart by colour and by mark or order.
[[nodiscard]] std::string draw_panels(const PanelPlot& plot);

}  // namespace tesela::bench
