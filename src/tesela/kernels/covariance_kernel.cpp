#include "tesela/kernels/covariance_kernel.hpp"

namespace tesela {
namespace {

using Shapes = std::span<const TileShape>;

double elements(const TileShape& shape) { return static_cast<double>(shape.rows) * static_cast<double>(shape.cols); }

KernelResult run_covariance(const KernelCall& call) noexcept {
    const auto& args = call.args<CovarianceArguments>();
    const Tile& tile = call.tiles[0];
    args.covariance->fill_tile({.rows = args.rows,
                                .row_begin = args.first.i,
                                .row_count = tile.rows(),
                                .cols = args.cols,
                                .col_begin = args.first.j,
                                .col_count = tile.cols(),
                                .out = tile.as<double>(),
                                .ld = tile.ld,
                                .sets = args.sets});
    return {};
}

// Difference, square and sum per dimension, a square root, the scaling by the range, and a polynomial of degree 7 about
// the centre of its piece.
KernelCost cost_covariance(Shapes s, const void* arguments) noexcept {
    const auto& args = *static_cast<const CovarianceArguments*>(arguments);
    const double flops = 3 * static_cast<double>(args.rows->dimensions()) + 1 + 1 + 16;
    return {flops * elements(s[0]), sizeof(double) * elements(s[0])};
}

KernelResult run_column_squares(const KernelCall& call) noexcept {
    const Tile& a = call.tiles[0];
    auto* const sums = call.tiles[1].as<double>();
    for (Index j = 0; j < a.cols(); ++j) {
        const double* const column = a.as<double>() + j * a.ld;
        double sum = 0;
        for (Index i = 0; i < a.rows(); ++i) sum += column[i] * column[i];
        sums[j] += sum;
    }
    return {};
}

KernelCost cost_column_squares(Shapes s, const void*) noexcept {
    return {2 * elements(s[0]), sizeof(double) * (elements(s[0]) + elements(s[1]))};
}

}  // namespace

const CovarianceKernel covariance_kernel{"dcmg", cost_covariance, run_covariance};
const KernelOf<NoArguments, const double, double> column_squares_kernel{"dcolsq", cost_column_squares,
                                                                        run_column_squares};

}  // namespace tesela
