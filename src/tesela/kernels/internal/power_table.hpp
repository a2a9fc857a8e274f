#pragma once

// x^p and log x by a table. Private to src/tesela/kernels.

#include "tesela/kernels/polynomial_table.hpp"

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

}  // namespace tesela
