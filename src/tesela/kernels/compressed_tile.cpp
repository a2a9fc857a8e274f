#include "tesela/kernels/compressed_tile.hpp"

#include "tesela/kernels/internal/low_rank_tiles.hpp"

#include <algorithm>

namespace tesela {

template <class T>
KernelResult store_tile(const Tile& tile, const TileSource<T>& value) noexcept {
    return low_rank::guarded([&]() -> KernelResult {
        if (tile.room != nullptr) return low_rank::store(tile, value);
        for (Index j = 0; j < tile.cols(); ++j) value.column(j, tile.as<T>() + j * tile.ld);
        return {};
    });
}

template <class T>
KernelResult store_tile(const Tile& tile, const T* elements) noexcept {
    const Index rows = tile.rows();
    return low_rank::guarded([&]() -> KernelResult {
        if (tile.room != nullptr) {
            low_rank::Elements<T> all(elements, elements + rows * tile.cols());
            return low_rank::store(tile, low_rank::block(all, rows, tile.cols()));
        }
        for (Index j = 0; j < tile.cols(); ++j) std::copy_n(elements + j * rows, rows, tile.as<T>() + j * tile.ld);
        return {};
    });
}

template <class T>
KernelResult store_tile(const Tile& tile, const T* u, const T* v, Index rank) noexcept {
    return low_rank::guarded([&]() -> KernelResult {
        low_rank::Factors<T> factors{.rows = tile.rows(), .cols = tile.cols(), .rank = rank};
        factors.u.assign(u, u + factors.rows * rank);
        factors.v.assign(v, v + factors.cols * rank);
        if (tile.room != nullptr) {
            low_rank::recompress(factors, low_rank::truncation(*tile.room));
            return low_rank::store(tile, factors);
        }
        blas::gemm({.op_b = Op::transpose, .alpha = 1, .beta = 0}, low_rank::block(factors.u, factors.rows, rank),
                   low_rank::block(factors.v, factors.cols, rank), blas::Block<T>(tile));
        return {};
    });
}

#define TESELA_COMPRESSED_TILE(T)                                                 \
    template KernelResult store_tile(const Tile&, const TileSource<T>&) noexcept; \
    template KernelResult store_tile(const Tile&, const T*) noexcept;             \
    template KernelResult store_tile(const Tile&, const T*, const T*, Index) noexcept;
TESELA_COMPRESSED_TILE(float)
TESELA_COMPRESSED_TILE(double)
#undef TESELA_COMPRESSED_TILE

}  // namespace tesela
