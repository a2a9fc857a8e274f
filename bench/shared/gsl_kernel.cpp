#include "shared/gsl_kernel.hpp"

#include "shared/bessel.hpp"

#include <cmath>

namespace tesela::bench {
namespace {

KernelResult run_gsl(const KernelCall& call) noexcept {
    const auto& args = call.args<CovarianceArguments>();
    const CovarianceParameters& theta = args.covariance->parameters();
    const Tile& tile = call.tiles[0];
    const double scale = theta.sigma2 * std::exp2(1 - theta.smoothness) / std::tgamma(theta.smoothness);
    for (Index j = 0; j < tile.cols(); ++j)
        for (Index i = 0; i < tile.rows(); ++i) {
            const Index row = args.first.i + i;
            const Index col = args.first.j + j;
            const double x = distance(*args.rows, row, *args.cols, col) / theta.range;
            double value = theta.sigma2;
            if (x > 0) value = scale * std::pow(x, theta.smoothness) * gsl_bessel_k(theta.smoothness, x);
            if (row == col) value += theta.nugget;
            tile.as<double>()[i + j * tile.ld] = value;
        }
    return {};
}
KernelCost cost_gsl(std::span<const TileShape> shapes, const void* arguments) noexcept {
    return covariance_kernel.cost(shapes, arguments);
}

}  // namespace

const CovarianceKernel gsl_kernel{"dcmg", cost_gsl, run_gsl};

}  // namespace tesela::bench
