#pragma once

// One QR (shape, tiles, tree, distribution) run on any engine and compared with LAPACK and with what Q and R must be.

#include "support/cases.hpp"
#include "tesela/algs/qr.hpp"
#include "tesela/kernels/internal/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tesela::testing {

/// What is factorised: columns that are far from depending on each other; some that are zero; or copies of few.
enum class Contents { independent, zero_columns, few_directions };

struct QrCase {
    ElementIndex size{1, 1};
    ElementIndex tile{1, 1};
    QrOptions options{};
    Family family = Family::block_cyclic;
    std::uint64_t seed = 0;
    Contents contents = Contents::independent;

    [[nodiscard]] std::string name() const {
        return fmt::format("{}x{} tiles {}x{} reduction {} domain {} {} seed={} contents {}", size.i, size.j, tile.i,
                           tile.j, static_cast<int>(options.reduction), options.domain,
                           family == Family::random ? "random" : "block-cyclic", seed, static_cast<int>(contents));
    }
};

inline double element_of(const QrCase& c, Index i, Index j) {
    switch (c.contents) {
        case Contents::independent: return dominant_element(nullptr, {i, j});
        case Contents::zero_columns: return j % 3 == 1 ? 0 : random_element(&c.seed, {i, j});
        case Contents::few_directions: return random_element(&c.seed, {i, j % 3});
    }
    return 0;
}

inline std::vector<double> elements_of(const QrCase& c) {
    std::vector<double> a;
    for (Index j = 0; j < c.size.j; ++j)
        for (Index i = 0; i < c.size.i; ++i) a.push_back(element_of(c, i, j));
    return a;
}

/// |R| by LAPACK: the signs of its rows are anyone's choice.
inline std::vector<double> absolute_r(const QrCase& c) {
    std::vector<double> a = elements_of(c);
    const int m = static_cast<int>(c.size.i);
    const int n = static_cast<int>(c.size.j);
    const int room = 64 * std::max(1, n);
    std::vector<double> tau(static_cast<std::size_t>(std::min(m, n)));
    std::vector<double> work(static_cast<std::size_t>(room));
    int info = 0;
    dgeqrf_(&m, &n, a.data(), &m, tau.data(), work.data(), &room, &info);
    std::vector<double> r;
    for (Index j = 0; j < c.size.j; ++j)
        for (Index i = 0; i < std::min(c.size.i, c.size.j); ++i)
            r.push_back(i <= j ? std::abs(a[static_cast<std::size_t>(i + j * c.size.i)]) : 0);
    return r;
}

/// The largest element of A − B in absolute value; a NaN is larger than all.
inline double gap(const std::vector<double>& a, const std::vector<double>& b) { return largest_difference(a, b); }

template <class T>
std::vector<double> widened(const std::vector<T>& a) {
    return {a.begin(), a.end()};
}

/// ‖QᵀQ − I‖ of m rows, the largest element.
inline double from_orthonormal(Index m, Index n, const std::vector<double>& q) {
    std::vector<double> gram(static_cast<std::size_t>(n * n), 0);
    std::vector<double> identity(gram.size(), 0);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (Index l = 0; l < m; ++l)
                sum += q[static_cast<std::size_t>(l + i * m)] * q[static_cast<std::size_t>(l + j * m)];
            gram[static_cast<std::size_t>(i + j * n)] = sum;
            identity[static_cast<std::size_t>(i + j * n)] = i == j ? 1 : 0;
        }
    return gap(gram, identity);
}

inline Distribution distribution_of(const QrCase& c, GridSize tiles, Index nodes) {
    return distribution_of(Case{.family = c.family, .seed = c.seed}, tiles, nodes);
}

/// Errors over what rounding allows: at most 1 means right.
struct QrErrors {
    double triangle = 0;       ///< |R| against LAPACK's
    double product = 0;        ///< A − Q·R
    double orthogonality = 0;  ///< QᵀQ − I
    double applied = 0;        ///< QᵀA − [R; 0] and Q·(QᵀA) − A
    [[nodiscard]] double worst() const { return std::max({triangle, product, orthogonality, applied}); }
};

template <class T>
Matrix<T> filled(Stream& s, const QrCase& c, const char* name) {
    const Tiling tiling = Tiling::uniform(c.size, c.tile);
    Matrix<T> A(s, tiling, distribution_of(c, tiling.grid(), s.engine().node_count()), {.name = name});
    generate(s, A.view(), [c](Index i, Index j) { return element_of(c, i, j); });
    return A;
}

template <class T>
QrErrors run_qr(Engine& engine, const QrCase& c) {
    Stream s(engine);
    const Matrix<T> A = filled<T>(s, c, "A");
    const Matrix<T> C = filled<T>(s, c, "C");
    const QrFactors<T> factors = qr(s, A.view(), c.options);
    const Tiling r_tiling = tiling_of_r(A.view());
    const Tiling q_tiling = Tiling::from_cuts(A.tiling().row_cuts(), r_tiling.row_cuts());
    Matrix<T> Q(s, q_tiling, distribution_of(c, q_tiling.grid(), engine.node_count()), {.name = "Q"});
    Matrix<T> R(s, r_tiling, distribution_of(c, r_tiling.grid(), engine.node_count()), {.name = "R"});
    copy_r(s, factors, R.view());
    form_q(s, factors, Q.view());
    multiply_q(s, factors, Op::transpose, C.view());
    const auto qt_a = widened(gather(s, C.view()));
    multiply_q(s, factors, Op::none, C.view());
    const auto back = widened(gather(s, C.view()));
    const auto q = widened(gather(s, Q.view()));
    const auto r = widened(gather(s, R.view()));
    if (!s.wait().ok()) return {1e300, 1e300, 1e300, 1e300};

    const auto [m, n] = c.size;
    const Index order = std::min(m, n);
    const auto a = elements_of(c);
    const double allowed = tolerance<T>(std::max(m, n), 16);
    QrErrors errors;
    errors.product = gap(reference_product<double>({m, n}, order, q, r), a) / allowed;
    errors.orthogonality = from_orthonormal(m, order, q) / allowed;
    std::vector<double> stacked(a.size(), 0);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < order; ++i)
            stacked[static_cast<std::size_t>(i + j * m)] = r[static_cast<std::size_t>(i + j * order)];
    errors.applied = std::max(gap(qt_a, stacked), gap(back, a)) / allowed;
    if (c.contents == Contents::independent) {
        std::vector<double> absolute = r;
        for (double& x : absolute) x = std::abs(x);
        errors.triangle = gap(absolute, absolute_r(c)) / allowed;
    }
    return errors;
}

/// Y := Q, with R, of a tall matrix.
template <class T>
QrErrors run_orthonormalise(Engine& engine, const QrCase& c) {
    Stream s(engine);
    const Matrix<T> Y = filled<T>(s, c, "Y");
    const Matrix<T> R = orthonormalise(s, Y.view(), c.options);
    const auto q = widened(gather(s, Y.view()));
    const auto r = widened(gather(s, R.view()));
    if (!s.wait().ok()) return {1e300, 1e300, 1e300, 1e300};
    const auto [m, n] = c.size;
    const double allowed = tolerance<T>(m, 16);
    QrErrors errors;
    errors.product = gap(reference_product<double>({m, n}, n, q, r), elements_of(c)) / allowed;
    errors.orthogonality = from_orthonormal(m, n, q) / allowed;
    for (Index j = 0; j < n; ++j)
        for (Index i = j + 1; i < n; ++i)
            errors.triangle = std::max(errors.triangle, std::abs(r[static_cast<std::size_t>(i + j * n)]) / allowed);
    return errors;
}

}  // namespace tesela::testing
