#include "tesela/geo/trend.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tesela::geo {
namespace {

constexpr std::size_t slot(Index i) { return static_cast<std::size_t>(i); }

bool is_interaction(const std::string& name) { return name.find(':') != std::string::npos; }

bool is_zero(const std::vector<double>& vector) {
    return std::all_of(vector.begin(), vector.end(), [](double value) { return value == 0; });
}

}  // namespace

TrendBasis::TrendBasis(const TrendFormula& formula, const Observations& observations, DependentColumns dependent)
    : formula_(formula),
      design_(formula, observations) {
    if (design_.size() > 0 && observations.size() <= design_.size() && dependent == DependentColumns::refuse)
        throw Error("the trend {} has {} coefficient{}, which {} observations do not determine; use a simpler one",
                    formula.text(), design_.size(), plural(design_.size()), observations.size());
    const SmallMatrix X = design_.matrix(observations.sites());
    choose_scales(X);
    orthogonalise(scaled(X), dependent);
}

/// To [-1, 1] where an intercept takes up the shift, to a largest absolute value of 1 otherwise.
void TrendBasis::choose_scales(const SmallMatrix& X) {
    for (Index k = 0; k < X.cols; ++k) {
        const double* column = X.values.data() + k * X.rows;
        const auto [least, most] = std::minmax_element(column, column + X.rows);
        const double low = *least;
        const double high = *most;
        const bool shifted = has_intercept() && k > 0;
        const double extent = shifted ? (high - low) / 2 : std::max(std::abs(low), std::abs(high));
        centre_.push_back(shifted ? low + (high - low) / 2 : 0);
        scale_.push_back(extent > 0 ? extent : 1);
    }
}

SmallMatrix TrendBasis::scaled(const SmallMatrix& X) const {
    SmallMatrix result = X;
    for (Index k = 0; k < X.cols; ++k)
        for (Index i = 0; i < X.rows; ++i) result(i, k) = (X(i, k) - centre_[slot(k)]) / scale_[slot(k)];
    return result;
}

/// Gram and Schmidt, twice, which is as good as Householder (Giraud et al., Numerische Mathematik 101, 2005).
void TrendBasis::orthogonalise(const SmallMatrix& scaled, DependentColumns dependent) {
    constexpr double nearly_nothing = 1e-7;  // as in R's lm()
    const Index n = scaled.rows;
    const double unit = std::sqrt(static_cast<double>(n));
    SmallMatrix R(scaled.cols, scaled.cols);
    std::vector<double> Q;
    for (Index k = 0; k < scaled.cols; ++k) {
        std::vector<double> v(scaled.values.begin() + k * n, scaled.values.begin() + (k + 1) * n);
        const double before = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
        const auto count = static_cast<Index>(kept_.size());
        std::vector<double> along(slot(count) + 1, 0.0);
        for (int pass = 0; pass < 2; ++pass)
            for (Index l = 0; l < count; ++l) {
                const double* q = Q.data() + l * n;
                const double product = std::inner_product(v.begin(), v.end(), q, 0.0) / static_cast<double>(n);
                for (Index i = 0; i < n; ++i) v[slot(i)] -= product * q[i];
                along[slot(l)] += product;
            }
        const double after = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
        if (!(after > nearly_nothing * before)) {
            if (dependent == DependentColumns::leave_out) continue;
            R_ = R;
            throw Error(explain_dependence(along, k));
        }
        along[slot(count)] = after / unit;
        for (Index l = 0; l <= count; ++l) R(l, count) = along[slot(l)];
        for (const double value : v) Q.push_back(value * unit / after);
        kept_.push_back(k);
        names_.push_back(design_.names()[slot(k)]);
    }
    R_ = SmallMatrix(size(), size());
    for (Index j = 0; j < size(); ++j)
        for (Index i = 0; i <= j; ++i) R_(i, j) = R(i, j);
    Q_ = SmallMatrix(n, size());
    Q_.values = std::move(Q);
}

/// Of a scaled column Q·along = (columns before)·R⁻¹·along: names those that it is made of.
std::string TrendBasis::explain_dependence(const std::vector<double>& along, Index k) const {
    constexpr double negligible = 1e-6;
    std::vector<double> a = along;
    std::vector<std::string> others;
    for (Index i = k - 1; i >= 0; --i) {
        for (Index j = i + 1; j < k; ++j) a[slot(i)] -= R_(i, j) * a[slot(j)];
        a[slot(i)] /= R_(i, i);
        if (std::abs(a[slot(i)]) > negligible && !(i == 0 && has_intercept())) others.push_back(names_[slot(i)]);
    }
    std::reverse(others.begin(), others.end());
    const std::string& name = design_.names()[slot(k)];
    if (formula_.kind() == Trend::linear)
        return fmt::format(
            "a linear trend cannot be told from these observations, which are on a line or in a plane ({}); use a "
            "constant trend",
            others.empty() ? name + " is the same everywhere"
                           : fmt::format("{} follows from {}", name, fmt::join(others, " and ")));
    if (is_interaction(name) && is_zero(along) && centre_[slot(k)] == 0)
        return fmt::format(
            "the trend {}: {} is 0 at every observation, as no observation has that combination; leave "
            "the interaction out, or merge levels",
            formula_.text(), name);
    if (others.empty())
        return fmt::format("the trend {}: {} is the same everywhere{}; leave it out", formula_.text(), name,
                           has_intercept() ? ", as the intercept" : "");
    return fmt::format("the trend {}: {} follows from {}{}; leave one of them out", formula_.text(), name,
                       has_intercept() ? "the intercept, " : "", fmt::join(others, ", "));
}

/// Rows of scaled·R⁻¹.
SmallMatrix TrendBasis::at(const Sites& sites) const {
    const SmallMatrix X = scaled(design_.matrix(sites));
    SmallMatrix result(X.rows, size());
    for (Index j = 0; j < size(); ++j)
        for (Index i = 0; i < X.rows; ++i) {
            double sum = X(i, kept_[slot(j)]);
            for (Index l = 0; l < j; ++l) sum -= result(i, l) * R_(l, j);
            result(i, j) = sum / R_(j, j);
        }
    return result;
}

/// T = S·R⁻¹, where S scales and shifts.
SmallMatrix TrendBasis::to_original() const {
    SmallMatrix S(size(), size());
    for (Index k = 0; k < size(); ++k) {
        const auto column = slot(kept_[slot(k)]);
        S(k, k) = 1 / scale_[column];
        if (centre_[column] != 0) S(0, k) = -centre_[column] / scale_[column];
    }
    SmallMatrix T(size(), size());
    for (Index i = 0; i < size(); ++i)
        for (Index j = 0; j < size(); ++j) {
            double sum = S(i, j);
            for (Index l = 0; l < j; ++l) sum -= T(i, l) * R_(l, j);
            T(i, j) = sum / R_(j, j);
        }
    return T;
}

LeastSquares least_squares(const SmallMatrix& gram) {
    const Index p = gram.rows - 1;
    SmallMatrix normal(p, p);
    SmallMatrix right(p, 1);
    for (Index j = 0; j < p; ++j) {
        right(j, 0) = gram(1 + j, 0);
        for (Index i = j; i < p; ++i) normal(i, j) = gram(1 + i, 1 + j);
    }
    const auto L = small_cholesky(normal, 0);
    if (!L) throw Error("the coefficients of the trend are not determined by the data; use a simpler trend");
    LeastSquares result{.coefficients = {}, .covariance = small_inverse(*L), .quadratic = gram(0, 0)};
    result.coefficients = product(result.covariance, right).values;
    for (Index k = 0; k < p; ++k) result.quadratic -= result.coefficients[slot(k)] * right(k, 0);
    return result;
}

// Of T·C·Tᵀ it is minus the logarithm, with C the coefficients' covariance in the basis; factor by factor, since the
// product has few digits where coordinates are far from 0.
double log_determinant_of_trend(const TrendBasis& basis, const LeastSquares& fit) {
    return -2 * log_abs_determinant(basis.to_original()) - log_abs_determinant(fit.covariance);
}

TrendEstimate in_original_units(const TrendBasis& basis, const LeastSquares& fit, double offset) {
    const SmallMatrix T = basis.to_original();
    SmallMatrix scaled(basis.size(), 1);
    scaled.values = fit.coefficients;
    TrendEstimate result{.names = basis.names(), .coefficients = product(T, scaled).values, .standard_errors = {}};
    if (basis.has_intercept()) result.coefficients.front() += offset;
    const SmallMatrix half = product(T, fit.covariance);
    for (Index k = 0; k < basis.size(); ++k) {
        double variance = 0;  // (T·C·Tᵀ)(k, k)
        for (Index l = 0; l < basis.size(); ++l) variance += half(k, l) * T(k, l);
        result.standard_errors.push_back(std::sqrt(std::max(0.0, variance)));
    }
    return result;
}

}  // namespace tesela::geo
