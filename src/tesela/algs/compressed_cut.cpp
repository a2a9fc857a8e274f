#include "tesela/algs/compressed_cut.hpp"

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
namespace {

/// What it takes to compare a covariance with U·Vᵀ besides the product, in parts of what it takes to compute it.
constexpr double comparison = 0.12;

/// A tile that does not compress is given up after crosses of about a quarter of its rows, each subtracted from all
/// that follow by products with vectors, which wait for memory.
double cost_of_giving_up(double nb, const CompressedRates& rates) {
    constexpr double crosses = 0.22;
    constexpr double slowness_of_vectors = 8;
    return crosses * nb * (2 * nb * rates.per_covariance() + 2 * nb * crosses * nb * slowness_of_vectors);
}

class CutCost {
public:
    CutCost(const CompressedProblem& problem, const CompressedCut& cut)
        : rates_(problem.rates),
          crew_(static_cast<double>(std::max<Index>(1, problem.crew.workers))),
          beside_(crew_ / static_cast<double>(std::max<Index>(1, problem.crew.nodes)) - 1),
          rows_(ceil_div(problem.n, cut.tile)),
          tile_(cut.tile),
          band_(cut.band),
          whole_rows_(static_cast<double>(problem.n) / static_cast<double>(cut.tile)) {
        for (Index distance = 0; distance < rows_; ++distance) shapes_.push_back(shape(cut, distance, problem.rank));
    }
    /// Generation is shared evenly; of a step of the factorisation, which is a pivot, its panel and the updates by it,
    /// all work or what it has on the critical path, whichever takes longer. That is a pivot, a solve and an update on
    /// the diagonal, or one of the updates that a tile below it gets in every step, one after the other.
    [[nodiscard]] double makespan() const {
        double sum = 0;
        for (Index distance = 0; distance < rows_; ++distance) sum += count(distance) * generation(distance) / crew_;
        double step = potrf();  // that of the last row of tiles, which has nothing below
        double chain = step;
        for (Index below = 0; below < rows_; ++below) {
            if (below > 0) {
                step += trsm(below) + syrk(below) + updates_at(below);
                chain = potrf() + trsm(1) + syrk(1);
            }
            if (below > 1) chain = std::max(chain, gemm(1, 1));
            // The last tiles are smaller, and count as parts of whole ones.
            const double part = below + 1 < rows_ ? 1 : whole_rows_ - static_cast<double>(rows_ - 1);
            sum += part * std::max(step / crew_, chain);
        }
        return sum;
    }
    /// Of the lower triangle, before it is factored.
    [[nodiscard]] double bytes() const {
        double sum = 0;
        for (Index distance = 0; distance < rows_; ++distance)
            sum += count(distance) * static_cast<double>(stored_bytes(at(distance), sizeof(double)));
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
    [[nodiscard]] double count(Index distance) const { return whole_rows_ - static_cast<double>(distance); }
    [[nodiscard]] double potrf() const {
        const PivotArguments arguments{};
        return rates_.per_task() + Dense<double>::potrf.cost({shapes_.data(), 1}, &arguments).flops;
    }
    [[nodiscard]] double trsm(Index distance) const {
        const TriangularArguments arguments{.side = Side::right};
        const std::array shapes{at(0), at(distance)};
        return rates_.per_task() + Dense<double>::trsm.cost(shapes, &arguments).flops;
    }
    [[nodiscard]] double syrk(Index distance) const {
        const SyrkArguments arguments{};
        const std::array shapes{at(distance), at(0)};
        return rates_.per_task() + Dense<double>::syrk.cost(shapes, &arguments).flops;
    }
    /// Tile (i, j) is updated with (i, k) and (j, k): at distances i - j, i - k and j - k. Those of one k with this i -
    /// k.
    [[nodiscard]] double updates_at(Index distance) const {
        double sum = 0;
        for (Index updated = 1; updated < distance; ++updated) sum += gemm(distance - updated, updated);
        return sum;
    }
    [[nodiscard]] double gemm(Index near, Index updated) const {
        const GemmArguments arguments{.op_b = Op::transpose};
        const std::array shapes{at(near + updated), at(near), at(updated)};
        const double flops = Dense<double>::gemm.cost(shapes, &arguments).flops;
        const Recompression part = Dense<double>::gemm.recompression(shapes);
        return rates_.per_task() + flops + slowness_flops(part, rates_.low_rank.recompression) +
               std::max(0.0, beside_) * part.rank * rates_.per_lock();
    }
    [[nodiscard]] double generation(Index distance) const {
        const auto nb = static_cast<double>(tile_);
        if (distance < band_) return rates_.per_task() + rates_.per_covariance() * nb * nb;
        return rates_.per_task() + compression_cost(at(distance), rates_);
    }

    CompressedRates rates_;
    double crew_, beside_;  ///< workers, and those beside one on its node
    Index rows_, tile_, band_;
    double whole_rows_;
    std::vector<TileShape> shapes_;
};

/// About a quarter apart, from what makes 200 rows of tiles up to the whole matrix, each of as many rows as divide it
/// evenly: a last row of small tiles would be a step like the others.
std::vector<Index> even_sizes(Index n) {
    constexpr Index smallest = 64;
    constexpr Index most_rows = 200;
    std::vector<Index> sizes;
    for (Index size = std::max(smallest, n / most_rows); size < n; size += size / 4)
        sizes.push_back(ceil_div(n, ceil_div(n, size)));
    sizes.push_back(std::max<Index>(1, n));
    return sizes;
}

void check(const CompressedProblem& problem, const CompressedCut& cut = {}) {
    if (problem.n < 1) throw Error("a matrix to be cut needs rows; it has {}", problem.n);
    if (!problem.rank) throw Error("to cut a compressed matrix needs the ranks of its tiles");
    if (cut.tile < 1 || cut.band < 1)
        throw Error("tiles and bands are above 0; they are {} and {}", cut.tile, cut.band);
}

}  // namespace

double compression_cost(const TileShape& tile, const CompressedRates& rates) {
    const auto elements = static_cast<double>(tile.rows) * static_cast<double>(tile.cols);
    const auto nb = static_cast<double>(std::max(tile.rows, tile.cols));
    const double covariance = rates.per_covariance();
    if (tile.rank == dense_rank) return covariance * elements + cost_of_giving_up(nb, rates);
    // Crosses are about one and a half times the rank, and 16 rows and columns are looked at besides.
    const auto rank = static_cast<double>(tile.rank);
    const double crosses = 1.5 * rank;
    return ((1 + comparison) * covariance + 2 * rank) * elements + 2 * nb * (crosses + 16) * covariance +
           low_rank_product_flops(nb, crosses / 2) * value_at(rates.low_rank.recompression, crosses);
}

double dense_cholesky_cost(Index n, const CompressedRates& rates) {
    const auto rows = static_cast<double>(n);
    return rows * rows * rows / 3 + rates.per_covariance() * rows * rows / 2;
}

double compressed_cholesky_cost(const CompressedProblem& problem, const CompressedCut& cut) {
    check(problem, cut);
    return CutCost(problem, cut).makespan();
}

double compressed_bytes(const CompressedProblem& problem, const CompressedCut& cut) {
    check(problem, cut);
    return CutCost(problem, cut).bytes();
}

CompressedCut cheapest_compressed_cut(const CompressedProblem& problem, const CompressedCut& given) {
    check(problem);
    if (given.tile < 0 || given.band < 0)
        throw Error("a tile of {} rows or a band of {} cannot be", given.tile, given.band);
    constexpr Index widest_band = 4;
    const std::vector<Index> sizes = given.tile > 0 ? std::vector{given.tile} : even_sizes(problem.n);
    const Index first_band = given.band > 0 ? given.band : 1;
    const Index last_band = given.band > 0 ? given.band : widest_band;
    // What a matrix is compressed for, once it is large, is memory.
    constexpr double large = 4e9;
    constexpr double allowed_share = 0.17;
    const double dense_bytes = 4 * static_cast<double>(problem.n) * static_cast<double>(problem.n);
    CompressedCut best{};
    std::pair least{true, std::numeric_limits<double>::infinity()};
    for (const Index tile : sizes)
        for (Index band = first_band; band <= last_band; ++band) {
            const CutCost cost(problem, {.tile = tile, .band = band});
            const bool takes_too_much = dense_bytes > large && cost.bytes() > allowed_share * dense_bytes;
            const std::pair its{takes_too_much, cost.makespan()};
            if (its >= least) continue;
            best = {.tile = tile, .band = band};
            least = its;
        }
    return best;
}

}  // namespace tesela
