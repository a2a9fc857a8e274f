#pragma once

// QR of narrow blocks. Private to src/tesela/kernels.

#include "tesela/kernels/internal/blas.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace tesela::low_rank {

/// A = Q·R by Householder's reflectors, some columns at a time, as LAPACK's geqrf and ormqr have it (Schreiber and Van
/// Loan, SIAM J. Sci. Stat. Comput. 10 (1989) 53: Q = I − V·T·Vᵀ). Not by these: for a narrow block they call gemv and
/// ger hundreds of times, each of which takes a lock in OpenBLAS; sixteen workers then wait for each other three
/// quarters of the time. Here it is dot and axpy, which take none, and a few products.
template <class T>
class Reflectors {
public:
    Reflectors(std::vector<T> a, Index rows, Index cols) : a_(std::move(a)), rows_(rows), cols_(cols) {
        for (Index first = 0; first < order(); first += width) factor_panel(first, std::min(width, order() - first));
    }

    [[nodiscard]] Index order() const { return std::min(rows_, cols_); }

    /// R, of order() rows.
    [[nodiscard]] std::vector<T> triangle() const {
        std::vector<T> r(count(order(), cols_));
        for (Index j = 0; j < cols_; ++j)
            std::copy_n(&a_[count(j, rows_)], std::min(j + 1, order()), &r[count(j, order())]);
        return r;
    }

    /// Q·B, where B is of order() rows and comes with zeros below them, of rows in all.
    [[nodiscard]] std::vector<T> times(std::vector<T> b, Index cols) const {
        for (auto panel = panels_.rbegin(); panel != panels_.rend(); ++panel)
            panel->reflect(Op::none, {b.data() + panel->first, rows_ - panel->first, cols, rows_});
        return b;
    }

    /// Q's first cols columns. At least as many rows as columns.
    [[nodiscard]] std::vector<T> columns() const {
        std::vector<T> identity(count(rows_, cols_));
        for (Index k = 0; k < cols_; ++k) identity[count(k, rows_ + 1)] = 1;
        return times(std::move(identity), cols_);
    }

private:
    using Block = blas::Block<T>;
    static constexpr Index width = 16;
    static std::size_t count(Index m, Index n = 1) { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }

    /// I − V·T·Vᵀ, V with zeros above its diagonal of ones, T upper triangular.
    struct Panel {
        Index first = 0, rows = 0, cols = 0;
        std::vector<T> v, t;

        /// C := (I − V·op(T)·Vᵀ)·C.
        void reflect(Op op, Block c) const {
            if (c.cols == 0) return;
            // BLAS does not write what it only reads.
            const Block v_block(const_cast<T*>(v.data()), rows, cols, rows);  // NOLINT(*-const-cast)
            const Block t_block(const_cast<T*>(t.data()), cols, cols, cols);  // NOLINT(*-const-cast)
            std::vector<T> w(count(cols, c.cols));
            std::vector<T> tw(w.size());
            const Block w_block(w.data(), cols, c.cols, cols);
            const Block tw_block(tw.data(), cols, c.cols, cols);
            blas::gemm<T>({.op_a = Op::transpose, .beta = 0}, v_block, c, w_block);
            blas::gemm<T>({.op_a = op, .beta = 0}, t_block, w_block, tw_block);
            blas::gemm<T>({.alpha = -1}, v_block, tw_block, c);
        }
    };

    static double dot(const T* x, const T* y, Index n) {
        if constexpr (sizeof(T) == 8)
            return cblas_ddot(blas::length(n), x, 1, y, 1);
        else
            return cblas_sdot(blas::length(n), x, 1, y, 1);
    }
    static void axpy(T factor, const T* x, T* y, Index n) {
        if constexpr (sizeof(T) == 8)
            cblas_daxpy(blas::length(n), factor, x, 1, y, 1);
        else
            cblas_saxpy(blas::length(n), factor, x, 1, y, 1);
    }
    /// Without overflow or underflow on the way.
    static double length_of(const T* x, Index n) {
        const double squares = dot(x, x, n);
        constexpr double tiny = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
        if (squares > tiny && squares <= std::numeric_limits<T>::max()) return std::sqrt(squares);
        if constexpr (sizeof(T) == 8)
            return cblas_dnrm2(blas::length(n), x, 1);
        else
            return static_cast<double>(cblas_snrm2(blas::length(n), x, 1));
    }

    T* column(Index i, Index j) { return &a_[count(j, rows_)] + i; }

    /// Makes column j zero below its diagonal, where the reflector's vector without its leading 1 takes its place.
    T make_reflector(Index j) {
        T* const x = column(j, j);
        const Index below = rows_ - j - 1;
        const double rest = below > 0 ? length_of(x + 1, below) : 0;
        if (rest == 0) return T{0};
        const auto alpha = static_cast<double>(*x);
        const double beta = -std::copysign(std::hypot(alpha, rest), alpha);
        const double denominator = alpha - beta;
        for (Index i = 1; i <= below; ++i) x[i] = static_cast<T>(static_cast<double>(x[i]) / denominator);
        *x = static_cast<T>(beta);
        return static_cast<T>((beta - alpha) / beta);
    }

    void factor_panel(Index first, Index cols) {
        Panel panel{
            .first = first, .rows = rows_ - first, .cols = cols, .v = {}, .t = std::vector<T>(count(cols, cols))};
        for (Index k = 0; k < cols; ++k) {
            const Index j = first + k;
            const T tau = panel.t[count(k, cols + 1)] = make_reflector(j);
            if (tau == T{0}) continue;
            const T* const v = column(j, j) + 1;
            for (Index c = j + 1; c < first + cols; ++c) {
                T* const x = column(j, c);
                const T w = tau * (*x + static_cast<T>(dot(v, x + 1, rows_ - j - 1)));
                *x -= w;
                axpy(-w, v, x + 1, rows_ - j - 1);
            }
        }
        copy_vectors(panel);
        complete_triangle(panel);
        const Index rest = cols_ - first - cols;
        if (rest > 0) panel.reflect(Op::transpose, {column(first, first + cols), panel.rows, rest, rows_});
        panels_.push_back(std::move(panel));
    }

    void copy_vectors(Panel& panel) {
        panel.v.resize(count(panel.rows, panel.cols));
        for (Index k = 0; k < panel.cols; ++k) {
            T* const v = &panel.v[count(k, panel.rows)];
            v[k] = 1;
            std::copy_n(column(panel.first + k, panel.first + k) + 1, panel.rows - k - 1, v + k + 1);
        }
    }

    /// T(0:k, k) = −tau·T(0:k, 0:k)·V(:, 0:k)ᵀ·v.
    static void complete_triangle(Panel& panel) {
        const Index n = panel.cols;
        for (Index k = 1; k < n; ++k) {
            const T* const v = &panel.v[count(k, panel.rows)];
            std::vector<T> products(count(k));
            for (Index l = 0; l < k; ++l)
                products[count(l)] = static_cast<T>(dot(&panel.v[count(l, panel.rows)] + k, v + k, panel.rows - k));
            const T tau = panel.t[count(k, n + 1)];
            for (Index i = 0; i < k; ++i) {
                T sum{0};
                for (Index l = i; l < k; ++l) sum += panel.t[count(l, n) + count(i)] * products[count(l)];
                panel.t[count(k, n) + count(i)] = -tau * sum;
            }
        }
    }

    std::vector<T> a_;
    Index rows_, cols_;
    std::vector<Panel> panels_;
};

}  // namespace tesela::low_rank
