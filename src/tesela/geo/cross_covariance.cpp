#include "tesela/geo/internal/cross_covariance.hpp"

#include "tesela/distribution/families.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tesela::geo {
namespace {

constexpr double block_bytes = 64 * 1024 * 1024;
}  // namespace

Index prediction_block(Index n) {
    const auto fitting = static_cast<Index>(block_bytes / (sizeof(double) * static_cast<double>(n)));
    return std::clamp<Index>(fitting, 16, 4 * column_tile);
}

Matrix<double> columns_like_sigma(const Likelihood& likelihood, Index count, const char* name) {
    const Attachment& sigma = likelihood.factor().matrix();
    const Tiling tiling = sigma.tiling().with_columns(count, column_tile);
    return {likelihood.stream(), tiling, along_diagonal(sigma.distribution(), tiling.grid().cols), {.name = name}};
}

Matrix<double> rows_for_columns(Stream& stream, const Matrix<double>& W, Index cols, const char* name) {
    const Index tiles = W.tile_cols();
    std::vector<std::int32_t> owners;
    for (Index c = 0; c < tiles; ++c) owners.push_back(static_cast<std::int32_t>(W(0, c).owner().number()));
    return {stream,
            Tiling::from_cuts(W.tiling().col_cuts(), {0, cols}),
            Distribution({tiles, 1}, W.distribution().nodes(), std::move(owners)),
            {.name = name}};
}

void generate_cross_covariance(Stream& stream, const Matrix<double>& K, const CrossCovariance& of) {
    const auto phase = stream.phase("generate");
    const Tiling& tiling = K.tiling();
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index c = 0; c < tiling.grid().cols; ++c)
            stream.submit(Task(covariance_kernel,
                               {.covariance = &of.covariance,
                                .rows = &of.rows,
                                .cols = &of.cols,
                                .first = {tiling.row_begin(i), of.first + tiling.col_begin(c)},
                                .sets = ObservationSets::different},
                               write(K(i, c))));
}

}  // namespace tesela::geo
