#pragma once

#include "tesela/geo/polynomial_table.hpp"

#include <cstddef>
#include <span>

namespace tesela {

/// The Matérn correlation rho(x) = 2^(1-nu)/Gamma(nu) · x^nu · K_nu(x) and its derivative, computed one by one to a few
/// units in the last place; some ten million a second. MaternTable is made from it.
class MaternFunction {
public:
    /// Above this smoothness powers of x leave the range of double; the squared exponential is the limit.
    static constexpr double max_smoothness = 50;

    struct Value {
        double rho = 1;
        double slope = 0;
    };

    /// Throws Error unless 0 < smoothness <= max_smoothness.
    explicit MaternFunction(double smoothness);

    /// rho and rho' at x > 0.
    [[nodiscard]] Value operator()(double x) const noexcept;
    [[nodiscard]] double smoothness() const { return smoothness_; }

private:
    /// K_mu(x) and x K_(mu+1)(x), both times e^scaled_by.
    struct BesselPair {
        double k_mu = 0;
        double k_mu_plus_1_times_x = 0;
        double scaled_by = 0;
    };
    [[nodiscard]] BesselPair series(double x) const noexcept;
    [[nodiscard]] BesselPair continued_fraction(double x) const noexcept;

    double smoothness_;
    double prefactor_;                // 2^(1-nu)/Gamma(nu)
    double mu_;                       // nu - steps_, or -nu for nu < 1/2: always in [-1/2, 1/2]
    int steps_;                       // of the recurrence that leads from K_(mu+1) to K_nu, plus one; 0 for nu < 1/2
    double reciprocal_gamma_plus_;    // 1/Gamma(1+mu)
    double reciprocal_gamma_minus_;   // 1/Gamma(1-mu)
    double reciprocal_gamma_slope_;   // (1/Gamma(1-mu) - 1/Gamma(1+mu)) / (2 mu)
    double reciprocal_gamma_middle_;  // (1/Gamma(1-mu) + 1/Gamma(1+mu)) / 2
    double reflection_;               // pi mu / sin(pi mu)
};

/// The Matérn correlation of one smoothness as a table of polynomials: relative error below 1e-13 (in practice 1e-14)
/// for x in [1e-10, 700] and smoothness in [0.01, 10], at well over 100 million evaluations a second. Immutable, so
/// threads may share it. Building it takes well under a millisecond for arguments to 100.
///
/// rho(0) is exactly 1. Arguments beyond x_max are right but slow (MaternFunction); make x_max the largest that
/// occurs. Where rho is below the smallest normal number (x > 700 or so) the result is 0.
class MaternTable {
public:
    /// Throws Error unless the smoothness is one that MaternFunction takes and x_max >= 0 (infinity is fine).
    MaternTable(double smoothness, double x_max);

    /// rho(x) for x >= 0; not a number for anything else.
    [[nodiscard]] double operator()(double x) const noexcept;
    /// out[i] = scale · rho(x[i]), bit for bit scale · (*this)(x[i]). `out` has room for x.size() and does not overlap
    /// x.
    void evaluate(std::span<const double> x, double scale, double* out) const noexcept;

    [[nodiscard]] double smoothness() const { return function_.smoothness(); }
    /// The largest argument that is in the table.
    [[nodiscard]] double x_max() const { return table_.end(); }
    [[nodiscard]] std::size_t bytes() const { return table_.bytes(); }

private:
    [[nodiscard]] double outside(double x) const noexcept;

    MaternFunction function_;
    PolynomialTable table_;
    double zero_from_;
};

}  // namespace tesela
