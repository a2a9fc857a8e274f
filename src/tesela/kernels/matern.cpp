#include "tesela/kernels/matern.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace tesela {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double checked_smoothness(double smoothness) {
    if (!(smoothness > 0 && smoothness <= MaternFunction::max_smoothness))
        throw Error(
            "smoothness is {}; the Matérn covariance needs 0 < smoothness <= {} (for a smoother field use the "
            "squared exponential)",
            smoothness, MaternFunction::max_smoothness);
    return smoothness;
}

// 1/Gamma(1+mu) = Σ c_(k+1) mu^k (Abramowitz & Stegun 6.1.34), split by parity: the even part is
// (1/Gamma(1-mu) + 1/Gamma(1+mu))/2, the odd part over -mu is (1/Gamma(1-mu) - 1/Gamma(1+mu))/(2 mu), free of
// cancellation at whole smoothness.
constexpr std::array reciprocal_gamma_even{
    1.0,
    -0.65587807152025388108,
    0.16653861138229148950,
    -0.0096219715278769735621,
    -0.0011651675918590651121,
    0.00012805028238811618615,
    -1.2504934821426706573e-6,
    -2.0563384169776071035e-7,
    5.0020076444692229301e-9,
    1.0434267116911005105e-10,
};
constexpr std::array reciprocal_gamma_odd{
    0.57721566490153286061,     -0.042002635034095235529,    -0.042197734555544336748, 0.0072189432466630995424,
    -0.00021524167411495097282, -0.000020134854780788238656, 1.1330272319816958824e-6, 6.1160951044814158179e-9,
    -1.1812745704870201446e-9,  7.782263439905071254e-12,
};

template <std::size_t N>
double horner(const std::array<double, N>& c, double x) {
    double sum = 0;
    for (std::size_t k = N; k-- > 0;) sum = sum * x + c[k];
    return sum;
}

}  // namespace

MaternFunction::MaternFunction(double smoothness)
    : smoothness_(checked_smoothness(smoothness)),
      prefactor_(std::exp2(1 - smoothness) / std::tgamma(smoothness)),
      mu_(smoothness < 0.5 ? -smoothness : smoothness - std::floor(smoothness + 0.5)),
      steps_(static_cast<int>(std::floor(smoothness + 0.5))) {
    reciprocal_gamma_middle_ = horner(reciprocal_gamma_even, mu_ * mu_);
    reciprocal_gamma_slope_ = -horner(reciprocal_gamma_odd, mu_ * mu_);
    reciprocal_gamma_plus_ = reciprocal_gamma_middle_ - mu_ * reciprocal_gamma_slope_;
    reciprocal_gamma_minus_ = reciprocal_gamma_middle_ + mu_ * reciprocal_gamma_slope_;
    reflection_ = 1 / (reciprocal_gamma_plus_ * reciprocal_gamma_minus_);  // Gamma(1+mu) Gamma(1-mu)
}

// Temme, J. Comput. Phys. 19 (1975) 324: power series for x <= 2.
MaternFunction::BesselPair MaternFunction::series(double x) const noexcept {
    const double log_term = std::numbers::ln2 - std::log(x);
    const double sigma = mu_ * log_term;
    const double sinh_ratio = sigma == 0 ? 1 : std::sinh(sigma) / sigma;
    const double power = std::exp2(mu_) * std::pow(x, -mu_);  // e^sigma, to the last bits however large sigma is
    double f =
        reflection_ * (reciprocal_gamma_slope_ * std::cosh(sigma) + reciprocal_gamma_middle_ * sinh_ratio * log_term);
    double p = 0.5 * power / reciprocal_gamma_plus_;
    double q = 0.5 / (power * reciprocal_gamma_minus_);
    double c = 1, sum = f, sum_plus_1 = p;
    for (int k = 1; k < 100; ++k) {
        f = (k * f + p + q) / (k * k - mu_ * mu_);
        p /= k - mu_;
        q /= k + mu_;
        c *= 0.25 * x * x / k;
        sum += c * f;
        sum_plus_1 += c * (p - k * f);
        if (std::abs(c * f) < 0.25 * epsilon * std::abs(sum)) break;
    }
    return {.k_mu = sum, .k_mu_plus_1_times_x = 2 * sum_plus_1, .scaled_by = 0};
}

// Steed's algorithm for the second continued fraction with Temme's sum, for x >= 2 (Thompson & Barnett, Comput. Phys.
// Commun. 47 (1987) 245).
MaternFunction::BesselPair MaternFunction::continued_fraction(double x) const noexcept {
    const double a1 = 0.25 - mu_ * mu_;
    double b = 2 * (1 + x), d = 1 / b, delta = d, h = d;
    double q_previous = 0, q = 1, c = a1, sum_q = a1, a = -a1;
    double s = 1 + sum_q * delta;
    for (int k = 2; k < 10000; ++k) {
        a -= 2 * (k - 1);
        c = -a * c / k;
        const double q_next = (q_previous - b * q) / a;
        q_previous = q;
        q = q_next;
        sum_q += c * q;
        b += 2;
        d = 1 / (b + a * d);
        delta *= b * d - 1;
        h += delta;
        s += sum_q * delta;
        if (std::abs(sum_q * delta) < 0.25 * epsilon * std::abs(s)) break;
    }
    const double k_mu = std::sqrt(std::numbers::pi / (2 * x)) / s;
    return {.k_mu = k_mu, .k_mu_plus_1_times_x = k_mu * (mu_ + x + 0.5 - a1 * h), .scaled_by = x};
}

MaternFunction::Value MaternFunction::operator()(double x) const noexcept {
    const BesselPair k = x < 2 ? series(x) : continued_fraction(x);
    // Two factors: e^-x alone would be subnormal before rho is.
    const double root_scale = std::exp(-0.5 * k.scaled_by);
    const double scale = prefactor_ * root_scale;
    // (x^nu K_nu)' = -x^nu K_(nu-1), and K_mu = K_(-mu).
    if (steps_ == 0) {
        const double power = std::pow(x, smoothness_) * scale;
        return {.rho = power * k.k_mu * root_scale, .slope = -power * (k.k_mu_plus_1_times_x / x) * root_scale};
    }
    // g_nu = x^nu K_nu obeys g_(nu+1) = x² g_(nu-1) + 2 nu g_nu: positive terms, and no overflow for small x.
    const double power = std::pow(x, mu_);
    double lower = power * k.k_mu, upper = power * k.k_mu_plus_1_times_x;
    for (int step = 1; step < steps_; ++step) {
        const double next = x * x * lower + 2 * (mu_ + step) * upper;
        lower = upper;
        upper = next;
    }
    return {.rho = scale * upper * root_scale, .slope = -scale * x * lower * root_scale};
}

// Where the pieces are. In the octave [2^e, 2^(e+1)), e < 1, centres are the multiples m·2^(e-4), m = 16 … 31; from 2
// on, with e = 1 throughout, they are the multiples m/8, m = 16, 17, …. Piece 16 e + m has that centre, and the last
// of an octave, m = 32, is the first of the next. Adding 2^(e+48) to x rounds it to the nearest centre and leaves m in
// the last bits of the sum.
namespace {

constexpr double table_begin = 0x1p-34;
constexpr double even_from = 2;
constexpr std::uint64_t exponent_mask = 0x7ff0000000000000;
constexpr int exponent_shift = 52;
constexpr int mantissa_shift = 48;

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

// Even and odd powers apart: half the latency of Horner's rule.
inline double polynomial(const double* c, double s) {
    const double s2 = s * s;
    const double even = c[0] + s2 * (c[2] + s2 * (c[4] + s2 * c[6]));
    const double odd = c[1] + s2 * (c[3] + s2 * (c[5] + s2 * c[7]));
    return even + s * odd;
}

}  // namespace

MaternTable::MaternTable(double smoothness, double x_max) : function_(smoothness) {
    if (!(x_max >= 0)) throw Error("the largest argument of a Matérn table is {}; it must not be negative", x_max);
    for (double octave = table_begin; octave < even_from; octave *= 2)
        for (int m = 16; m < 32; ++m) pieces_.push_back(expand(octave / 16 * m, octave / 32));
    for (double centre = even_from;; centre += 0.125) {
        const Piece piece = expand(centre, 0.0625);
        if (piece.c[0] < std::numeric_limits<double>::min()) {
            zero_from_ = x_max_;
            return;
        }
        pieces_.push_back(piece);
        x_max_ = centre;
        if (centre >= x_max) return;
    }
}

// Taylor coefficients about the centre from rho, rho' and the differential equation
// x rho'' + (1 - 2 nu) rho' - x rho = 0, then economised to degree 7 by taking off multiples of Chebyshev polynomials.
MaternTable::Piece MaternTable::expand(double centre, double half_width) const {
    constexpr std::size_t degree = 10;
    std::array<double, degree + 1> a{};
    const auto [rho, slope] = function_(centre);
    a[0] = rho;
    a[1] = slope;
    for (std::size_t n = 0; n + 2 <= degree; ++n) {
        const auto k = static_cast<double>(n);
        const double before = n > 0 ? a[n - 1] : 0;
        a[n + 2] = ((centre * a[n] + before) / (k + 1) - (k + 1 - 2 * smoothness()) * a[n + 1]) / (centre * (k + 2));
    }
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
    Piece piece;
    std::copy_n(a.begin(), 8, piece.c);
    return piece;
}

double MaternTable::outside(double x) const noexcept {
    if (x == 0) return 1;
    return x > zero_from_ ? 0 : function_(x).rho;
}

double MaternTable::operator()(double x) const noexcept {
    double rho = 0;
    evaluate({&x, 1}, 1, &rho);
    return rho;
}

void MaternTable::evaluate(std::span<const double> x, double scale, double* out) const noexcept {
    constexpr std::size_t batch = 256;
    constexpr auto first_bits = std::bit_cast<std::uint64_t>(table_begin);
    const auto last_bits = std::bit_cast<std::uint64_t>(x_max_);
    std::array<std::uint64_t, batch> pieces;
    std::array<double, batch> offsets;
    for (std::size_t begin = 0; begin < x.size(); begin += batch) {
        const std::size_t count = std::min(batch, x.size() - begin);
        const double* const in = x.data() + begin;
        double* const result = out + begin;
        // The bits of numbers >= 0 are ordered as the numbers are, and integers are clamped without branches.
        std::uint64_t clamped = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto bits = std::bit_cast<std::uint64_t>(in[i]);
            const std::uint64_t inside = lesser(greater(bits, first_bits), last_bits);
            const Location at = locate(inside);
            pieces[i] = at.piece;
            offsets[i] = at.offset;
            clamped |= inside ^ bits;
        }
        for (std::size_t i = 0; i < count; ++i) result[i] = scale * polynomial(pieces_[pieces[i]].c, offsets[i]);
        if (clamped == 0) continue;
        for (std::size_t i = 0; i < count; ++i)
            if (!(in[i] >= table_begin && in[i] <= x_max_)) result[i] = scale * outside(in[i]);
    }
}

}  // namespace tesela
