#pragma once

#include "tesela/geo/small_matrix.hpp"
#include "tesela/geo/trend_design.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tesela::geo {

/// What becomes of a column of the model matrix that follows from those before it: an Error, or it is left out, as from
/// a part of the observations where not every level of a factor occurs.
enum class DependentColumns : std::uint8_t { refuse, leave_out };

/// The functions whose unknown combination is the mean: those of a TrendDesign, shifted (if there is an intercept),
/// scaled and orthogonalised over the observations, so that the normal equations stay well conditioned in any unit.
class TrendBasis {
public:
    /// Throws Error if the coefficients cannot be told from the observations: too few, or a column that follows from
    /// others, which it names.
    TrendBasis(const TrendFormula& formula, const Observations& observations,
               DependentColumns dependent = DependentColumns::refuse);

    [[nodiscard]] Index size() const { return static_cast<Index>(names_.size()); }
    /// Of the coefficients: see TrendDesign::names().
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] bool has_intercept() const { return design_.has_intercept(); }
    /// The functions at the observations, a column for each.
    [[nodiscard]] const SmallMatrix& at_observations() const { return Q_; }
    /// The same at other places.
    [[nodiscard]] SmallMatrix at(const Sites& sites) const;
    /// T of b = T·c: coefficients b of the columns of the design from those, c, of this basis.
    [[nodiscard]] SmallMatrix to_original() const;

private:
    void choose_scales(const SmallMatrix& X);
    [[nodiscard]] SmallMatrix scaled(const SmallMatrix& X) const;
    void orthogonalise(const SmallMatrix& scaled, DependentColumns dependent);
    [[nodiscard]] std::string explain_dependence(const std::vector<double>& column, Index k) const;

    TrendFormula formula_;
    TrendDesign design_;
    std::vector<double> centre_;  ///< per column of the design
    std::vector<double> scale_;
    std::vector<Index> kept_;  ///< columns of the design that are not left out
    SmallMatrix Q_;            ///< scaled columns that are kept = Q·R, columns of Q have length √n
    SmallMatrix R_;
    std::vector<std::string> names_;
};

/// Generalised least squares from the Gram matrix of L⁻¹·[z X] (lower triangle): coefficients c = (XᵀΣ⁻¹X)⁻¹·XᵀΣ⁻¹z,
/// their covariance (XᵀΣ⁻¹X)⁻¹, and the quadratic form zᵀΣ⁻¹z − cᵀ·XᵀΣ⁻¹z of the residual.
struct LeastSquares {
    std::vector<double> coefficients;
    SmallMatrix covariance;
    double quadratic = 0;
};
/// log det XᵀΣ⁻¹X with the functions in the units of the data.
[[nodiscard]] double log_determinant_of_trend(const TrendBasis& basis, const LeastSquares& fit);
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
