#include "tesela/apps/geo/tile_accuracy.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/multiply.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/apps/geo/likelihood.hpp"
#include "tesela/apps/geo/point_order.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <variant>

namespace tesela::geo {
namespace {

double length_of(Stream& s, const MatrixView<double>& x, const Scalar<double>& sum) {
    dot(s, x, x, sum.view());
    return std::sqrt(gather(s, sum.view()).front());
}

}  // namespace

Observations in_hilbert_order(const Observations& observations, Metric metric) {
    const std::vector<Index> order = hilbert_order(PointSet(metric, observations.coordinates));
    Observations sorted = observations;
    for (auto& column : sorted.coordinates) column = in_order(column, order);
    sorted.values = in_order(observations.values, order);
    if (!observations.lines.empty()) sorted.lines = in_order(observations.lines, order);
    if (observations.numbers.empty())
        sorted.numbers = order;
    else
        sorted.numbers = in_order(observations.numbers, order);
    for (Covariate& covariate : sorted.covariates)
        std::visit([&](auto& values) { values = in_order(values, order); }, covariate.values);
    return sorted;
}

void multiply_covariances(Stream& s, const FactoredCovariance& of, const MatrixView<double>& X,
                          const MatrixView<double>& Y) {
    const Tiling& tiling = of.factor.matrix().tiling();
    fill(s, Y, {});
    for (Index i = 0; i < Y.tile_rows(); ++i)
        for (Index j = 0; j < X.tile_rows(); ++j)
            s.submit(Task(covariance_product_kernel,
                          CovarianceArguments{.covariance = &of.covariance,
                                              .rows = &of.points,
                                              .cols = &of.points,
                                              .first = {tiling.row_begin(i), tiling.row_begin(j)},
                                              .sets = ObservationSets::same},
                          read(X(j, 0)), read_write(Y(i, 0))));
}

double factor_residual(Stream& s, const FactoredCovariance& of, int iterations) {
    const auto phase = s.phase("residual");
    const Attachment& sigma = of.factor.matrix();
    const auto column = [&](const char* name) {
        return Matrix<double>(s, sigma.tiling().with_columns(1, 1), along_diagonal(sigma.distribution(), 1),
                              {.name = name});
    };
    const Matrix<double> x = column("x");
    const Matrix<double> y = column("y");
    const Matrix<double> z = column("z");
    const Matrix<double> r = column("r");
    const Scalar<double> sum(s);
    generate(s, x.view(), [](Index i, Index) { return Random(7).normal({static_cast<std::uint64_t>(i)}); });
    const MatrixView<double> L = of.factor.as(Part::lower);
    double norm = 0;
    for (int k = 0; k < iterations; ++k) {
        const double length = length_of(s, x.view(), sum);
        multiply_covariances(s, of, x.view(), r.view());
        multiply_triangular(s, L.transposed(), x.view(), y.view());
        multiply_triangular(s, L, y.view(), z.view());
        for (Index i = 0; i < r.tile_rows(); ++i)
            s.submit(
                Task(Dense<double>::geadd, GeaddArguments{.alpha = -1, .beta = 1}, read(z(i, 0)), read_write(r(i, 0))));
        norm = length_of(s, r.view(), sum) / length;
        if (!(norm > 0)) break;
        const double inverse = 1 / (norm * length);
        for (Index i = 0; i < r.tile_rows(); ++i)
            s.submit(
                Task(Dense<double>::geadd, GeaddArguments{.alpha = inverse, .beta = 0}, read(r(i, 0)), write(x(i, 0))));
    }
    (void)s.wait();
    return norm;
}

CompressionReport report_compression(Likelihood& likelihood, int iterations) {
    Stream& s = likelihood.stream();
    const Covariance& covariance = likelihood.covariance();
    const double residual = factor_residual(s, {covariance, likelihood.points(), likelihood.factor()}, iterations);
    const Attachment& sigma = likelihood.factor().matrix();
    return {.asked = likelihood.options().compression ? likelihood.options().compression->accuracy : 0,
            .reached = residual / covariance.parameters().sigma2,
            .refined = likelihood.refinement(),
            .ranks = summarise_ranks(tile_ranks(s, likelihood.sigma()), sigma.tiling(), Stored::lower)};
}

double helpful_accuracy(const CovarianceParameters& theta, Index tile_rows, double asked) {
    const double wanted = theta.nugget > 0 ? theta.nugget / (theta.sigma2 * static_cast<double>(tile_rows)) : asked;
    return std::pow(10, std::floor(std::log10(std::min(wanted, asked / 10))));
}

}  // namespace tesela::geo
