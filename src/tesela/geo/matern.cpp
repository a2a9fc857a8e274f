#include "tesela/geo/matern.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/internal/polynomials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

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

MaternTable::MaternTable(double smoothness, double x_max) : function_(smoothness) {
    zero_from_ = polynomials::add_matern_pieces(table_, x_max, [this](double centre, double half_width) {
        const auto [rho, slope] = function_(centre);
        return std::vector{polynomials::economised(
            polynomials::solution({.smoothness = this->smoothness(), .centre = centre, .value = rho, .slope = slope}),
            half_width)};
    });
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
    for (std::size_t begin = 0; begin < x.size(); begin += PolynomialTable::batch) {
        const std::span some = x.subspan(begin, std::min(PolynomialTable::batch, x.size() - begin));
        double* const result = out + begin;
        if (table_.evaluate(some.data(), some.size(), scale, &result)) continue;
        for (std::size_t i = 0; i < some.size(); ++i)
            if (!table_.has(some[i])) result[i] = scale * outside(some[i]);
    }
}

}  // namespace tesela
