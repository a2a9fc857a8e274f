#pragma once

// How polynomials of tables are made. Private to src/tesela/kernels.

#include "tesela/base/error.hpp"
#include "tesela/geo/polynomial_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tesela::polynomials {

/// Where pieces are. In the octave [2^e, 2^(e+1)) below even_from, centres are the multiples m·2^(e-4), m = 16 … 31;
/// from there on, with its e throughout, they are m·2^(e-4), m = 16, 17, …. Piece 16 e + m has that centre, and the
/// last of an octave, m = 32, is the first of the next.
///
/// Adds pieces expand(centre, half width) until one has its centre at x_max or beyond, or expand returns none.
template <class Expand>
void add_pieces(PolynomialTable& table, double x_max, Expand expand) {
    for (double octave = table.begin();; octave *= 2) {
        const double width = octave / 16;
        const bool even = octave >= table.even_from();
        for (double centre = octave; even || centre < 2 * octave; centre += width) {
            const std::vector<PolynomialTable::Polynomial> piece = expand(centre, width / 2);
            if (piece.empty()) return;
            table.add(centre, piece);
            if (centre >= x_max) return;
        }
    }
}

/// The same of functions whose first falls to 0; returns from where on it is taken for 0.
template <class Expand>
double add_matern_pieces(PolynomialTable& table, double x_max, Expand expand) {
    if (!(x_max >= 0)) throw Error("the largest argument of a Matérn table is {}; it must not be negative", x_max);
    double zero_from = 1500;  // where x^nu e^-x of every smoothness has underflowed; the table may know better
    add_pieces(table, x_max, [&](double centre, double half_width) -> std::vector<PolynomialTable::Polynomial> {
        std::vector<PolynomialTable::Polynomial> piece = expand(centre, half_width);
        if (piece.front().coefficients[0] >= std::numeric_limits<double>::min()) return piece;
        zero_from = table.end();
        return {};
    });
    return zero_from;
}

/// Coefficients of powers of x - centre.
inline constexpr std::size_t degree = 10;
using Taylor = std::array<double, degree + 2>;

struct InitialValues {
    double smoothness;
    double centre;
    double value;
    double slope;
};

/// y of x y'' + (1 - 2 nu) y' - x y = source about the centre. With no source it is rho's equation.
inline Taylor solution(const InitialValues& at, const Taylor& source = {}) {
    Taylor a{};
    a[0] = at.value;
    a[1] = at.slope;
    for (std::size_t n = 0; n + 2 < a.size(); ++n) {
        const auto k = static_cast<double>(n);
        const double before = n > 0 ? a[n - 1] : 0;
        a[n + 2] = ((at.centre * a[n] + before + source[n]) / (k + 1) - (k + 1 - 2 * at.smoothness) * a[n + 1]) /
                   (at.centre * (k + 2));
    }
    return a;
}

/// The derivative, with the last coefficient unknown and 0.
inline Taylor derivative(const Taylor& a) {
    Taylor result{};
    for (std::size_t n = 0; n + 1 < a.size(); ++n) result[n] = static_cast<double>(n + 1) * a[n + 1];
    return result;
}

/// To degree 7, by taking off multiples of Chebyshev polynomials from degree 10 on.
inline PolynomialTable::Polynomial economised(Taylor a, double half_width) {
    // T_8, T_9, T_10 without their leading terms 2^(n-1) t^n.
    constexpr std::array<std::array<double, degree>, 3> chebyshev{{
        {1, 0, -32, 0, 160, 0, -256, 0, 0, 0},
        {0, 9, 0, -120, 0, 432, 0, -576, 0, 0},
        {-1, 0, 50, 0, -400, 0, 1120, 0, -1280, 0},
    }};
    for (std::size_t n = degree; n > 7; --n) {
        double weight = a[n] * std::ldexp(std::pow(half_width, static_cast<double>(n)), 1 - static_cast<int>(n));
        for (std::size_t k = 0; k < n; ++k, weight /= half_width) a[k] -= weight * chebyshev[n - 8][k];
    }
    PolynomialTable::Polynomial result;
    std::copy_n(a.begin(), result.coefficients.size(), result.coefficients.begin());
    return result;
}

}  // namespace tesela::polynomials
