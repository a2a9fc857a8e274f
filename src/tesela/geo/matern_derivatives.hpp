#pragma once

#include "tesela/geo/matern.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tesela {

/// The Matérn correlation and its derivatives in x and in the smoothness, computed one by one; MaternDerivativeTable is
/// made from it.
class MaternDerivativeFunction {
public:
    struct Value {
        double rho = 1;
        double slope = 0;             ///< d rho / d x
        double rho_smoothness = 0;    ///< d rho / d nu
        double slope_smoothness = 0;  ///< d² rho / (d x d nu)
    };

    /// Throws Error unless the smoothness is one that MaternFunction takes.
    explicit MaternDerivativeFunction(double smoothness);

    /// At x > 0. Relative errors of rho and slope are MaternFunction's; those in the smoothness have an error of about
    /// 1e-14 of rho and of slope: they come near 0 where x does.
    [[nodiscard]] Value operator()(double x) const noexcept;
    [[nodiscard]] double smoothness() const { return function_.smoothness(); }

private:
    MaternFunction function_;
    double prefactor_slope_;  // of log(2^(1-nu)/Gamma(nu)) in nu
};

/// The same as a table of polynomials, with the pieces of MaternTable: tens of millions of evaluations a second of all
/// three. Immutable, so threads may share it. Building it takes a few milliseconds.
class MaternDerivativeTable {
public:
    /// Throws Error unless the smoothness is one that MaternFunction takes and x_max >= 0 (infinity is fine).
    MaternDerivativeTable(double smoothness, double x_max);

    /// Where results go, as many numbers as there are arguments each.
    struct Results {
        double* rho;
        double* decline;     ///< -x d rho / d x: what a longer range gains
        double* smoothness;  ///< d rho / d nu
    };
    /// At 0 these are 1, 0 and 0. Arguments beyond x_max are right but slow; where rho is below the smallest normal
    /// number all are 0. Results do not overlap x.
    void evaluate(std::span<const double> x, const Results& out) const noexcept;

private:
    [[nodiscard]] std::vector<PolynomialTable::Polynomial> expand(double centre, double half_width) const;
    [[nodiscard]] MaternDerivativeFunction::Value outside(double x) const noexcept;

    MaternDerivativeFunction function_;
    PolynomialTable table_{3};
    double zero_from_;
};

}  // namespace tesela
