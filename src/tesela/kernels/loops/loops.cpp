// Compiled once for each level of vector instructions, TESELA_VECTOR_LEVEL. Nothing that this source includes may have
// functions of its own: the linker would take those of any level for all, on processors that lack its instructions.

#include "tesela/kernels/loops.hpp"

#include <cstddef>
#include <cstdint>

namespace tesela::loops::TESELA_VECTOR_LEVEL {
namespace {

using Bits = std::uint64_t;

#define TESELA_INLINE [[gnu::always_inline]] inline

TESELA_INLINE Bits bits_of(double x) { return __builtin_bit_cast(Bits, x); }
TESELA_INLINE double number(Bits bits) { return __builtin_bit_cast(double, bits); }
/// The bits of numbers >= 0, which are ordered as the numbers are, are compared as signed integers: AVX2 can do that.
using SignedBits = std::int64_t;
TESELA_INLINE SignedBits lesser(SignedBits a, SignedBits b) { return a < b ? a : b; }
TESELA_INLINE SignedBits greater(SignedBits a, SignedBits b) { return a > b ? a : b; }

template <int dimensions>
TESELA_INLINE void distances_in(const View& view, double factor, std::size_t n, double* __restrict out) {
    const double* const x = view.points[0];
    const double* const y = view.points[1];
    const double* const z = view.points[2];
    for (std::size_t i = 0; i < n; ++i) {
        const double dx = x[i] - view.origin[0];
        double squares = dx * dx;
        if constexpr (dimensions > 1) {
            const double dy = y[i] - view.origin[1];
            squares += dy * dy;
        }
        if constexpr (dimensions > 2) {
            const double dz = z[i] - view.origin[2];
            squares += dz * dz;
        }
        out[i] = __builtin_sqrt(squares) * factor;
    }
}

TESELA_INLINE void distances_in_many(const View& view, double factor, std::size_t n, double* __restrict out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = 0;
    for (std::size_t k = 0; k < view.dimensions; ++k) {
        const double* const x = view.points[k];
        const double from = view.origin[k];
        for (std::size_t i = 0; i < n; ++i) out[i] += (x[i] - from) * (x[i] - from);
    }
    for (std::size_t i = 0; i < n; ++i) out[i] = __builtin_sqrt(out[i]) * factor;
}

void distances(const View& view, double factor, std::size_t n, double* out) {
    switch (view.dimensions) {
        case 1: return distances_in<1>(view, factor, n, out);
        case 2: return distances_in<2>(view, factor, n, out);
        case 3: return distances_in<3>(view, factor, n, out);
        default: return distances_in_many(view, factor, n, out);
    }
}

/// asin x for 0 <= x <= 1: asin s = s + s z P(z) with z = s^2 <= 1/4, where P is interpolated in Chebyshev's points
/// with an error of 5e-18; beyond 1/2, asin x = pi/2 - 2 asin s with z = (1 - x)/2.
TESELA_INLINE double arcsine(double x) {
    constexpr double half_pi = 0x1.921fb54442d18p0, half_pi_rest = 0x1.1a62633145c07p-54;
    const double z = x > 0.5 ? 0.5 - 0.5 * x : x * x;
    const double s = x > 0.5 ? __builtin_sqrt(z) : x;
    const double z2 = z * z, z4 = z2 * z2;
    const double low =
        (0x1.5555555555556p-3 + z * 0x1.3333333332ecap-4) + z2 * (0x1.6db6db6e31f13p-5 + z * 0x1.f1c71c1db0623p-6);
    const double middle =
        (0x1.6e8bb1c8209a2p-6 + z * 0x1.1c4d35cf95421p-6) + z2 * (0x1.c9cf07674736ap-7 + z * 0x1.782651caa6547p-7);
    const double high = (0x1.52420b04b37bep-7 + z * 0x1.65a9c4dfcf8b2p-8) +
                        z2 * (0x1.1d189408314eep-6 - z * 0x1.e6aaa8a0a04ccp-7) + z4 * 0x1.d72b2bc8155f8p-6;
    const double past = s * z * (low + z4 * (middle + z4 * high));
    return x > 0.5 ? half_pi - (2 * s + (2 * past - half_pi_rest)) : s + past;
}

void arcs(double diameter, double factor, std::size_t n, double* x) {
    for (std::size_t i = 0; i < n; ++i) {
        const double ratio = x[i] / diameter;
        x[i] = diameter * arcsine(ratio > 1 ? 1 : ratio) * factor;
    }
}

/// Where arguments are in a table.
struct Places {
    Bits pieces[batch];
    double offsets[batch];  // x - centre, exact
};

/// Whether none of them had to be moved to an end of the table. Adding 2^(e+48) to an x of octave e rounds it to the
/// nearest centre and leaves the number of its piece in the last bits of the sum.
TESELA_INLINE bool locate(const Pieces& table, const double* __restrict x, std::size_t n, Places& __restrict at) {
    constexpr Bits exponent = 0x7ff0000000000000;
    const auto first_bits = static_cast<SignedBits>(bits_of(table.begin));
    const auto last_bits = static_cast<SignedBits>(bits_of(table.end));
    const auto even_bits = static_cast<SignedBits>(bits_of(table.even_from));
    const Bits first = (bits_of(table.begin) >> 48) + 16;
    // Integers are clamped without branches.
    Bits moved = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto bits = static_cast<SignedBits>(bits_of(x[i]));
        const SignedBits clamped = lesser(greater(bits, first_bits), last_bits);
        const auto within = static_cast<Bits>(clamped);
        const Bits octave = static_cast<Bits>(lesser(clamped, even_bits)) & exponent;
        const Bits rounder = octave + (Bits{48} << 52);
        const double rounded = number(within) + number(rounder);
        at.pieces[i] = (octave >> 48) + (bits_of(rounded) - rounder) - first;
        at.offsets[i] = number(within) - (rounded - number(rounder));
        moved |= within ^ static_cast<Bits>(bits);
    }
    return moved == 0;
}

using Pair [[gnu::vector_size(16)]] = double;
using TwoPairs [[gnu::vector_size(32)]] = double;

TESELA_INLINE const Pair* pairs(const double* coefficients) {
    return static_cast<const Pair*>(__builtin_assume_aligned(coefficients, 64));
}

/// Degree 7: even and odd powers beside each other.
TESELA_INLINE double polynomial(const double* coefficients, double s) {
    const Pair* const c = pairs(coefficients);
    const double s2 = s * s;
    const Pair squares{s2, s2};
    const Pair sums = c[0] + squares * (c[1] + squares * (c[2] + squares * c[3]));
    return sums[0] + s * sums[1];
}

/// The same of two polynomials at an argument each.
TESELA_INLINE void two_polynomials(const double* first, const double* second, const double* s, double factor,
                                   double* out) {
    const Pair* const a = pairs(first);
    const Pair* const b = pairs(second);
    const double s2 = s[0] * s[0], t2 = s[1] * s[1];
    const TwoPairs squares{s2, s2, t2, t2};
    TwoPairs sums = __builtin_shufflevector(a[3], b[3], 0, 1, 2, 3);
    for (int k = 2; k >= 0; --k) sums = __builtin_shufflevector(a[k], b[k], 0, 1, 2, 3) + squares * sums;
    out[0] = factor * (sums[0] + s[0] * sums[1]);
    out[1] = factor * (sums[2] + s[1] * sums[3]);
}

template <std::size_t polynomials>
TESELA_INLINE bool evaluate_several(const Pieces& table, const double* x, std::size_t n, double factor,
                                    double* const* out) {
    Places at;
    const bool all = locate(table, x, n, at);
    const double* const coefficients = table.coefficients;
    double* results[polynomials];
    for (std::size_t p = 0; p < polynomials; ++p) results[p] = out[p];
    const auto piece_of = [&](std::size_t i) { return coefficients + at.pieces[i] * (8 * polynomials); };
    std::size_t i = 0;
    for (; i + 1 < n; i += 2)
        for (std::size_t p = 0; p < polynomials; ++p)
            two_polynomials(piece_of(i) + 8 * p, piece_of(i + 1) + 8 * p, at.offsets + i, factor, results[p] + i);
    if (i < n) {
        const double* const piece = piece_of(i);
        for (std::size_t p = 0; p < polynomials; ++p) results[p][i] = factor * polynomial(piece + 8 * p, at.offsets[i]);
    }
    return all;
}

bool evaluate(const Pieces& table, const double* x, std::size_t n, double factor, double* const* out) {
    switch (table.polynomials) {
        case 1: return evaluate_several<1>(table, x, n, factor, out);
        case 2: return evaluate_several<2>(table, x, n, factor, out);
        default: return evaluate_several<3>(table, x, n, factor, out);
    }
}

/// e^-x = 2^k e^(r + rest) with |r| <= log(2)/2. k·log(2) is taken off in two parts, the first of which has so few
/// digits that its product with k is exact.
TESELA_INLINE double exponential(double x) {
    constexpr double per_octave = 0x1.71547652b82fep0;  // 1/log(2)
    constexpr double rounder = 0x1.8p52;                // leaves whole numbers in the last bits of a sum
    constexpr double log2_first = 0x1.62e42feep-1, log2_rest = 0x1.a39ef35793c76p-33;
    constexpr double zero_from = 0x1.6232bdd7abcd2p9;  // e^-x is the smallest normal number
    const double rounded = rounder - x * per_octave;
    const double k = rounded - rounder;
    const double near = -x - k * log2_first, beyond = k * log2_rest;
    const double r = near - beyond;
    const double rest = (near - r) - beyond;
    // Σ r^n/n! to n = 13, with an error of 4e-18.
    const double r2 = r * r, r4 = r2 * r2;
    const double low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    const double middle = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    const double high = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
    const double sum = 1 + r;
    const double mantissa = sum + ((1 - sum + r) + (rest + r2 * (low + r4 * (middle + r4 * high))));
    const double power = number((bits_of(rounded) + 1023) << 52);
    return x > zero_from ? 0 : power * mantissa;
}

void exponentials(const double* x, std::size_t n, double factor, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = factor * exponential(x[i]);
}

void add(double factor, const double* __restrict x, std::size_t n, double* __restrict y) {
    for (std::size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/// Sums side by side, as many as there is room for in a few registers of the widest level.
constexpr std::size_t lanes = 16;
struct Lanes {
    double sums[lanes] = {};
    TESELA_INLINE double total() {
        for (std::size_t half = lanes / 2; half > 0; half /= 2)
            for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
        return sums[0];
    }
};

/// Calls add(k, i) for all i < n, with lane k.
template <class Add>
TESELA_INLINE void by_lanes(std::size_t n, Add add) {
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t k = 0; k < lanes; ++k) add(k, i + k);
    for (std::size_t k = 0; i < n; ++i, ++k) add(k, i);
}

template <class T>
TESELA_INLINE double dot_of(const T* x, const T* y, std::size_t n) {
    Lanes at;
    by_lanes(
        n, [&](std::size_t k, std::size_t i) { at.sums[k] += static_cast<double>(x[i]) * static_cast<double>(y[i]); });
    return at.total();
}

double dot(const double* x, const double* y, std::size_t n) { return dot_of(x, y, n); }
double squares(const double* x, std::size_t n) { return dot_of(x, x, n); }
double squares_of_singles(const float* x, std::size_t n) { return dot_of(x, x, n); }

Moments moments(const double* w, const double* x, std::size_t n) {
    Lanes first, second;
    by_lanes(n, [&](std::size_t k, std::size_t i) {
        const double product = w[i] * x[i];
        first.sums[k] += product;
        second.sums[k] += product * x[i];
    });
    return {first.total(), second.total()};
}

void half_squares(const double* x, std::size_t n, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = -0.5 * x[i] * x[i];
}

double bordered_squares(const Bordered& column, std::size_t n) {
    const double *const h = column.h, *const factors = column.factors, *const u = column.u, *const v = column.v;
    const double first = column.first, second = column.second;
    Lanes at;
    by_lanes(n, [&](std::size_t k, std::size_t i) {
        const double a = factors[i] * (h[i] + u[i] * first + v[i] * second);
        at.sums[k] += a * a;
    });
    return at.total();
}

void decline(double factor, const double* __restrict rho, std::size_t n, double* __restrict u,
             double* __restrict logarithms) {
    for (std::size_t i = 0; i < n; ++i) {
        const double falling = (u[i] < 1e300 ? u[i] : 1e300) * rho[i];
        logarithms[i] *= -falling;
        u[i] = factor * falling;
    }
}

void combine(const double (&factors)[3], const double* const (&x)[3], std::size_t n, double* __restrict out) {
    const double a = factors[0], b = factors[1], c = factors[2];
    const double *const first = x[0], *const second = x[1], *const third = x[2];
    for (std::size_t i = 0; i < n; ++i) out[i] = a * first[i] + b * second[i] + c * third[i];
}

}  // namespace

constinit const Functions functions{
    distances,          arcs,         evaluate,         exponentials, add,    dot, moments, squares,
    squares_of_singles, half_squares, bordered_squares, decline,      combine};

}  // namespace tesela::loops::TESELA_VECTOR_LEVEL
