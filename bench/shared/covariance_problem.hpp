#pragma once

#include "tesela/flow/matrix.hpp"
#include "tesela/geo/covariance.hpp"
#include "tesela/geo/tile_accuracy.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace tesela::bench {

/// A covariance matrix to be compressed and factored.
struct CovarianceProblem {
    Index n = 20000;
    CovarianceFamily family = CovarianceFamily::exponential;
    CovarianceParameters theta{.sigma2 = 1, .range = 0.1, .smoothness = 1.5, .nugget = 1e-4};
    Index dimensions = 2;
    /// Of a tile, relative to sigma2.
    double accuracy = 1e-8;
    Index band = 0;  ///< 0: as sampled ranks make it look best, where ranks are sampled; otherwise 1
    FactorPrecision precision = FactorPrecision::full;

    [[nodiscard]] Compression compression() const {
        return {.accuracy = accuracy * theta.sigma2, .dense_band = std::max<Index>(1, band), .precision = precision};
    }
};

/// Adds --n, --family, --range, --smoothness, --nugget, --dimensions, --accuracy, --band and --single.
void add_problem_options(CLI::App& command, CovarianceProblem& problem);

/// The covariances of a jittered grid in the unit square or cube, in the order of a Hilbert curve, as tasks.
class CovarianceMatrix {
public:
    explicit CovarianceMatrix(const CovarianceProblem& problem);

    /// All tiles of A that are stored.
    void generate(Stream& s, const Matrix<double>& A) const;
    [[nodiscard]] geo::FactoredCovariance factored(const Matrix<double>& L) const {
        return {covariance_, points_, L.lower()};
    }
    [[nodiscard]] const PointSet& points() const { return points_; }
    [[nodiscard]] const Covariance& covariance() const { return covariance_; }

private:
    PointSet points_;
    Covariance covariance_;
};

/// The lower triangle of a matrix of order n, on the squarest grid of nodes.
[[nodiscard]] Matrix<double> matrix_of(Stream& s, Index n, Index tile, std::optional<Compression> compression);

/// Throws Error on every node unless all have the same problem, in tiles of this size, as text.
void require_alike(Engine& engine, const CovarianceProblem& problem, const std::string& tile);

}  // namespace tesela::bench
