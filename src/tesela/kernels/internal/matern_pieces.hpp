#pragma once

// How tables of functions of the Matérn family are cut into pieces, made and looked up. Private to src/tesela/kernels.

#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tesela::matern {

// Where the pieces are. In the octave [2^e, 2^(e+1)), e < 1, centres are the multiples m·2^(e-4), m = 16 … 31; from 2
// on, with e = 1 throughout, they are the multiples m/8, m = 16, 17, …. Piece 16 e + m has that centre, and the last
// of an octave, m = 32, is the first of the next. Adding 2^(e+48) to x rounds it to the nearest centre and leaves m in
// the last bits of the sum.
inline constexpr double table_begin = 0x1p-34;
inline constexpr double even_from = 2;
inline constexpr std::uint64_t exponent_mask = 0x7ff0000000000000;
inline constexpr int exponent_shift = 52;
inline constexpr int mantissa_shift = 48;

/// The arguments that a table has, and from where on rho is 0.
struct Extent {
    double x_max = 0;
    double zero_from = 1500;  // where x^nu e^-x of every smoothness has underflowed; a table may know better
};

/// Pieces by expand(centre, half width) from table_begin on, until one has its centre at x_max or beyond, or a rho[0]
/// below the normal numbers.
template <class Piece, class Expand>
Extent make_pieces(double wanted_x_max, std::vector<Piece>& pieces, Expand expand) {
    if (!(wanted_x_max >= 0))
        throw Error("the largest argument of a Matérn table is {}; it must not be negative", wanted_x_max);
    for (double octave = table_begin; octave < even_from; octave *= 2)
        for (int m = 16; m < 32; ++m) pieces.push_back(expand(octave / 16 * m, octave / 32));
    Extent extent;
    for (double centre = even_from;; centre += 0.125) {
        const Piece piece = expand(centre, 0.0625);
        if (piece.rho[0] < std::numeric_limits<double>::min()) return {extent.x_max, extent.x_max};
        pieces.push_back(piece);
        extent.x_max = centre;
        if (centre >= wanted_x_max) return extent;
    }
}

struct Location {
    std::uint64_t piece;
    double offset;  // x - centre, exact
};

inline std::uint64_t lesser(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
inline std::uint64_t greater(std::uint64_t a, std::uint64_t b) { return a > b ? a : b; }

inline Location locate(std::uint64_t x_bits) {
    constexpr std::uint64_t first = (std::bit_cast<std::uint64_t>(table_begin) >> mantissa_shift) + 16;
    const std::uint64_t exponent = lesser(x_bits, std::bit_cast<std::uint64_t>(even_from)) & exponent_mask;
    const std::uint64_t rounder_bits = exponent + (std::uint64_t{mantissa_shift} << exponent_shift);
    const auto x = std::bit_cast<double>(x_bits);
    const auto rounder = std::bit_cast<double>(rounder_bits);
    const double rounded = x + rounder;
    const std::uint64_t m = std::bit_cast<std::uint64_t>(rounded) - rounder_bits;
    return {.piece = (exponent >> mantissa_shift) + m - first, .offset = x - (rounded - rounder)};
}

/// Arguments that are looked up together.
inline constexpr std::size_t batch = 256;
struct Locations {
    std::array<std::uint64_t, batch> pieces;
    std::array<double, batch> offsets;
};

[[nodiscard]] inline bool inside(double x, double x_max) { return x >= table_begin && x <= x_max; }

/// Where at most `batch` arguments are; those outside of the table at its ends. Whether all are inside.
inline bool locate(std::span<const double> x, double x_max, Locations& at) {
    constexpr auto first_bits = std::bit_cast<std::uint64_t>(table_begin);
    const auto last_bits = std::bit_cast<std::uint64_t>(x_max);
    // The bits of numbers >= 0 are ordered as the numbers are, and integers are clamped without branches.
    std::uint64_t clamped = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(x[i]);
        const std::uint64_t within = lesser(greater(bits, first_bits), last_bits);
        const Location found = locate(within);
        at.pieces[i] = found.piece;
        at.offsets[i] = found.offset;
        clamped |= within ^ bits;
    }
    return clamped == 0;
}

/// Degree 7. Even and odd powers apart: half the latency of Horner's rule.
inline double polynomial(const double* c, double s) {
    const double s2 = s * s;
    const double even = c[0] + s2 * (c[2] + s2 * (c[4] + s2 * c[6]));
    const double odd = c[1] + s2 * (c[3] + s2 * (c[5] + s2 * c[7]));
    return even + s * odd;
}

/// Coefficients of powers of x - centre.
inline constexpr std::size_t degree = 10;
using Taylor = std::array<double, degree + 2>;
using Economised = std::array<double, 8>;

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
inline Economised economised(Taylor a, double half_width) {
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
    Economised result;
    std::copy_n(a.begin(), result.size(), result.begin());
    return result;
}

}  // namespace tesela::matern
