#include "tesela/kernels/gram.hpp"

namespace tesela {
namespace {

using Shapes = std::span<const TileShape>;

double elements(const TileShape& shape) { return static_cast<double>(shape.rows) * static_cast<double>(shape.cols); }

KernelResult run_square(const KernelCall& call) noexcept {
    const double c = call.args<SquareArguments>().coefficient;
    const TileSpan<double> d(call.tiles[0]);
    const TileSpan<double> sums(call.tiles[1]);
    for (Index j = 0; j < d.cols(); ++j)
        for (Index i = 0; i < d.rows(); ++i) {
            const double square = d(i, j) * d(i, j);
            sums(i, 0) += square;
            d(i, j) = c * square;
        }
    return {};
}

KernelResult run_centre(const KernelCall& call) noexcept {
    const auto& [c, n] = call.args<CentreArguments>();
    const TileSpan<const double> sums(call.tiles[0]);
    const double all = TileSpan<const double>(call.tiles[1])(0, 0);
    const TileSpan<const double> weights(call.tiles[2]);
    const TileSpan<const double> products(call.tiles[3]);
    const TileSpan<double> x(call.tiles[4]);
    for (Index j = 0; j < x.cols(); ++j) {
        const double of_rows = c / n * weights(j, 0);
        const double constant = of_rows * all / n - c / n * products(j, 0);
        for (Index i = 0; i < x.rows(); ++i) x(i, j) += constant - of_rows * sums(i, 0);
    }
    return {};
}

KernelCost cost_read(Shapes s, const void*) noexcept { return {0, sizeof(double) * elements(s[0])}; }
KernelCost cost_square(Shapes s, const void*) noexcept {
    return {3 * elements(s[0]), sizeof(double) * (elements(s[0]) + elements(s[1]))};
}
KernelCost cost_centre(Shapes s, const void*) noexcept {
    double touched = 0;
    for (const TileShape& shape : s) touched += elements(shape);
    return {3 * elements(s[4]), sizeof(double) * touched};
}

}  // namespace

const ReadKernel read_without_file{"dread", cost_read, nullptr};
const KernelOf<SquareArguments, double, double> square_kernel{"dgram", cost_square, run_square};
const KernelOf<CentreArguments, const double, const double, const double, const double, double> centre_kernel{
    "dcentre", cost_centre, run_centre};

}  // namespace tesela
