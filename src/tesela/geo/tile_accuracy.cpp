#include "tesela/geo/tile_accuracy.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/generated_product.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/point_order.hpp"

#include <cmath>
#include <variant>

namespace tesela::geo {
void validate(const TileAccuracy& accuracy) {
    if (!(accuracy.accuracy >= 0 && std::isfinite(accuracy.accuracy)))
        throw Error("the accuracy of compressed tiles must be a number of at least 0, not {}", accuracy.accuracy);
    if (accuracy.band < 1)
        throw Error("at least one diagonal of tiles, the main one, is stored whole: the band cannot be {}",
                    accuracy.band);
    if (accuracy.refine != 0 && !(accuracy.refine >= least_refinement && std::isfinite(accuracy.refine)))
        throw Error("solutions can be refined to residuals of at least {}, not {}", least_refinement, accuracy.refine);
}

void require_compressible(const CovarianceParameters& theta) {
    if (!(theta.sigma2 >= least_compressible_sigma2 && theta.sigma2 <= most_compressible_sigma2))
        throw Error(
            "sigma2 is {}, and compressed matrices take {} to {}: measure values in another unit, or use --method "
            "exact",
            theta.sigma2, least_compressible_sigma2, most_compressible_sigma2);
}

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
    return tesela::factor_residual(s, product_with(s, of), of.factor, iterations);
}

SymmetricProduct product_with(Stream& s, const FactoredCovariance& of) {
    return [&s, of](const MatrixView<double>& X, const MatrixView<double>& Y) { multiply_covariances(s, of, X, Y); };
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
