#include "shared/covariance_problem.hpp"

#include "harness/choice.hpp"

#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/covariance_kernel.hpp"
#include "tesela/geo/point_order.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tesela::bench {
namespace {

/// A grid of points that are each moved by up to half a spacing, in the order of a Hilbert curve.
PointSet jittered_grid(Index n, Index dimensions) {
    const auto side =
        static_cast<Index>(std::ceil(std::pow(static_cast<double>(n), 1.0 / static_cast<double>(dimensions)) - 1e-9));
    std::vector<std::vector<double>> columns(static_cast<std::size_t>(dimensions));
    const Random random(1);
    for (Index i = 0; i < n; ++i) {
        Index cell = i;
        for (Index d = 0; d < dimensions; ++d) {
            const double moved = random.uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(d)});
            columns[static_cast<std::size_t>(d)].push_back((static_cast<double>(cell % side) + moved) /
                                                           static_cast<double>(side));
            cell /= side;
        }
    }
    const std::vector<Index> order = geo::hilbert_order(PointSet(Metric::euclidean, columns));
    for (auto& column : columns) column = geo::in_order(column, order);
    return {Metric::euclidean, std::move(columns)};
}

}  // namespace

void add_problem_options(CLI::App& command, CovarianceProblem& problem) {
    command.add_option("--n", problem.n, "Points, on a grid of which each is moved a little")->capture_default_str();
    add_choice(command, "--family", problem.family, covariance_family_names, "Covariance");
    command.add_option("--range", problem.theta.range, "Of the covariance")->capture_default_str();
    command.add_option("--smoothness", problem.theta.smoothness, "Of the covariance")->capture_default_str();
    command.add_option("--nugget", problem.theta.nugget, "Of the covariance")->capture_default_str();
    command.add_option("--dimensions", problem.dimensions, "Of the points")
        ->check(CLI::Range(1, 3))
        ->capture_default_str();
    command.add_option("--accuracy", problem.accuracy, "Of a tile, in the Frobenius norm")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--band", problem.band,
                    "Tiles nearer to the diagonal than this are stored whole (default: by sampled ranks, where ranks "
                    "are sampled, else 1)")
        ->check(CLI::PositiveNumber);
    command.add_flag_callback(
        "--single", [&problem] { problem.precision = FactorPrecision::as_needed; },
        "Store what the accuracy allows of U and V in single precision");
}

CovarianceMatrix::CovarianceMatrix(const CovarianceProblem& problem)
    : points_(jittered_grid(problem.n, problem.dimensions)),
      covariance_(problem.family, problem.theta, Metric::euclidean, points_.diameter_bound()) {}

void CovarianceMatrix::generate(Stream& s, const Matrix<double>& A) const {
    const Tiling& tiling = A.tiling();
    for (Index i = 0; i < A.tile_rows(); ++i)
        for (Index j = 0; j < A.tile_cols(); ++j) {
            if (!A.view().matrix().has({i, j})) continue;
            const CovarianceArguments arguments{.covariance = &covariance_,
                                                .rows = &points_,
                                                .cols = &points_,
                                                .first = {tiling.row_begin(i), tiling.col_begin(j)},
                                                .sets = ObservationSets::same};
            s.submit({covariance_kernel, arguments, write(A(i, j))});
        }
}

void require_alike(Engine& engine, const CovarianceProblem& problem, const std::string& tile) {
    const CovarianceParameters& theta = problem.theta;
    Digest digest;
    digest.add(std::vector{theta.sigma2, theta.range, theta.smoothness, theta.nugget, problem.accuracy});
    digest.add(std::vector{static_cast<double>(problem.n), static_cast<double>(problem.family),
                           static_cast<double>(problem.dimensions), static_cast<double>(problem.band),
                           static_cast<double>(problem.precision)});
    for (const char letter : tile) digest.add(static_cast<std::uint64_t>(letter));
    engine.require_alike("options of the matrix and its tiles", digest.value());
}

Matrix<double> matrix_of(Stream& s, Index n, Index tile, std::optional<Compression> compression) {
    const Tiling tiling = Tiling::square(n, tile);
    return {s, tiling, squarest_block_cyclic(tiling.grid(), s.engine().node_count()),
            MatrixOptions{.stored = Stored::lower, .compression = compression}};
}

}  // namespace tesela::bench
