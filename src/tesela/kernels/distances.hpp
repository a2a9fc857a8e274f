#pragma once

#include <cstddef>
#include <span>

namespace tesela {

/// out[i] = the distance of point i from `origin`, for i < count: point i has coordinate k at coordinates[k][i].
void euclidean_distances(std::span<const double* const> coordinates, const double* origin, std::size_t count,
                         double* out) noexcept;

}  // namespace tesela
