#pragma once

// Covariance matrices of points, with tiles of low rank, on any engine: the oracle is the matrix itself.

#include "support/lapack.hpp"
#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace tesela::testing {

enum class Decay { exponential, matern_three_halves, squared_exponential };

struct CompressedCase {
    Index n = 100;
    Index tile = 20;
    Index dimensions = 2;
    Decay decay = Decay::exponential;
    double accuracy = 1e-6;
    Index dense_band = 1;
    FactorPrecision precision = FactorPrecision::full;
    std::uint64_t seed = 1;
    FactorOptions factor{};

    [[nodiscard]] std::string name() const {
        return fmt::format("n={} tile={} {}D decay {} accuracy={} band={} precision={} seed={} diagonal_tile={}", n,
                           tile, dimensions, static_cast<int>(decay), accuracy, dense_band, static_cast<int>(precision),
                           seed, factor.diagonal_tile);
    }
    /// As the matrix stays positive definite with.
    [[nodiscard]] double nugget() const { return std::max(10 * accuracy, 1e-10); }
};

/// Random points of the unit cube in the order of their Morton keys, and what falls with their distance.
class CovarianceOfPoints {
public:
    explicit CovarianceOfPoints(const CompressedCase& of) : case_(of) {
        for (Index i = 0; i < of.n; ++i) {
            std::array<double, 3> point{};
            for (Index d = 0; d < of.dimensions; ++d)
                point[static_cast<std::size_t>(d)] =
                    Random(of.seed).uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(d)});
            points_.push_back(point);
        }
        std::ranges::sort(points_, {}, key);
    }
    double operator()(Index i, Index j) const {
        double squares = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            const double apart = points_[static_cast<std::size_t>(i)][d] - points_[static_cast<std::size_t>(j)][d];
            squares += apart * apart;
        }
        const double h = std::sqrt(squares) / range;
        const double nugget = i == j ? case_.nugget() : 0;
        switch (case_.decay) {
            case Decay::exponential: return std::exp(-h) + nugget;
            case Decay::matern_three_halves: return (1 + h) * std::exp(-h) + nugget;
            case Decay::squared_exponential: break;
        }
        return std::exp(-h * h) + nugget;
    }
    /// All elements, column by column.
    [[nodiscard]] std::vector<double> dense() const {
        std::vector<double> all;
        for (Index j = 0; j < case_.n; ++j)
            for (Index i = 0; i < case_.n; ++i) all.push_back((*this)(i, j));
        return all;
    }

private:
    static constexpr double range = 0.2;
    static std::uint64_t key(const std::array<double, 3>& point) {
        std::uint64_t bits = 0;
        for (int bit = 9; bit >= 0; --bit)
            for (const double x : point)
                bits = bits << 1U | (static_cast<std::uint64_t>(x * 1024) >> static_cast<unsigned>(bit) & 1U);
        return bits;
    }
    CompressedCase case_;
    std::vector<std::array<double, 3>> points_;
};

/// The largest singular value of a symmetric matrix of order n, by power iterations.
inline double spectral_norm(const std::vector<double>& a, Index n) {
    std::vector<double> x(static_cast<std::size_t>(n), 1);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.1 * Random(3).normal({i});
    double norm = 0;
    for (int round = 0; round < 40; ++round) {
        std::vector<double> y(x.size(), 0);
        for (std::size_t j = 0; j < x.size(); ++j)
            for (std::size_t i = 0; i < x.size(); ++i) y[i] += a[i + j * x.size()] * x[j];
        norm = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
        if (norm == 0) return 0;
        for (double& value : y) value /= norm;
        x = std::move(y);
    }
    return norm;
}

/// Errors over what is allowed: at most 1 means right.
struct CompressedErrors {
    double generated = 0;  ///< ‖Aᵢⱼ − stored‖ of a tile, in the Frobenius norm, over the accuracy
    double factor = 0;     ///< ‖A − L·Lᵀ‖₂ over 10·accuracy·√NT
    [[nodiscard]] double worst() const { return std::max(generated, factor); }
};

inline MatrixOptions compressed_options(const CompressedCase& c, std::string name, Stored stored) {
    return {.name = std::move(name),
            .stored = stored,
            .compression = Compression{.accuracy = c.accuracy, .dense_band = c.dense_band, .precision = c.precision}};
}

inline double rounding_of(const CompressedCase& c) {
    return 100 * static_cast<double>(c.n) * std::numeric_limits<double>::epsilon();
}

inline double largest_tile_error(const std::vector<double>& a, const std::vector<double>& b, const Tiling& tiling) {
    const auto n = static_cast<std::size_t>(tiling.row_cuts().back());
    double worst = 0;
    for (Index ti = 0; ti < tiling.grid().rows; ++ti)
        for (Index tj = 0; tj <= ti; ++tj) {
            double squares = 0;
            for (Index j = tiling.col_begin(tj); j < tiling.col_begin(tj) + tiling.cols(tj); ++j)
                for (Index i = tiling.row_begin(ti); i < tiling.row_begin(ti) + tiling.rows(ti); ++i) {
                    if (i < j) continue;
                    const std::size_t at = static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * n;
                    squares += (a[at] - b[at]) * (a[at] - b[at]);
                }
            if (!std::isfinite(squares)) return std::numeric_limits<double>::infinity();
            worst = std::max(worst, std::sqrt(squares));
        }
    return worst;
}

/// ‖A − L·Lᵀ‖₂ over what is allowed.
inline double factor_error(const CompressedCase& c, const std::vector<double>& a, const std::vector<double>& l) {
    const auto n = static_cast<std::size_t>(c.n);
    std::vector<double> residual = a;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = k; j < n; ++j)
            for (std::size_t i = k; i < n; ++i) residual[i + j * n] -= l[i + k * n] * l[j + k * n];
    const double tiles = std::ceil(static_cast<double>(c.n) / static_cast<double>(c.tile));
    const double norm = spectral_norm(residual, c.n);
    if (!std::isfinite(norm)) return std::numeric_limits<double>::infinity();
    return norm / (10 * (c.accuracy + rounding_of(c)) * std::sqrt(tiles));
}

/// Generates the matrix compressed, factors it, and compares both with the matrix.
inline CompressedErrors run_compressed_cholesky(Engine& engine, const CompressedCase& c) {
    const CovarianceOfPoints covariance(c);
    const std::vector<double> a = covariance.dense();
    Stream s(engine);
    const Tiling tiling = Tiling::square(c.n, c.tile);
    Matrix<double> A(s, tiling, random_distribution(tiling.grid(), engine.node_count(), c.seed),
                     compressed_options(c, "A", Stored::lower));
    generate(s, A.view(), covariance);
    const double allowed = c.accuracy + rounding_of(c);
    CompressedErrors errors{.generated = largest_tile_error(a, gather(s, A.lower()), tiling) / allowed};
    cholesky(s, A, c.factor);
    if (!s.wait().ok()) return {.factor = std::numeric_limits<double>::infinity()};
    errors.factor = factor_error(c, a, gather(s, A.lower()));
    return errors;
}

// ------------------------------------------------------------------ LU and products

/// D·K·E for the covariances K and positive diagonals D and E: not symmetric, far from diagonally dominant, and all its
/// leading minors are positive.
struct UnevenCovariance {
    CovarianceOfPoints covariance;
    double operator()(Index i, Index j) const {
        return (1 + 0.5 * std::sin(7.0 * static_cast<double>(i))) * covariance(i, j) *
               (1 + 0.5 * std::cos(5.0 * static_cast<double>(j)));
    }
};

/// The largest error of a tile, in the Frobenius norm, over what is allowed: the accuracy as often as the tile is
/// compressed, which is once and after each of `updates`.
template <class Updates>
double tile_error_over(const CompressedCase& c, const std::vector<double>& a, const std::vector<double>& b,
                       const Updates& updates) {
    const Tiling tiling = Tiling::square(c.n, c.tile);
    double worst = 0;
    for (Index ti = 0; ti < tiling.grid().rows; ++ti)
        for (Index tj = 0; tj < tiling.grid().cols; ++tj) {
            double squares = 0;
            for (Index j = tiling.col_begin(tj); j < tiling.col_begin(tj) + tiling.cols(tj); ++j)
                for (Index i = tiling.row_begin(ti); i < tiling.row_begin(ti) + tiling.rows(ti); ++i) {
                    const auto at = static_cast<std::size_t>(i + j * c.n);
                    squares += (a[at] - b[at]) * (a[at] - b[at]);
                }
            if (!std::isfinite(squares)) return std::numeric_limits<double>::infinity();
            const double allowed = c.accuracy * static_cast<double>(1 + updates(TileIndex{ti, tj})) + rounding_of(c);
            worst = std::max(worst, std::sqrt(squares) / allowed);
        }
    return worst;
}

/// L·U of the factors in one matrix, or A·B, of order n.
inline std::vector<double> product_of_factors(const std::vector<double>& lu, Index n) {
    std::vector<double> product(lu.size(), 0);
    for (Index j = 0; j < n; ++j)
        for (Index k = 0; k <= j; ++k) {
            const double u = lu[static_cast<std::size_t>(k + j * n)];
            product[static_cast<std::size_t>(k + j * n)] += u;
            for (Index i = k + 1; i < n; ++i)
                product[static_cast<std::size_t>(i + j * n)] += lu[static_cast<std::size_t>(i + k * n)] * u;
        }
    return product;
}
inline std::vector<double> product_of(const std::vector<double>& a, const std::vector<double>& b, Index n) {
    std::vector<double> product(a.size(), 0);
    for (Index j = 0; j < n; ++j)
        for (Index k = 0; k < n; ++k)
            for (Index i = 0; i < n; ++i)
                product[static_cast<std::size_t>(i + j * n)] +=
                    a[static_cast<std::size_t>(i + k * n)] * b[static_cast<std::size_t>(k + j * n)];
    return product;
}

}  // namespace tesela::testing
