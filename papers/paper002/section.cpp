#include "paper002/section.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

namespace tesela::bench {

std::string bytes_label(const Row& row) {
    const auto bytes = row.at("message_bytes").get<double>();
    return bytes < 1e6 ? fmt::format("{:.3g} kB", bytes / 1e3) : fmt::format("{:.3g} MB", bytes / 1e6);
}

double dominant_element(const void*, ElementIndex at) {
    return at.i == at.j ? 32.0 : 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j)));
}

PanelPlot plot_rows(const PlotRecipe& recipe, const std::vector<Row>& rows) {
    PanelPlot plot{.title = recipe.title,
                   .x_label = recipe.x_label,
                   .y_label = recipe.y_label,
                   .style = recipe.style,
                   .columns = recipe.columns,
                   .panel_width = recipe.panel_width};
    for (const auto& [column, label] : recipe.series) plot.series.push_back(label);
    for (const Row& row : rows) {
        const std::string title = recipe.panel(row);
        if (plot.panels.empty() || plot.panels.back().title != title)
            plot.panels.push_back(
                {.title = title, .places = {}, .values = std::vector<std::vector<double>>(recipe.series.size())});
        PlotPanel& panel = plot.panels.back();
        panel.places.push_back(recipe.place(row));
        for (std::size_t s = 0; s < recipe.series.size(); ++s) {
            const Row& value = row.at(recipe.series[s].first);
            panel.values[s].push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
        }
    }
    return plot;
}

}  // namespace tesela::bench
