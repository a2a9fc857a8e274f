#include "tesela/kernels/distances.hpp"

#include "tesela/kernels/internal/loops.hpp"

namespace tesela {

void euclidean_distances(std::span<const double* const> coordinates, const double* origin, std::size_t count,
                         double* out) noexcept {
    loops::functions().distances({coordinates.size(), coordinates.data(), origin}, 1, count, out);
}

}  // namespace tesela
