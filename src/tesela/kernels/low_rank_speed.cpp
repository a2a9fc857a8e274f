#include "tesela/kernels/low_rank_speed.hpp"

#include "tesela/base/processor_time.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/internal/blas.hpp"
#include "tesela/kernels/low_rank_cost.hpp"
#include "tesela/kernels/owned_tile.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <random>
#include <vector>

namespace tesela {
namespace {

/// Rows and columns of the tiles that are timed: no fewer than twice the largest rank.
constexpr Index order = 448;

/// Of full rank; which numbers they are does not matter, but that they are there at once does.
std::vector<double> some_columns(Index count, unsigned seed) {
    std::minstd_rand random(seed);
    std::vector<double> elements(static_cast<std::size_t>(order * count));
    const double middle = static_cast<double>(std::minstd_rand::max()) / 2;
    for (double& element : elements) element = static_cast<double>(random()) / middle - 1;
    return elements;
}

double measured_product_flops() {
    constexpr Index inner = 128;
    std::vector<double> a = some_columns(inner, 1);
    std::vector<double> b = some_columns(inner, 2);
    std::vector<double> c(static_cast<std::size_t>(order * order));
    const double seconds = least_thread_seconds(5, [&] {
        blas::gemm<double>({.op_b = Op::transpose}, {a.data(), order, inner, order}, {b.data(), order, inner, order},
                           {c.data(), order, order, order});
    });
    return 2.0 * order * order * inner / seconds;
}

/// A tile of this rank with the norms of its columns.
void write_factors(OwnedTile& tile, Index rank, double norm, unsigned seed) {
    const std::vector<double> columns = some_columns(2 * rank, seed);
    auto* const u = static_cast<double*>(tile.replace(rank));
    if (u == nullptr) throw std::bad_alloc();
    std::ranges::transform(columns, u, [norm](double element) { return norm * element; });
}

/// C := A·Bᵀ + C with all of half this rank, of which that half is left: a product that adds little.
double measured_recompression_flops(Index rank, int times) {
    constexpr double little = 1e-12;
    const Index half = rank / 2;
    OwnedTile a(order, order, 0);
    OwnedTile b(order, order, 0);
    OwnedTile c(order, order, 1e-3);
    write_factors(a, half, little, 3);
    write_factors(b, half, 1, 4);
    const GemmArguments arguments{.op_b = Op::transpose};
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < times; ++k) {
        write_factors(c, half, 1, 5);
        const std::array tiles{a.tile(), b.tile(), c.tile()};
        KernelResult result;
        best = std::min(best, least_thread_seconds(1, [&] {
                            result = Dense<double>::gemm.cpu({.tiles = tiles, .arguments = &arguments});
                        }));
        if (result.failure != Failure::none) throw std::bad_alloc();  // for want of memory, and of nothing else
    }
    const std::array shapes{a.shape(), b.shape(), TileShape{order, order, half}};
    return low_rank_gemm_flops(shapes) / best;
}

}  // namespace

LowRankSpeed measure_low_rank_speed() {
    const int threads = set_blas_threads(1);  // as in the workers of an engine
    LowRankSpeed speed{.product_flops = measured_product_flops(),
                       .recompression = {{8, 0}, {24, 0}, {72, 0}, {192, 0}}};
    for (auto& [rank, slowness] : speed.recompression) {
        const int times = rank > 100 ? 3 : 5;  // large ones take longest
        slowness = speed.product_flops / measured_recompression_flops(static_cast<Index>(rank), times);
    }
    set_blas_threads(threads);
    return speed;
}

}  // namespace tesela
