#pragma once

#include "tesela/apps/geo/model.hpp"

#include <span>
#include <string>
#include <vector>

namespace tesela::geo {

/// A small dense matrix, column by column.
struct SmallMatrix {
    Index rows = 0;
    Index cols = 0;
    std::vector<double> values;

    SmallMatrix() = default;
    SmallMatrix(Index m, Index n) : rows(m), cols(n), values(static_cast<std::size_t>(m * n), 0.0) {}
    [[nodiscard]] double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
    [[nodiscard]] double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

/// The functions whose unknown combination is the mean: none, 1, or 1 and each coordinate. Coordinates are shifted and
/// scaled to [-1, 1] over the observations, so that the normal equations stay well conditioned in any unit.
class TrendBasis {
public:
    /// Throws Error if a linear trend cannot be told from the observations (all on a line, or too few).
    TrendBasis(Trend trend, const Observations& observations);

    [[nodiscard]] Index size() const { return static_cast<Index>(names_.size()); }
    /// "intercept" and the names of the coordinates.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// Function k at point i of columns of coordinates as given.
    [[nodiscard]] double value(const std::vector<std::vector<double>>& coordinates, Index i, Index k) const;
    /// T of b = T·c: coefficients b of 1 and the coordinates as given from those, c, of this basis.
    [[nodiscard]] SmallMatrix to_original() const;

private:
    void require_identifiable(const Observations& observations) const;

    std::vector<std::string> names_;
    std::vector<double> centre_;
    std::vector<double> scale_;
};

/// Generalised least squares from the Gram matrix of L⁻¹·[z X] (lower triangle): coefficients c = (XᵀΣ⁻¹X)⁻¹·XᵀΣ⁻¹z,
/// their covariance (XᵀΣ⁻¹X)⁻¹, and the quadratic form zᵀΣ⁻¹z − cᵀ·XᵀΣ⁻¹z of the residual.
struct LeastSquares {
    std::vector<double> coefficients;
    SmallMatrix covariance;
    double quadratic = 0;
};
/// Throws Error if XᵀΣ⁻¹X is singular.
[[nodiscard]] LeastSquares least_squares(const SmallMatrix& gram);

/// The coefficients of a trend in the units of the data, with their standard errors.
struct TrendEstimate {
    std::vector<std::string> names;
    std::vector<double> coefficients;
    std::vector<double> standard_errors;
};
[[nodiscard]] TrendEstimate in_original_units(const TrendBasis& basis, const LeastSquares& fit, double offset);

}  // namespace tesela::geo
