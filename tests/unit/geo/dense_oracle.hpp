#pragma once

// The Gaussian process by its textbook formulas on whole matrices in long double: what the tiled library must equal.

#include "tesela/geo/model.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace tesela::testing {

using Real = long double;

/// A whole matrix, column by column.
struct Dense2 {
    Index rows = 0;
    Index cols = 0;
    std::vector<Real> a;
    Dense2(Index m, Index n) : rows(m), cols(n), a(static_cast<std::size_t>(m * n), 0.0L) {}
    Real& operator()(Index i, Index j) { return a[static_cast<std::size_t>(i + j * rows)]; }
    Real operator()(Index i, Index j) const { return a[static_cast<std::size_t>(i + j * rows)]; }
};

inline Dense2 transposed_product(const Dense2& A, const Dense2& B) {
    Dense2 C(A.cols, B.cols);
    for (Index i = 0; i < A.cols; ++i)
        for (Index j = 0; j < B.cols; ++j)
            for (Index k = 0; k < A.rows; ++k) C(i, j) += A(k, i) * B(k, j);
    return C;
}

/// X of A·X = B by elimination with row pivoting, and log|det A|.
struct Solution {
    Dense2 X;
    Real log_determinant = 0;
};
inline Solution eliminate(Dense2 A, Dense2 B) {
    Solution result{B, 0};
    for (Index k = 0; k < A.rows; ++k) {
        Index pivot = k;
        for (Index i = k + 1; i < A.rows; ++i)
            if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
        for (Index j = 0; j < A.rows; ++j) std::swap(A(k, j), A(pivot, j));
        for (Index j = 0; j < B.cols; ++j) std::swap(B(k, j), B(pivot, j));
        result.log_determinant += std::log(std::abs(A(k, k)));
        for (Index i = k + 1; i < A.rows; ++i) {
            const Real factor = A(i, k) / A(k, k);
            for (Index j = k; j < A.rows; ++j) A(i, j) -= factor * A(k, j);
            for (Index j = 0; j < B.cols; ++j) B(i, j) -= factor * B(k, j);
        }
    }
    for (Index j = 0; j < B.cols; ++j)
        for (Index i = A.rows - 1; i >= 0; --i) {
            Real sum = B(i, j);
            for (Index k = i + 1; k < A.rows; ++k) sum -= A(i, k) * result.X(k, j);
            result.X(i, j) = sum / A(i, i);
        }
    return result;
}

/// Observations with a model and parameters.
struct DenseProcess {
    geo::Observations data;
    geo::Model model;
    CovarianceParameters theta;

    [[nodiscard]] Index n() const { return data.size(); }
    [[nodiscard]] PointSet points() const { return {model.metric, data.coordinates}; }
    [[nodiscard]] Covariance covariance() const { return {model.family, theta, model.metric, 1.0}; }

    [[nodiscard]] Dense2 sigma() const {
        Dense2 S(n(), n());
        const PointSet p = points();
        const Covariance c = covariance();
        for (Index i = 0; i < n(); ++i)
            for (Index j = 0; j < n(); ++j) S(i, j) = c(distance(p, i, p, j)) + (i == j ? theta.nugget : 0.0);
        return S;
    }
    /// 1 and the coordinates, as the trend has them.
    [[nodiscard]] Dense2 trend_at(const std::vector<std::vector<double>>& coordinates) const {
        const auto m = static_cast<Index>(coordinates[0].size());
        const Index p = model.trend == geo::Trend::none       ? 0
                        : model.trend == geo::Trend::constant ? 1
                                                              : 1 + static_cast<Index>(coordinates.size());
        Dense2 X(m, p);
        for (Index i = 0; i < m; ++i)
            for (Index k = 0; k < p; ++k)
                X(i, k) = k == 0 ? 1.0L : coordinates[static_cast<std::size_t>(k - 1)][static_cast<std::size_t>(i)];
        return X;
    }
    [[nodiscard]] Dense2 values() const {
        Dense2 z(n(), 1);
        for (Index i = 0; i < n(); ++i)
            z(i, 0) = static_cast<Real>(data.values[static_cast<std::size_t>(i)]) - static_cast<Real>(model.center);
        return z;
    }
    /// (XᵀΣ⁻¹X)⁻¹XᵀΣ⁻¹z
    [[nodiscard]] Dense2 coefficients() const {
        const Dense2 X = trend_at(data.coordinates);
        const Dense2 SX = eliminate(sigma(), X).X;
        return eliminate(transposed_product(SX, X), transposed_product(SX, values())).X;
    }
    [[nodiscard]] Dense2 residual() const {
        const Dense2 X = trend_at(data.coordinates);
        const Dense2 b = coefficients();
        Dense2 r = values();
        for (Index i = 0; i < n(); ++i)
            for (Index k = 0; k < X.cols; ++k) r(i, 0) -= X(i, k) * b(k, 0);
        return r;
    }
    [[nodiscard]] double log_likelihood() const {
        const Dense2 r = residual();
        const Solution s = eliminate(sigma(), r);
        const Real quadratic = transposed_product(r, s.X)(0, 0);
        auto degrees = static_cast<Real>(n());
        Real log_determinant = s.log_determinant;
        if (model.estimation == geo::Estimation::reml) {
            const Dense2 X = trend_at(data.coordinates);
            const Dense2 normal = transposed_product(eliminate(sigma(), X).X, X);
            degrees -= static_cast<Real>(X.cols);
            log_determinant += eliminate(normal, normal).log_determinant;
        }
        return static_cast<double>(-0.5L *
                                   (degrees * std::log(2 * std::numbers::pi_v<Real>) + log_determinant + quadratic));
    }

    struct Predicted {
        double mean = 0;
        double variance = 0;
    };
    /// Cressie, Statistics for Spatial Data, section 3.4: universal kriging of a new observation.
    [[nodiscard]] Predicted predict(const std::vector<std::vector<double>>& at, Index point) const {
        const PointSet here = points();
        const PointSet there(model.metric, at);
        const Covariance c = covariance();
        Dense2 k(n(), 1);
        for (Index i = 0; i < n(); ++i) k(i, 0) = c(distance(here, i, there, point));
        const Dense2 X = trend_at(data.coordinates);
        const Dense2 x = trend_at(at);
        const Dense2 Sk = eliminate(sigma(), k).X;
        const Dense2 b = coefficients();
        Dense2 d = transposed_product(X, Sk);
        Real mean = static_cast<Real>(model.center) + transposed_product(Sk, residual())(0, 0);
        for (Index l = 0; l < X.cols; ++l) {
            mean += x(point, l) * b(l, 0);
            d(l, 0) = x(point, l) - d(l, 0);
        }
        const Dense2 normal = transposed_product(eliminate(sigma(), X).X, X);
        const Real inflation = X.cols == 0 ? 0.0L : transposed_product(d, eliminate(normal, d).X)(0, 0);
        const Real variance = static_cast<Real>(c.variance()) - transposed_product(k, Sk)(0, 0) + inflation;
        return {static_cast<double>(mean), static_cast<double>(variance)};
    }
};

}  // namespace tesela::testing
