#include "tesela/geo/internal/power_table.hpp"

#include "tesela/geo/internal/polynomials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela {
namespace {

using polynomials::Taylor;

/// x^p = Σ binom(p, k)·c^(p-k)·(x - c)^k
Taylor power_series(double power, double centre) {
    Taylor a{};
    a[0] = std::pow(centre, power);
    for (std::size_t k = 0; k + 1 < a.size(); ++k)
        a[k + 1] = a[k] * (power - static_cast<double>(k)) / (static_cast<double>(k + 1) * centre);
    return a;
}

/// log x = log c - Σ (-(x - c)/c)^k / k
Taylor logarithm_series(double centre) {
    Taylor a{};
    a[0] = std::log(centre);
    double factor = -1;
    for (std::size_t k = 1; k < a.size(); ++k) a[k] = (factor /= -centre) / static_cast<double>(k);
    return a;
}

}  // namespace

PowerTable::PowerTable(double power, double x_max, Columns columns)
    : power_(power),
      columns_(columns),
      table_(columns == Columns::powers ? 1 : 2, std::numeric_limits<double>::infinity()) {
    constexpr double largest = 750;         // e^-750 is below the smallest number
    constexpr double last_centre = 0x1p64;  // powers of pieces' widths that are much larger overflow
    polynomials::add_pieces(table_, x_max,
                            [&](double centre, double half_width) -> std::vector<PolynomialTable::Polynomial> {
                                const Taylor powers = power_series(power, centre);
                                if (powers[0] > largest || centre > last_centre) return {};
                                std::vector piece{polynomials::economised(powers, half_width)};
                                if (columns == Columns::powers_and_logarithms)
                                    piece.push_back(polynomials::economised(logarithm_series(centre), half_width));
                                return piece;
                            });
}

void PowerTable::evaluate(std::span<const double> x, double* powers, double* logarithms) const noexcept {
    const std::array results{powers, logarithms};
    if (table_.evaluate(x.data(), x.size(), 1, results.data())) return;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (table_.has(x[i])) continue;
        powers[i] = x[i] == 0 ? 0 : std::min(std::pow(x[i], power_), 1e300);
        if (columns_ == Columns::powers_and_logarithms)
            logarithms[i] = x[i] == 0 ? 0 : std::log(std::min(x[i], std::numeric_limits<double>::max()));
    }
}

double exponent_power(CovarianceFamily family, double smoothness) noexcept {
    switch (family) {
        case CovarianceFamily::squared_exponential: return 2;
        case CovarianceFamily::powered_exponential: return smoothness;
        case CovarianceFamily::matern:
        case CovarianceFamily::exponential: break;
    }
    return 1;
}

void exponents(CovarianceFamily family, const PowerTable* table, std::span<const double> x, double* u,
               double* logarithms) noexcept {
    if (table != nullptr)
        table->evaluate(x, u, logarithms);
    else if (exponent_power(family, 1) == 2)
        std::ranges::transform(x, u, [](double one) { return one * one; });
    else
        std::ranges::copy(x, u);
}

}  // namespace tesela
