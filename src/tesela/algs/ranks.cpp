#include "tesela/algs/ranks.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace tesela {
namespace {

KernelResult run_rank(const KernelCall& call) noexcept {
    const TileShape& shape = call.tiles[0].shape;
    *call.tiles[1].as<double>() = static_cast<double>(shape.rank);
    *call.tiles[2].as<double>() = static_cast<double>(shape.singles);
    return {};
}
KernelCost cost_rank(std::span<const TileShape>, const void*) noexcept { return {0, 2 * sizeof(double)}; }
const KernelOf<NoArguments, const double, double, double> rank_kernel{"rank", cost_rank, run_rank,
                                                                      TileUse{.compressed = TileUse::every}};

}  // namespace

RankMap tile_ranks(Stream& s, const Matrix<double>& A) {
    const auto phase = s.phase("ranks");
    const GridSize tiles = A.tiling().grid();
    const Attachment& matrix = A.view().matrix();
    const Tiling numbers = Tiling::uniform({tiles.rows, tiles.cols}, {1, 1});
    const Matrix<double> R(s, numbers, A.distribution(), {.name = "ranks", .stored = matrix.stored()});
    const Matrix<double> S(s, numbers, A.distribution(), {.name = "singles", .stored = matrix.stored()});
    const auto is_there = [&](Index i, Index j) { return matrix.has({i, j}) && matrix.written({i, j}); };
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j)
            if (is_there(i, j)) s.submit(Task(rank_kernel, read(A(i, j)), write(R(i, j)), write(S(i, j))));
    const auto collected = [&](const Matrix<double>& from) {
        std::vector<Index> result(static_cast<std::size_t>(tiles.count()), 0);
        const std::vector<double> values = gather(s, from.view());
        for (Index i = 0; i < tiles.rows; ++i)
            for (Index j = 0; j < tiles.cols; ++j)
                if (is_there(i, j))
                    result[static_cast<std::size_t>(i * tiles.cols + j)] =
                        static_cast<Index>(values[static_cast<std::size_t>(i + j * tiles.rows)]);
        return result;
    };
    std::vector<Index> ranks = collected(R);
    return {.grid = tiles, .ranks = std::move(ranks), .singles = collected(S)};
}

RankSummary summarise_ranks(const RankMap& ranks, const Tiling& tiling, Stored stored) {
    RankSummary summary;
    double sum = 0;
    for (Index i = 0; i < ranks.grid.rows; ++i)
        for (Index j = 0; j < ranks.grid.cols; ++j) {
            if (!is_stored({i, j}, stored)) continue;
            const auto at = static_cast<std::size_t>(i * ranks.grid.cols + j);
            const Index rank = ranks.ranks[at];
            const TileShape shape{tiling.rows(i), tiling.cols(j), rank, ranks.singles.empty() ? 0 : ranks.singles[at]};
            ++summary.tiles;
            summary.bytes += static_cast<double>(stored_bytes(shape, sizeof(double)));
            summary.dense_bytes += sizeof(double) * static_cast<double>(shape.rows * shape.cols);
            if (rank == dense_rank) continue;
            ++summary.compressed;
            sum += static_cast<double>(rank);
            summary.singles += static_cast<double>(shape.singles);
            summary.largest = std::max(summary.largest, rank);
        }
    if (summary.compressed > 0) summary.mean = sum / static_cast<double>(summary.compressed);
    if (sum > 0) summary.singles /= sum;
    return summary;
}

}  // namespace tesela
