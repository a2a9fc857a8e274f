#include "tesela/kernels/matern_derivatives.hpp"

#include "tesela/kernels/internal/matern_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tesela {
namespace {

/// psi(x) = d log Gamma(x) / d x for x > 0 (Abramowitz & Stegun 6.3.5 and 6.3.18).
double digamma(double x) {
    double steps = 0;
    for (; x < 10; x += 1) steps -= 1 / x;
    const double y = 1 / (x * x);
    const double series =
        y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * 691.0 / 32760)))));
    return steps + std::log(x) - 0.5 / x - series;
}

/// d log K_mu(x) / d mu, from K_mu(x) = ∫ e^(-x cosh t) cosh(mu t) dt over t > 0 and its derivative in mu. The
/// trapezoidal rule converges exponentially for such integrands; its step follows their width, which is about
/// 1/sqrt(x) where x is large and 1/sqrt(|mu|) where that is. All is divided by the integrand's largest value, at
/// x sinh t = |mu|.
double log_bessel_slope(double mu, double x) noexcept {
    constexpr double negligible = -40;  // e^-40 is beyond the digits of a sum of about 1
    const double order = std::abs(mu);
    const double peak = std::asinh(order / x);
    const double top = order * peak - order * order / (std::hypot(x, order) + x);
    const double step = 0.7 / std::sqrt(16 + order + x);
    double value = std::exp(-top);  // half of the two terms at t = 0
    double slope = 0;
    for (double k = 1;; ++k) {
        const double t = k * step;
        const double root = std::sinh(0.5 * t);
        const double fall = -2 * x * root * root - top;
        const double rising = std::exp(order * t + fall);
        const double falling = std::exp(-order * t + fall);
        value += rising + falling;
        slope += t * (rising - falling);
        if (t > peak && order * t + fall < negligible) break;
    }
    return std::copysign(slope / value, mu);
}

}  // namespace

MaternDerivativeFunction::MaternDerivativeFunction(double smoothness)
    : function_(smoothness),
      prefactor_slope_(-std::numbers::ln2 - digamma(smoothness)) {}

// Logarithmic derivatives of rho = 2^(1-nu)/Gamma(nu) x^nu K_nu(x) and of rho' = -2^(1-nu)/Gamma(nu) x^nu K_(nu-1)(x).
MaternDerivativeFunction::Value MaternDerivativeFunction::operator()(double distance) const noexcept {
    const double x = std::max(distance, 0x1p-900);  // nobody can tell the difference, and nu/x is finite
    const auto [rho, slope] = function_(x);
    const double of_power = prefactor_slope_ + std::log(x);
    return {.rho = rho,
            .slope = slope,
            .rho_smoothness = rho * (of_power + log_bessel_slope(smoothness(), x)),
            .slope_smoothness = slope * (of_power + log_bessel_slope(smoothness() - 1, x))};
}

MaternDerivativeTable::MaternDerivativeTable(double smoothness, double x_max) : function_(smoothness) {
    const matern::Extent extent = matern::make_pieces(
        x_max, pieces_, [this](double centre, double half_width) { return expand(centre, half_width); });
    x_max_ = extent.x_max;
    zero_from_ = extent.zero_from;
}

// With q = d rho / d nu, the derivative in nu of x rho'' + (1 - 2 nu) rho' - x rho = 0 is
// x q'' + (1 - 2 nu) q' - x q = 2 rho'.
MaternDerivativeTable::Piece MaternDerivativeTable::expand(double centre, double half_width) const {
    const MaternDerivativeFunction::Value at = function_(centre);
    const double nu = function_.smoothness();
    const matern::Taylor rho =
        matern::solution({.smoothness = nu, .centre = centre, .value = at.rho, .slope = at.slope});
    const matern::Taylor slope = matern::derivative(rho);
    matern::Taylor source = slope;
    for (double& coefficient : source) coefficient *= 2;
    const matern::Taylor q = matern::solution(
        {.smoothness = nu, .centre = centre, .value = at.rho_smoothness, .slope = at.slope_smoothness}, source);
    Piece piece;
    const auto keep = [&](const matern::Taylor& series, double* coefficients) {
        std::ranges::copy(matern::economised(series, half_width), coefficients);
    };
    keep(rho, piece.rho);
    keep(slope, piece.slope);
    keep(q, piece.smoothness);
    return piece;
}

MaternDerivativeFunction::Value MaternDerivativeTable::outside(double x) const noexcept {
    if (x == 0) return {};
    if (x > zero_from_) return {.rho = 0};
    return function_(x);
}

void MaternDerivativeTable::evaluate(std::span<const double> x, const Results& out) const noexcept {
    matern::Locations at;
    for (std::size_t begin = 0; begin < x.size(); begin += matern::batch) {
        const std::span some = x.subspan(begin, std::min(matern::batch, x.size() - begin));
        const Results to{out.rho + begin, out.decline + begin, out.smoothness + begin};
        const bool all_inside = matern::locate(some, x_max_, at);
        for (std::size_t i = 0; i < some.size(); ++i) {
            const Piece& piece = pieces_[at.pieces[i]];
            to.rho[i] = matern::polynomial(piece.rho, at.offsets[i]);
            to.decline[i] = -some[i] * matern::polynomial(piece.slope, at.offsets[i]);
            to.smoothness[i] = matern::polynomial(piece.smoothness, at.offsets[i]);
        }
        if (all_inside) continue;
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (matern::inside(some[i], x_max_)) continue;
            const MaternDerivativeFunction::Value value = outside(some[i]);
            to.rho[i] = value.rho;
            to.decline[i] = value.slope == 0 ? 0 : -some[i] * value.slope;  // x may be infinite
            to.smoothness[i] = value.rho_smoothness;
        }
    }
}

}  // namespace tesela
