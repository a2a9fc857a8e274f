#pragma once

#include "tesela/geo/model.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/pictures/map.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tesela::geo {

/// Whether the observations are drawn on a map of predictions.
enum class MapObservationsShown : std::uint8_t { show, hide };

struct PredictionMapOptions {
    Metric metric = Metric::euclidean;
    /// What the variances are of: said with the standard deviation.
    PredictionOf of = PredictionOf::observation;
    std::optional<std::string> title{};  ///< "log_zinc by kriging" unless given
    ColourMap mean_colours = ColourMap::viridis;
    ColourMap deviation_colours = ColourMap::magma;
    std::optional<ValueRange> mean_range{};  ///< of the colours; that of what is drawn unless given
    std::optional<ValueRange> deviation_range{};
    MapObservationsShown observations = MapObservationsShown::show;
};

/// Throws Error unless points with so many coordinates can be drawn on a map: two.
void require_map_coordinates(std::size_t dimensions);

/// Makes a map suit its metric: on the Earth degrees of longitude shrink with latitude, and points on both sides of
/// ±180° that are closer together that way are one piece.
void suit_metric(MapRequest& request, Metric metric);

/// An SVG picture of predictions in the plane: mean and standard deviation side by side, with the observations. Throws
/// Error unless there are two coordinates.
[[nodiscard]] std::string draw_predictions(const Observations& observations,
                                           const std::vector<std::vector<double>>& coordinates,
                                           const Predictions& predictions, const PredictionMapOptions& options = {});

}  // namespace tesela::geo
