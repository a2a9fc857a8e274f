#pragma once

#include "tesela/geo/tile_accuracy.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace tesela::geo {

/// How a covariance matrix is cut and stored, which decides the last digits of what is computed with it, and more of
/// them where it is compressed: models and checkpoints say it, so that what goes on from them can do the same.
struct MatrixStorage {
    Index tile = 0;
    std::optional<TileAccuracy> compression{};  ///< none: all elements are stored
};

/// {"method": "exact"|"tlr", "tile": …} and of compressed ones {"accuracy", "band", "refine", "single"}.
[[nodiscard]] nlohmann::ordered_json to_json(const MatrixStorage& storage);
/// What to_json() wrote, among whatever else; none where that is not all there. Throws Error naming the field
/// that is wrong.
[[nodiscard]] std::optional<MatrixStorage> storage_from_json(const nlohmann::json& json);

}  // namespace tesela::geo
