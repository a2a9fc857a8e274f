#include "tesela/apps/geo/trend.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tesela::geo {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// L of A = L·Lᵀ by the textbook; nothing if a pivot falls below `smallest` times its diagonal element of A.
std::optional<SmallMatrix> small_cholesky(const SmallMatrix& A, double smallest) {
    SmallMatrix L(A.rows, A.rows);
    for (Index j = 0; j < A.rows; ++j) {
        for (Index i = j; i < A.rows; ++i) {
            double sum = A(i, j);
            for (Index k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
            if (i > j)
                L(i, j) = sum / L(j, j);
            else if (!(sum > smallest * A(j, j)))
                return std::nullopt;
            else
                L(j, j) = std::sqrt(sum);
        }
    }
    return L;
}

/// A⁻¹ from L, column by column.
SmallMatrix small_inverse(const SmallMatrix& L) {
    SmallMatrix inverse(L.rows, L.rows);
    for (Index c = 0; c < L.rows; ++c) {
        inverse(c, c) = 1;
        for (Index i = 0; i < L.rows; ++i) {
            for (Index k = 0; k < i; ++k) inverse(i, c) -= L(i, k) * inverse(k, c);
            inverse(i, c) /= L(i, i);
        }
        for (Index i = L.rows - 1; i >= 0; --i) {
            for (Index k = i + 1; k < L.rows; ++k) inverse(i, c) -= L(k, i) * inverse(k, c);
            inverse(i, c) /= L(i, i);
        }
    }
    return inverse;
}

SmallMatrix product(const SmallMatrix& A, const SmallMatrix& B) {
    SmallMatrix C(A.rows, B.cols);
    for (Index j = 0; j < B.cols; ++j)
        for (Index k = 0; k < A.cols; ++k)
            for (Index i = 0; i < A.rows; ++i) C(i, j) += A(i, k) * B(k, j);
    return C;
}

}  // namespace

TrendBasis::TrendBasis(Trend trend, const Observations& observations) {
    if (trend == Trend::none) return;
    names_.emplace_back("intercept");
    if (trend == Trend::constant) return;
    for (std::size_t d = 0; d < observations.coordinates.size(); ++d) {
        const auto& x = observations.coordinates[d];
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        names_.push_back(observations.coordinate_name(d));
        centre_.push_back(*low + (*high - *low) / 2);
        scale_.push_back(*high > *low ? (*high - *low) / 2 : 1);
    }
    require_identifiable(observations);
}

double TrendBasis::value(const std::vector<std::vector<double>>& coordinates, Index i, Index k) const {
    if (k == 0) return 1;
    const auto d = at(k - 1);
    return (coordinates[d][at(i)] - centre_[d]) / scale_[d];
}

void TrendBasis::require_identifiable(const Observations& observations) const {
    SmallMatrix normal(size(), size());
    for (Index i = 0; i < observations.size(); ++i)
        for (Index k = 0; k < size(); ++k)
            for (Index l = 0; l < size(); ++l)
                normal(k, l) += value(observations.coordinates, i, k) * value(observations.coordinates, i, l);
    constexpr double nearly_singular = 1e-10;
    if (observations.size() <= size() || !small_cholesky(normal, nearly_singular))
        throw Error(
            "a linear trend has {} coefficients, which {} observations{} do not determine; use a constant trend",
            size(), observations.size(), observations.size() <= size() ? "" : " on a line or in a plane");
}

SmallMatrix TrendBasis::to_original() const {
    SmallMatrix T(size(), size());
    if (size() > 0) T(0, 0) = 1;
    for (Index k = 1; k < size(); ++k) {
        T(k, k) = 1 / scale_[at(k - 1)];
        T(0, k) = -centre_[at(k - 1)] / scale_[at(k - 1)];
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
    for (Index k = 0; k < p; ++k) result.quadratic -= result.coefficients[at(k)] * right(k, 0);
    return result;
}

TrendEstimate in_original_units(const TrendBasis& basis, const LeastSquares& fit, double offset) {
    const SmallMatrix T = basis.to_original();
    SmallMatrix scaled(basis.size(), 1);
    scaled.values = fit.coefficients;
    TrendEstimate result{.names = basis.names(), .coefficients = product(T, scaled).values, .standard_errors = {}};
    if (!result.coefficients.empty()) result.coefficients.front() += offset;
    const SmallMatrix half = product(T, fit.covariance);
    for (Index k = 0; k < basis.size(); ++k) {
        double variance = 0;  // (T·C·Tᵀ)(k, k)
        for (Index l = 0; l < basis.size(); ++l) variance += half(k, l) * T(k, l);
        result.standard_errors.push_back(std::sqrt(std::max(0.0, variance)));
    }
    return result;
}

}  // namespace tesela::geo
