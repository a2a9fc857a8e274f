#pragma once

#include "tesela/geo/model_file.hpp"
#include "tesela/geo/prediction_map.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tesela::cli {

/// Where a map of predictions goes and what it looks like, as the user writes it.
struct MapOptions {
    std::string file;  ///< empty: no map
    std::optional<std::string> title;
    std::vector<std::string> palettes;
    std::vector<double> limits;
    std::vector<double> deviation_limits;
    geo::MapObservationsShown observations = geo::MapObservationsShown::show;
};

/// Adds --map and what begins with it.
void add_map_options(CLI::App& command, MapOptions& options);

/// Throws Error unless a picture's file can be an SVG by its name: this is what is written.
void require_svg(const std::string& option, const std::string& file);

/// What the map of a model's predictions is to look like. Throws Error about what cannot be drawn, before anything is
/// computed.
[[nodiscard]] geo::PredictionMapOptions prediction_map(const MapOptions& options, const geo::FittedModel& fitted);

}  // namespace tesela::cli
