#include "tesela/kernels/tile_values.hpp"

#include "tesela/kernels/internal/low_rank_tiles.hpp"

#include <cstring>

namespace tesela {
namespace {

/// U·Vᵀ.
template <class T>
void expand(const Tile& tile, T* out) {
    const low_rank::TileFactors<T> factors(tile);
    const blas::Block<T> all(out, tile.rows(), tile.cols(), tile.rows());
    blas::gemm({.op_b = Op::transpose, .alpha = 1, .beta = 0}, factors.u, factors.v, all);
}

}  // namespace

void copy_values(const Tile& tile, ElementType type, void* out) noexcept {
    if (!tile.is_dense())
        return type == ElementType::f64 ? expand(tile, static_cast<double*>(out))
                                        : expand(tile, static_cast<float*>(out));
    const std::size_t element = element_bytes(type);
    const std::size_t column = static_cast<std::size_t>(tile.rows()) * element;
    for (Index j = 0; j < tile.cols() && column > 0; ++j)
        std::memcpy(static_cast<std::byte*>(out) + static_cast<std::size_t>(j) * column,
                    static_cast<const std::byte*>(tile.data) + static_cast<std::size_t>(j * tile.ld) * element, column);
}

}  // namespace tesela
