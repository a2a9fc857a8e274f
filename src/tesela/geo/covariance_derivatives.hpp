#pragma once

#include "tesela/geo/covariance.hpp"
#include "tesela/geo/matern_derivatives.hpp"
#include "tesela/kernels/kernel.hpp"

#include <memory>
#include <optional>
#include <span>

namespace tesela {

/// A number for each parameter of a covariance: its derivatives, or a direction in which parameters change.
struct CovarianceSlopes {
    double sigma2 = 0;
    double range = 0;
    double smoothness = 0;
    double nugget = 0;
    friend bool operator==(const CovarianceSlopes&, const CovarianceSlopes&) = default;
};

/// A tile of weights A − U·Vᵀ for the covariances of one set of points. Of a tile on the diagonal of the matrix only
/// the lower triangle is read.
struct WeightedTile {
    const PointSet* points = nullptr;
    ElementIndex first{};  ///< global row and column of its first element
    Index rows = 0;
    Index cols = 0;
    const double* A = nullptr;
    Index ld = 0;
    Index vectors = 0;          ///< columns of U and V
    const double* U = nullptr;  ///< of its rows
    Index ld_u = 0;
    const double* V = nullptr;  ///< of its columns
    Index ld_v = 0;

    /// Of elements i, i + 1, … of column j.
    void weigh(Index i, Index j, std::size_t count, double* weights) const noexcept;
};

/// A tile of the covariance matrix of one set of points that a vector is to be multiplied with.
struct MultipliedTile {
    const PointSet* points = nullptr;
    ElementIndex first{};
    Index rows = 0;
    Index cols = 0;
    const double* w = nullptr;
    double* V = nullptr;  ///< a column for sigma2, range, smoothness and nugget each
    Index ld = 0;
};

/// The derivatives of a covariance in its parameters, ready to be evaluated; immutable, so threads may share it. A
/// smoothness that a family does not have has the derivative 0.
class CovarianceDerivatives {
public:
    /// Distances above max_distance are right but slow to evaluate: give PointSet::diameter_bound().
    CovarianceDerivatives(const Covariance& covariance, double max_distance);

    /// Of the covariance of two different observations at this distance: the nugget has no part in it, also at 0.
    [[nodiscard]] CovarianceSlopes operator()(double distance) const noexcept;
    /// Fills a tile of the derivative of a covariance matrix in a direction, Σ_k direction_k·∂C/∂theta_k.
    void fill_tile(const CovarianceTileRequest& request, const CovarianceSlopes& direction) const noexcept;
    /// Σ_ij (A − U·Vᵀ)(i, j)·∂C(i, j)/∂theta_k for every parameter, over a tile of a symmetric matrix of which only the
    /// lower triangle is looked at: what is off the diagonal counts twice.
    [[nodiscard]] CovarianceSlopes traces(const WeightedTile& tile) const noexcept;
    /// V(:, k) := V(:, k) + ∂C/∂theta_k·w for every parameter.
    void add_products(const MultipliedTile& tile) const noexcept;

private:
    struct Batch;
    struct Block;
    template <class Visit>
    void for_each_batch(const Block& block, Visit visit) const noexcept;
    void evaluate(std::span<const double> x, Batch& out) const noexcept;
    void correlate(std::span<const double> x, const MaternDerivativeTable::Results& out) const noexcept;

    CovarianceFamily family_;
    CovarianceParameters parameters_;
    double inverse_range_;
    std::shared_ptr<const MaternDerivativeTable> matern_;
    std::shared_ptr<const PowerTable> powers_;  // of the powered exponential family
};

/// Arguments of a kernel that writes a tile of the derivative of the covariance matrix of one set of points; what they
/// point to outlives the task. `first` is the global row and column of the tile's first element.
struct CovarianceDerivativeArguments {
    const CovarianceDerivatives* derivatives = nullptr;
    const PointSet* points = nullptr;
    ElementIndex first{};
    CovarianceSlopes direction{};
};
/// (D): D(i, j) := the derivative of the covariance of observations i and j in a direction.
extern const KernelOf<CovarianceDerivativeArguments, double> covariance_derivative_kernel;

/// Arguments of kernels that use all derivatives of such a tile.
struct CovarianceTracesArguments {
    const CovarianceDerivatives* derivatives = nullptr;
    const PointSet* points = nullptr;
    ElementIndex first{};
};
/// (A, U, V, s): s := s + CovarianceDerivatives::traces of the tile A − U·Vᵀ, s one column of 4 rows: sigma2, range,
/// smoothness, nugget.
extern const KernelOf<CovarianceTracesArguments, const double, const double, const double, double>
    covariance_traces_kernel;
/// (w, V): CovarianceDerivatives::add_products for the tile with the rows of V and as many columns as w has rows.
extern const KernelOf<CovarianceTracesArguments, const double, double> covariance_products_kernel;

}  // namespace tesela
