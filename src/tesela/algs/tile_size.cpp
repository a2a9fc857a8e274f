#include "tesela/algs/tile_size.hpp"

#include "tesela/base/error.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/low_rank_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tesela {

Index automatic_tile_size(Index n, Index cores) {
    constexpr Index smallest = 64;
    constexpr Index largest = 640;
    constexpr Index grain = 32;
    const double rows = 7.0 * std::sqrt(static_cast<double>(std::max<Index>(1, cores)) / 2.0);
    const auto wanted = static_cast<Index>(static_cast<double>(n) / rows);
    const Index rounded = wanted / grain * grain;
    return std::max<Index>(1, std::min(n, std::clamp(rounded, smallest, largest)));
}

Tiling qr_tiling(ElementIndex size, Index cores) {
    constexpr Index widest = 128;               // of one column of tiles
    constexpr Index in_cache = Index{1} << 16;  // elements: 512 KiB of doubles
    constexpr Index tiles_per_core = 8;
    const Index columns = std::max<Index>(1, size.j);
    const Index least_rows = 4 * columns;
    if (columns > widest || size.i < least_rows * tiles_per_core) {
        const Index tile = automatic_tile_size(std::min(size.i, size.j), cores);
        return Tiling::uniform(size, {tile, tile});
    }
    const Index share = size.i / (tiles_per_core * std::max<Index>(1, cores));
    return Tiling::uniform(size, {std::max(least_rows, std::min(share, in_cache / columns)), columns});
}

/// nb ≈ √(3·N·k·(3 + √(9 + 32·P)) / (4·P))
Index low_rank_tile_size(Index n, Index nodes, const MeanRank& rank) {
    if (n < 1 || nodes < 1) throw Error("a tile size needs rows and nodes above 0; they are {} and {}", n, nodes);
    const auto rows = static_cast<double>(n);
    const auto count = static_cast<double>(nodes);
    const double per_rank = 3 * rows * (3 + std::sqrt(9 + 32 * count)) / (4 * count);
    Index tile = std::max<Index>(1, std::llround(std::sqrt(rows)));
    for (int k = 0; k < 100; ++k) {
        const double average = rank(tile);
        if (!(average > 0)) throw Error("a tile size needs a rank above 0; it is {}", average);
        const Index next = std::clamp<Index>(std::llround(std::sqrt(per_rank * average)), 1, n);
        if (next == tile) break;
        tile = next;
    }
    return tile;
}

namespace {

/// Operations of a product that take as long as one of a kernel that recompresses a sum of this rank: QR of narrow
/// blocks and singular values of small ones are slow, less so with larger ranks. Measured with OpenBLAS on one core
/// with AVX-512: 6 Gflop/s with a rank of 10, 10 with 100 and 20 with 400, where a product has 65.
double slowness_of_recompression(double rank) { return 1 / (0.085 + 0.0006 * std::min(rank, 500.0)); }
/// What a task costs besides, in operations of a product: some 20 microseconds.
constexpr double per_task = 1.2e6;
/// What a covariance costs, likewise: 6 nanoseconds of a core whose products run at 30 Gflop/s, measured on aarch64;
/// and to compare it with U·Vᵀ, besides the product.
constexpr double per_covariance = 175;
constexpr double per_comparison = 20;

/// A tile that does not compress is given up after crosses of about a quarter of its rows, each subtracted from all
/// that follow by products with vectors, which wait for memory.
double cost_of_giving_up(double nb) {
    constexpr double crosses = 0.22;
    constexpr double slowness_of_vectors = 8;
    return crosses * nb * (2 * nb * per_covariance + 2 * nb * crosses * nb * slowness_of_vectors);
}

class CutCost {
public:
    CutCost(Index n, const CompressedCut& cut, const RankAt& rank)
        : rows_(ceil_div(n, cut.tile)),
          tile_(cut.tile),
          band_(cut.band),
          whole_rows_(static_cast<double>(n) / static_cast<double>(cut.tile)) {
        for (Index distance = 0; distance < rows_; ++distance) shapes_.push_back(shape(cut, distance, rank));
    }
    [[nodiscard]] double work() const {
        double sum = count(0) * (generation(0) + potrf());
        for (Index distance = 1; distance < rows_; ++distance)
            sum += count(distance) * (generation(distance) + trsm(distance) + syrk(distance));
        // Tile (i, j) is updated with (i, k) and (j, k): at distances i - j, i - k and j - k.
        for (Index near = 1; near < rows_; ++near)
            for (Index updated = 1; near + updated < rows_; ++updated)
                sum += count(near + updated) * gemm(near, updated);
        return sum;
    }
    /// Of the lower triangle, before it is factored.
    [[nodiscard]] double bytes() const {
        double sum = 0;
        for (Index distance = 0; distance < rows_; ++distance)
            sum += count(distance) * static_cast<double>(stored_bytes(at(distance), sizeof(double)));
        return sum;
    }
    [[nodiscard]] double critical_path() const {
        double sum = count(0) * potrf();
        if (rows_ > 1) sum += count(1) * (trsm(1) + syrk(1));
        return sum;
    }

private:
    [[nodiscard]] TileShape shape(const CompressedCut& cut, Index distance, const RankAt& rank) const {
        TileShape result{tile_, tile_};
        if (distance < cut.band) return result;
        const Index its = std::llround(rank(tile_, distance));
        if (its < useless_rank(result)) result.rank = its;
        return result;
    }
    [[nodiscard]] const TileShape& at(Index distance) const { return shapes_[static_cast<std::size_t>(distance)]; }
    /// The last tiles are smaller, and count as parts of whole ones.
    [[nodiscard]] double count(Index distance) const { return whole_rows_ - static_cast<double>(distance); }
    [[nodiscard]] double potrf() const {
        const PivotArguments arguments{};
        return per_task + Dense<double>::potrf.cost({shapes_.data(), 1}, &arguments).flops;
    }
    [[nodiscard]] double trsm(Index distance) const {
        const TriangularArguments arguments{.side = Side::right};
        const std::array shapes{at(0), at(distance)};
        return per_task + Dense<double>::trsm.cost(shapes, &arguments).flops;
    }
    [[nodiscard]] double syrk(Index distance) const {
        const SyrkArguments arguments{};
        const std::array shapes{at(distance), at(0)};
        return per_task + Dense<double>::syrk.cost(shapes, &arguments).flops;
    }
    [[nodiscard]] double gemm(Index near, Index updated) const {
        const GemmArguments arguments{.op_b = Op::transpose};
        const std::array shapes{at(near + updated), at(near), at(updated)};
        const double flops = Dense<double>::gemm.cost(shapes, &arguments).flops;
        return per_task + (at(updated).rank == dense_rank ? flops : flops * slowness(near, updated));
    }
    /// The rank of what is recompressed is that of the tile and of a product.
    [[nodiscard]] double slowness(Index near, Index updated) const {
        const Index its = product_rank(at(near), at(near + updated));
        const Index product = its == dense_rank ? tile_ : its;
        return slowness_of_recompression(static_cast<double>(product + at(updated).rank));
    }
    [[nodiscard]] double generation(Index distance) const {
        const auto nb = static_cast<double>(tile_);
        if (distance < band_) return per_task + per_covariance * nb * nb;
        return per_task + compression_cost(at(distance));
    }

    Index rows_, tile_, band_;
    double whole_rows_;
    std::vector<TileShape> shapes_;
};

}  // namespace

double compression_cost(const TileShape& tile) {
    const auto elements = static_cast<double>(tile.rows) * static_cast<double>(tile.cols);
    const auto nb = static_cast<double>(std::max(tile.rows, tile.cols));
    if (tile.rank == dense_rank) return per_covariance * elements + cost_of_giving_up(nb);
    // Crosses are about one and a half times the rank, and 16 rows and columns are looked at besides.
    const auto rank = static_cast<double>(tile.rank);
    const double crosses = 1.5 * rank;
    return (per_covariance + per_comparison + 2 * rank) * elements + 2 * nb * (crosses + 16) * per_covariance +
           low_rank_product_flops(nb, crosses / 2) * slowness_of_recompression(crosses);
}

double dense_cholesky_cost(Index n) {
    const auto rows = static_cast<double>(n);
    return rows * rows * rows / 3 + per_covariance * rows * rows / 2;
}

double compressed_cholesky_cost(Index n, const CompressedCut& cut, Index workers, const RankAt& rank) {
    const CutCost cost(n, cut, rank);
    const auto share = 1.0 / static_cast<double>(std::max<Index>(1, workers));
    return cost.work() * share + cost.critical_path() * (1 - share);
}

double compressed_bytes(Index n, const CompressedCut& cut, const RankAt& rank) { return CutCost(n, cut, rank).bytes(); }

CompressedCut cheapest_compressed_cut(Index n, Index workers, const RankAt& rank, const CompressedCut& given) {
    constexpr Index smallest = 64;
    constexpr Index most_rows = 200;
    constexpr Index widest_band = 4;
    std::vector<Index> sizes{given.tile};
    if (given.tile == 0) {
        sizes.clear();
        for (Index size = std::max(smallest, n / most_rows); size < n; size += size / 4) sizes.push_back(size);
        sizes.push_back(std::max<Index>(1, n));
    }
    // What a matrix is compressed for, once it is large, is memory.
    constexpr double large = 4e9;
    constexpr double allowed_share = 0.17;
    const double dense_bytes = 4 * static_cast<double>(n) * static_cast<double>(n);
    const auto takes_too_much = [&](const CompressedCut& cut) {
        return dense_bytes > large && compressed_bytes(n, cut, rank) > allowed_share * dense_bytes;
    };
    CompressedCut best{};
    bool best_too_large = true;
    double least = std::numeric_limits<double>::infinity();
    for (const Index tile : sizes)
        for (Index band = given.band > 0 ? given.band : 1; band <= (given.band > 0 ? given.band : widest_band);
             ++band) {
            const CompressedCut cut{.tile = tile, .band = band};
            const double cost = compressed_cholesky_cost(n, cut, workers, rank);
            const bool too_large = takes_too_much(cut);
            if (std::pair(too_large, cost) >= std::pair(best_too_large, least)) continue;
            best = cut;
            best_too_large = too_large;
            least = cost;
        }
    return best;
}

}  // namespace tesela
