#include "tesela/geo/sample.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/multiply.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/fields.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/internal/cross_covariance.hpp"
#include "tesela/geo/layout.hpp"
#include "tesela/geo/likelihood.hpp"

#include <algorithm>

namespace tesela::geo {
namespace {

/// Columns of the random numbers of one seed: coordinates first, then the normals of each draw.
constexpr std::uint64_t normals_column = 3;

double normal(const std::uint64_t& seed, Index i, Index j) {
    return Random(seed).normal({static_cast<std::uint64_t>(i), normals_column + static_cast<std::uint64_t>(j)});
}

/// Draws that are multiplied together.
void generate_covariances(Stream& s, const Matrix<double>& sigma, const Covariance& covariance,
                          const PointSet& points) {
    const auto phase = s.phase("generate");
    const Tiling& tiling = sigma.tiling();
    const PriorityRule priority(Priorities::critical_path, tiling.grid().rows);
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j <= i; ++j)
            s.submit(Task(covariance_kernel,
                          {.covariance = &covariance,
                           .rows = &points,
                           .cols = &points,
                           .first = {tiling.row_begin(i), tiling.col_begin(j)},
                           .sets = ObservationSets::same},
                          write(sigma(i, j)))
                         .at(0, priority.generate({i, j})));
}

Covariance covariance_of(const Field& field, const PointSet& points) {
    CovarianceParameters theta = field.theta;
    theta.nugget += field.jitter * theta.sigma2;
    return {field.family, theta, field.metric, points.diameter_bound()};
}

}  // namespace

std::vector<std::vector<double>> random_points(Index n, std::uint64_t seed) {
    return random_points(n, seed, {.low = {0, 0}, .high = {1, 1}});
}

std::vector<std::vector<double>> random_points(Index n, std::uint64_t seed, const Box& box) {
    const Random random(seed);
    std::vector<std::vector<double>> columns(box.low.size(), std::vector<double>(static_cast<std::size_t>(n)));
    for (std::size_t d = 0; d < columns.size(); ++d)
        for (std::size_t i = 0; i < columns[d].size(); ++i)
            columns[d][i] = box.low[d] + random.uniform({i, d}) * (box.high[d] - box.low[d]);
    return columns;
}

std::vector<std::vector<double>> sample_fields(Stream& s, const Field& field,
                                               const std::vector<std::vector<double>>& coordinates,
                                               const SampleOptions& options) {
    if (options.draws < 1) throw Error("{} draws are asked for; there must be at least one", options.draws);
    const PointSet points(field.metric, coordinates);
    if (points.size() == 0) throw Error("there are no points to sample at");
    Digest digest;
    for (const auto& column : coordinates) digest.add(column);
    s.engine().require_alike("the points to sample at", digest.value());
    add_fields(digest, field);
    digest.add(options.seed);
    s.engine().require_alike("the field and the seed", digest.value());
    const Covariance covariance = covariance_of(field, points);
    const auto [tile, tiling, owners] = layout_for(s.engine(), points.size(), options.tile, options.distribution);
    const Matrix<double> sigma(s, tiling, owners, {.name = "Sigma", .stored = Stored::lower});
    const Tiling columns = tiling.with_columns(options.draws, std::min(options.draws, column_tile));
    const Distribution beside = along_diagonal(owners, columns.grid().cols);
    const Matrix<double> e(s, columns, beside, {.name = "e"});
    const Matrix<double> z(s, columns, beside, {.name = "z"});

    generate_covariances(s, sigma, covariance, points);
    generate(s, e.view(), elements_by<normal>(options.seed));
    cholesky(s, sigma);
    multiply_triangular(s, sigma.lower(), e.view(), z.view());
    const Status status = s.wait();
    if (is_numerical(status))
        throw NotPositiveDefinite(explain_not_positive_definite(
            status, {{.coordinates = coordinates, .values = {}}, points}, field.family, field.theta));
    require_done(status);
    const std::vector<double> values = gather(s, z.view());
    std::vector<std::vector<double>> draws;
    for (auto begin = values.begin(); begin != values.end(); begin += points.size()) {
        draws.emplace_back(begin, begin + points.size());
        for (double& value : draws.back()) value += field.mean;
    }
    return draws;
}

std::vector<double> sample(Stream& s, const Field& field, const std::vector<std::vector<double>>& coordinates,
                           const SampleOptions& options) {
    SampleOptions one = options;
    one.draws = 1;
    return sample_fields(s, field, coordinates, one).front();
}

}  // namespace tesela::geo
