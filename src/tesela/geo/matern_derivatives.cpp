#include "tesela/geo/matern_derivatives.hpp"

#include "tesela/geo/internal/polynomials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

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
        if (!(t <= peak || order * t + fall >= negligible)) break;  // also where x is not a number
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
    zero_from_ = polynomials::add_matern_pieces(
        table_, x_max, [this](double centre, double half_width) { return expand(centre, half_width); });
}

// With q = d rho / d nu, the derivative in nu of x rho'' + (1 - 2 nu) rho' - x rho = 0 is
// x q'' + (1 - 2 nu) q' - x q = 2 rho'.
std::vector<PolynomialTable::Polynomial> MaternDerivativeTable::expand(double centre, double half_width) const {
    const MaternDerivativeFunction::Value at = function_(centre);
    const double nu = function_.smoothness();
    const polynomials::Taylor rho =
        polynomials::solution({.smoothness = nu, .centre = centre, .value = at.rho, .slope = at.slope});
    const polynomials::Taylor slope = polynomials::derivative(rho);
    polynomials::Taylor source = slope;
    for (double& coefficient : source) coefficient *= 2;
    const polynomials::Taylor q = polynomials::solution(
        {.smoothness = nu, .centre = centre, .value = at.rho_smoothness, .slope = at.slope_smoothness}, source);
    return {polynomials::economised(rho, half_width), polynomials::economised(slope, half_width),
            polynomials::economised(q, half_width)};
}

MaternDerivativeFunction::Value MaternDerivativeTable::outside(double x) const noexcept {
    if (x == 0) return {};
    if (x > zero_from_) return {.rho = 0};
    return function_(x);
}

void MaternDerivativeTable::evaluate(std::span<const double> x, const Results& out) const noexcept {
    for (std::size_t begin = 0; begin < x.size(); begin += PolynomialTable::batch) {
        const std::span some = x.subspan(begin, std::min(PolynomialTable::batch, x.size() - begin));
        const Results to{out.rho + begin, out.decline + begin, out.smoothness + begin};
        const std::array results{to.rho, to.decline, to.smoothness};
        const bool has_all = table_.evaluate(some.data(), some.size(), 1, results.data());
        for (std::size_t i = 0; i < some.size(); ++i) to.decline[i] *= -some[i];
        if (has_all) continue;
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (table_.has(some[i])) continue;
            const MaternDerivativeFunction::Value value = outside(some[i]);
            to.rho[i] = value.rho;
            to.decline[i] = value.slope == 0 ? 0 : -some[i] * value.slope;  // x may be infinite
            to.smoothness[i] = value.rho_smoothness;
        }
    }
}

}  // namespace tesela
