#pragma once

#include "tesela/geo/covariance_derivatives.hpp"
#include "tesela/geo/likelihood.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace tesela::geo {

/// Slopes of the log-likelihood in the parameters, in the order of Parameter and on the natural scale; 0 for one that
/// the family does not have. The trend's coefficients are estimated at every point (profiled), and sigma2 carries the
/// model's jitter along.
using Gradient = std::array<double, all_parameters.size()>;

/// Derivatives of a likelihood from the factor of its last, good, evaluation, which stays as it is. Holds a matrix of
/// the size of Σ, so it is made once for many. Every node makes its own and gets the same values; 0 on engines without
/// data. All throw Error where the work itself fails (no memory).
class LikelihoodDerivatives {
public:
    /// The likelihood outlives it. Throws Error where the matrix does not fit.
    explicit LikelihoodDerivatives(Likelihood& likelihood);

    /// ∂ℓ/∂θ = −½ Σ_ij (Σ⁻¹ − w·wᵀ)_ij·∂Σ_ij/∂θ with w = Σ⁻¹(z − Xβ), and P = Σ⁻¹ − Σ⁻¹X(XᵀΣ⁻¹X)⁻¹XᵀΣ⁻¹ in place of
    /// Σ⁻¹ where the likelihood is restricted: the inverse takes twice the operations of the evaluation. `value` is
    /// what the last evaluation gave. With a `scale` s the derivatives are those at s·Σ, in parameters that are
    /// relative to s: of a likelihood whose sigma2 is profiled out, evaluated at sigma2 = 1. Throws Error if the
    /// evaluation failed.
    [[nodiscard]] Gradient gradient(const LikelihoodValue& value, double scale = 1);

    /// Expected (Fisher) information ½ tr(Σ⁻¹ ∂ᵢΣ Σ⁻¹ ∂ⱼΣ) of the covariance's parameters, P in place of Σ⁻¹ where the
    /// likelihood is restricted: a row and a column for each, on the natural scale. `value` is what the last evaluation
    /// gave. Three times the operations of the evaluation for each of range, nugget and, where
    /// the family has one, smoothness; holds one more matrix of the size of Σ for each but one of these meanwhile.
    [[nodiscard]] SmallMatrix expected_information(const LikelihoodValue& value);

    /// Average information ½ vᵢᵀ P vⱼ with vᵢ = ∂ᵢΣ·w and P = Σ⁻¹ − Σ⁻¹X(XᵀΣ⁻¹X)⁻¹XᵀΣ⁻¹ (Gilmour, Thompson and Cullis,
    /// Biometrics 51 (1995) 1440), near the mean of the expected and the observed information where observations are
    /// many, and of order n² only. Throws
    /// Error if the last evaluation failed.
    [[nodiscard]] SmallMatrix average_information(const LikelihoodValue& value, double scale = 1);

private:
    [[nodiscard]] Matrix<double> matrix_like_sigma(const char* name) const;
    [[nodiscard]] Matrix<double> single(Index rows, Index cols, const char* name) const;
    void prepare_derivatives();
    [[nodiscard]] bool restricted() const;
    void weigh_residual(const LikelihoodValue& value, double scale);
    [[nodiscard]] SmallMatrix taken_by_trend(const LikelihoodValue& value);
    void add_traces();
    void whiten_derivative(const CovarianceSlopes& direction, const Matrix<double>& A);
    void multiply_derivatives(const Matrix<double>& w, const Matrix<double>& V);

    Likelihood& likelihood_;
    Stream& stream_;
    Matrix<double> inverse_;
    Matrix<double> weights_;      // w and, where the likelihood is restricted, W with W·Wᵀ = Σ⁻¹ − P
    Matrix<double> combination_;  // of [z X]: (1, −β) and, beside it, C with C·Cᵀ = (XᵀΣ⁻¹X)⁻¹
    Matrix<double> row_sums_;     // of the traces, for each row of tiles
    Matrix<double> sums_;
    std::optional<CovarianceDerivatives> derivatives_;
};

/// Observed information: minus the second derivatives of the log-likelihood in these parameters, on the natural scale,
/// by central differences of the gradient (two gradients each; one-sided, with three, where a parameter is at the end
/// of its range). Leaves the likelihood evaluated at theta. Throws NotPositiveDefinite if an evaluation fails.
[[nodiscard]] SmallMatrix observed_information(Likelihood& likelihood, LikelihoodDerivatives& derivatives,
                                               const CovarianceParameters& theta,
                                               std::span<const Parameter> parameters);

}  // namespace tesela::geo
