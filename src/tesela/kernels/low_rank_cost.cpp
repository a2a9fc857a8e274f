#include "tesela/kernels/low_rank_cost.hpp"

#include "tesela/kernels/describe.hpp"

#include <algorithm>

namespace tesela {
namespace {

bool is_whole(const TileShape& shape) { return shape.rank == dense_rank; }
double rank_of(const TileShape& shape) { return static_cast<double>(shape.rank); }
double rows_of(const TileShape& shape) { return static_cast<double>(shape.rows); }
double cols_of(const TileShape& shape) { return static_cast<double>(shape.cols); }

}  // namespace

double low_rank_addition_flops(double rank, const TileShape& to) noexcept {
    if (is_whole(to)) return 2 * elements(to) * rank;
    // 004 counts a sum of two tiles of rank k.
    return low_rank_product_flops(static_cast<double>(std::max(to.rows, to.cols)), (rank + rank_of(to)) / 2);
}

double low_rank_gemm_flops(std::span<const TileShape> shapes) noexcept {
    const TileShape& a = shapes[0];
    const TileShape& b = shapes[1];
    const TileShape& c = shapes[2];
    const double inner = c.rows > 0 ? elements(a) / rows_of(c) : 0;
    if (is_whole(a) && is_whole(b)) return 2 * inner * elements(c) + low_rank_addition_flops(0, c);
    const auto rank = static_cast<double>(product_rank(a, b));
    if (is_whole(a)) return 2 * elements(a) * rank + low_rank_addition_flops(rank, c);
    if (is_whole(b)) return 2 * elements(b) * rank + low_rank_addition_flops(rank, c);
    if (!is_whole(c)) return low_rank_addition_flops(rank, c);  // which counts the products
    // VaᵀUb, and its product with the factor that then has the lower rank.
    const double outer = a.rank <= b.rank ? cols_of(c) : rows_of(c);
    return 2 * rank_of(a) * rank_of(b) * (inner + outer) + low_rank_addition_flops(rank, c);
}

double low_rank_syrk_flops(std::span<const TileShape> shapes) noexcept {
    const TileShape& a = shapes[0];
    if (is_whole(a)) return elements(a) * rows_of(shapes[1]);
    const double rank = rank_of(a);
    return 2 * rank * rank * (rows_of(a) + cols_of(a)) + low_rank_addition_flops(rank, shapes[1]) / 2;
}

double low_rank_triangular_flops(std::span<const TileShape> shapes) noexcept {
    const TileShape& a = shapes[0];
    const TileShape& b = shapes[1];
    return is_whole(b) ? rows_of(a) * elements(b) : rows_of(a) * rows_of(a) * rank_of(b);
}

Recompression gemm_recompression(std::span<const TileShape> shapes) noexcept {
    const TileShape& c = shapes[2];
    if (is_whole(c)) return {};
    const Index product = product_rank(shapes[0], shapes[1]);
    if (product == dense_rank)
        return {.flops = low_rank_addition_flops(0, c), .rank = rank_of(c) + std::min(rows_of(c), cols_of(c))};
    const auto added = static_cast<double>(product);
    return {.flops = low_rank_addition_flops(added, c), .rank = rank_of(c) + added};
}

Recompression sum_recompression(std::span<const TileShape> shapes) noexcept {
    const TileShape& a = shapes[0];
    const TileShape& b = shapes[1];
    if (is_whole(b)) return {};
    if (is_whole(a))
        return {.flops = low_rank_addition_flops(0, b), .rank = rank_of(b) + std::min(rows_of(a), cols_of(a))};
    return {.flops = low_rank_addition_flops(rank_of(a), b), .rank = rank_of(a) + rank_of(b)};
}

double low_rank_sum_flops(std::span<const TileShape> shapes) noexcept {
    const TileShape& a = shapes[0];
    const TileShape& b = shapes[1];
    return is_whole(a) ? 2 * elements(b) + low_rank_addition_flops(0, b) : low_rank_addition_flops(rank_of(a), b);
}

}  // namespace tesela
