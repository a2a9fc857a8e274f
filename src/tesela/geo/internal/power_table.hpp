#pragma once

// The exponents of families e^-u: u = x^p, with x^p and log x by a table where p is not 1 or 2. Private to
// src/tesela/kernels.

#include "tesela/geo/covariance.hpp"
#include "tesela/geo/polynomial_table.hpp"

#include <cstdint>
#include <span>

namespace tesela {

/// Immutable, so that threads may share it.
class PowerTable {
public:
    enum class Columns : std::uint8_t { powers, powers_and_logarithms };

    /// For arguments to x_max, or to where e^-(x^power) is 0; others are right but slow.
    PowerTable(double power, double x_max, Columns columns);

    /// powers[i] = x[i]^p, at most 1e300, and logarithms[i] = log x[i], 0 where x is 0; at most PolynomialTable::batch
    /// of them. A table without logarithms leaves them alone.
    void evaluate(std::span<const double> x, double* powers, double* logarithms) const noexcept;

private:
    double power_;
    Columns columns_;
    PolynomialTable table_;
};

/// p of a family e^-u.
[[nodiscard]] double exponent_power(CovarianceFamily family, double smoothness) noexcept;

/// u[i] = x[i]^p; the powered exponential family needs its table, which also gives the logarithms if it has them.
void exponents(CovarianceFamily family, const PowerTable* table, std::span<const double> x, double* u,
               double* logarithms) noexcept;

}  // namespace tesela
