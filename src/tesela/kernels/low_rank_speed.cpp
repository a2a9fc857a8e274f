#include "tesela/kernels/low_rank_speed.hpp"

#include "tesela/kernels/internal/blas.hpp"
#include "tesela/kernels/internal/low_rank.hpp"
#include "tesela/kernels/low_rank_cost.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
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

/// The best of several.
template <class Work>
double seconds_of(int times, const Work& work) {
    using Clock = std::chrono::steady_clock;
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < times; ++k) {
        const auto start = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return std::max(best, 1e-9);  // clocks have a grain
}

double measured_product_flops() {
    constexpr Index inner = 128;
    std::vector<double> a = some_columns(inner, 1);
    std::vector<double> b = some_columns(inner, 2);
    std::vector<double> c(static_cast<std::size_t>(order * order));
    const double seconds = seconds_of(5, [&] {
        blas::gemm<double>({.op_b = Op::transpose}, {a.data(), order, inner, order}, {b.data(), order, inner, order},
                           {c.data(), order, order, order});
    });
    return 2.0 * order * order * inner / seconds;
}

/// Of a sum of which half the rank is left, as of a tile and a product that adds little to it.
double measured_recompression_flops(Index rank, int times) {
    constexpr double little = 1e-12;
    low_rank::Factors<double> sum{order, order, rank, some_columns(rank, 3), some_columns(rank, 4)};
    for (std::size_t k = sum.u.size() / 2; k < sum.u.size(); ++k) sum.u[k] *= little;
    const double seconds = seconds_of(times, [&] {
        low_rank::Factors<double> f = sum;
        low_rank::recompress(f, std::sqrt(little));
    });
    return low_rank_product_flops(order, static_cast<double>(rank) / 2) / seconds;
}

}  // namespace

double LowRankSpeed::recompression_at(double rank) const {
    const double clamped = std::clamp(rank, ranks.front(), ranks.back());
    std::size_t above = 1;
    while (above + 1 < ranks.size() && ranks[above] < clamped) ++above;
    const double share = std::log(clamped / ranks[above - 1]) / std::log(ranks[above] / ranks[above - 1]);
    return (1 - share) * recompression[above - 1] + share * recompression[above];
}

LowRankSpeed measure_low_rank_speed() {
    LowRankSpeed speed;
    speed.product_flops = measured_product_flops();
    for (std::size_t k = 0; k < LowRankSpeed::ranks.size(); ++k) {
        const int times = k == 0 ? 5 : 2;  // the largest takes longest
        const auto rank = static_cast<Index>(LowRankSpeed::ranks[k]);
        speed.recompression[k] = speed.product_flops / measured_recompression_flops(rank, times);
    }
    return speed;
}

}  // namespace tesela
