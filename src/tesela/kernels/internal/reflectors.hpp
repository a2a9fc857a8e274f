#pragma once

// QR by blocks of Householder's reflectors. Private to src/tesela/kernels.

#include "tesela/kernels/internal/blas.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

/// Reflectors by blocks, Q = I − V·T·Vᵀ with an upper triangle T (Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10
/// (1989) 53). Not LAPACK's: for a narrow block it calls gemv and ger hundreds of times, each of which takes a lock in
/// OpenBLAS; sixteen workers then wait for each other three quarters of the time. Here it is dot and axpy, which take
/// none, within a few columns, and products by halves of the columns beyond them (Elmroth and Gustavson, IBM J. Res.
/// Dev. 44 (2000) 605).
namespace tesela::reflectors {

using blas::Block;

/// What the vectors have in the rows of the triangle that they leave: a unit lower triangle in the place of what they
/// make zero, as LAPACK's geqrt has it, or the identity, which is not stored, as tpqrt has it.
enum class Heads : std::uint8_t { triangle, identity };

/// Columns that are made triangular, and then the vectors that did it: `top` is square; `bottom` is beneath it in the
/// same memory where heads are a triangle, anywhere otherwise.
template <class T>
struct Stack {
    Heads heads;
    Block<T> top, bottom;

    [[nodiscard]] Index cols() const { return top.cols; }
    /// Column c where reflector k works on it beside its own row.
    [[nodiscard]] T* tail(Index k, Index c) const {
        return heads == Heads::identity ? &bottom(0, c) : &top(0, c) + k + 1;
    }
    [[nodiscard]] Index tail_length(Index k) const {
        return bottom.rows + (heads == Heads::identity ? 0 : top.rows - k - 1);
    }
    /// The first columns, with all rows that they have; and the others, without the rows that are done.
    [[nodiscard]] Stack left(Index cols) const {
        return {heads, top.part({0, 0}, {cols, cols}), beneath(cols, 0, cols)};
    }
    [[nodiscard]] Stack right(Index first) const {
        const Index rest = cols() - first;
        return {heads,
                top.part({first, first}, {rest, rest}),
                {bottom.data + first * bottom.ld, bottom.rows, rest, bottom.ld}};
    }
    /// What the first columns' vectors have beneath their triangle, in columns [first, first + count).
    [[nodiscard]] Block<T> beneath(Index triangle, Index first, Index count) const {
        if (heads == Heads::identity) return {bottom.data + first * bottom.ld, bottom.rows, count, bottom.ld};
        return {top.data + triangle + first * top.ld, top.rows - triangle + bottom.rows, count, top.ld};
    }
};

inline std::size_t count(Index m, Index n = 1) { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }

template <class T>
double dot(const T* x, const T* y, Index n) {
    if constexpr (sizeof(T) == 8)
        return cblas_ddot(blas::length(n), x, 1, y, 1);
    else
        return cblas_sdot(blas::length(n), x, 1, y, 1);
}
template <class T>
void axpy(T factor, const T* x, T* y, Index n) {
    if constexpr (sizeof(T) == 8)
        cblas_daxpy(blas::length(n), factor, x, 1, y, 1);
    else
        cblas_saxpy(blas::length(n), factor, x, 1, y, 1);
}
/// Without overflow or underflow on the way. Not by nrm2, which not all of OpenBLAS's kernels take care of.
template <class T>
double length_of(const T* x, Index n) {
    const double squares = dot(x, x, n);
    constexpr double tiny = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    if (squares > tiny && squares <= std::numeric_limits<T>::max()) return std::sqrt(squares);
    double largest = 0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i])));
    if (std::isnan(squares) || largest == 0 || std::isinf(largest)) return largest + squares;
    double scaled = 0;
    for (Index i = 0; i < n; ++i) scaled += std::pow(static_cast<double>(x[i]) / largest, 2);
    return largest * std::sqrt(scaled);
}

/// Where a reflector's length is below it, its small components have too few digits for it to be orthogonal.
inline constexpr double smallest_exact = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();

template <class T>
T make_reflector(T& pivot, T* x, Index n);

/// The same reflector from numbers times 2^600, which changes no digit. Columns that depend on each other leave
/// rounding errors of rounding errors, down to the smallest numbers there are.
template <class T>
T make_small_reflector(T& pivot, T* x, Index n) {
    constexpr int up = 600;
    const auto scaled = [](T value, int exponent) { return static_cast<T>(std::ldexp(value, exponent)); };
    pivot = scaled(pivot, up);
    for (Index i = 0; i < n; ++i) x[i] = scaled(x[i], up);
    const T tau = make_reflector(pivot, x, n);
    pivot = scaled(pivot, -up);
    return tau;
}

/// The reflector that makes x zero beneath `pivot`; its vector without its leading 1 takes the place of x. Returns its
/// tau: 0 where there is nothing to do.
template <class T>
T make_reflector(T& pivot, T* x, Index n) {
    const double rest = n > 0 ? length_of(x, n) : 0;
    if (rest == 0) return T{0};
    const auto alpha = static_cast<double>(pivot);
    const double beta = -std::copysign(std::hypot(alpha, rest), alpha);
    if (std::abs(beta) < smallest_exact) return make_small_reflector(pivot, x, n);
    const double denominator = alpha - beta;
    for (Index i = 0; i < n; ++i) x[i] = static_cast<T>(static_cast<double>(x[i]) / denominator);
    pivot = static_cast<T>(beta);
    return static_cast<T>((beta - alpha) / beta);
}

/// A few columns one after the other, and their T: T(0:k, k) = −tau·T(0:k, 0:k)·V(:, 0:k)ᵀ·v.
template <class T>
void factor_columns(const Stack<T>& a, Block<T> t) {
    for (Index k = 0; k < a.cols(); ++k) {
        T* const v = a.tail(k, k);
        const Index length = a.tail_length(k);
        const T tau = t(k, k) = make_reflector(a.top(k, k), v, length);
        for (Index l = 0; l < k; ++l) {
            const double of_head = a.heads == Heads::triangle ? static_cast<double>(a.top(k, l)) : 0;
            t(l, k) = tau == T{0} ? T{0} : static_cast<T>(of_head + dot(a.tail(k, l), v, length));
        }
        for (Index i = 0; i < k; ++i) {
            T sum{0};
            for (Index l = i; l < k; ++l) sum += t(i, l) * t(l, k);
            t(i, k) = -tau * sum;
        }
        if (tau == T{0}) continue;
        for (Index c = k + 1; c < a.cols(); ++c) {
            T* const x = a.tail(k, c);
            const T w = tau * (a.top(k, c) + static_cast<T>(dot(v, x, length)));
            a.top(k, c) -= w;
            axpy(-w, v, x, length);
        }
    }
}

/// Rows of a matrix in two pieces.
template <class T>
struct Pair {
    Block<T> top, bottom;
};

/// C := (I − V·op(T)·Vᵀ)·C. `room` is for as many elements as the top of C has.
template <class T>
void reflect(Op op, const Stack<T>& v, Block<T> t, const Pair<T>& c, T* room) {
    const auto& [c1, c2] = c;
    if (c1.cols == 0) return;
    const Block<T> w(room, c1.rows, c1.cols, c1.rows);
    const TriangularArguments head{.triangle = Triangle::lower, .op = Op::transpose, .diagonal = Diagonal::unit};
    for (Index j = 0; j < c1.cols; ++j) std::copy_n(&c1(0, j), c1.rows, &w(0, j));
    if (v.heads == Heads::triangle) blas::trmm(head, v.top, w);
    if (c2.rows > 0) blas::gemm<T>({.op_a = Op::transpose}, v.bottom, c2, w);
    blas::trmm({.triangle = Triangle::upper, .op = op}, t, w);
    if (c2.rows > 0) blas::gemm<T>({.alpha = -1}, v.bottom, w, c2);
    if (v.heads == Heads::triangle) blas::trmm({.triangle = Triangle::lower, .diagonal = Diagonal::unit}, v.top, w);
    for (Index j = 0; j < c1.cols; ++j)
        for (Index i = 0; i < c1.rows; ++i) c1(i, j) -= w(i, j);
}

/// V1ᵀ·V2 of the first columns and the others.
template <class T>
void multiply_vectors(const Stack<T>& a, Index first, Block<T> product) {
    const Stack<T> right = a.right(first);
    double beta = 0;
    if (a.heads == Heads::triangle) {
        for (Index j = 0; j < product.cols; ++j)
            for (Index i = 0; i < first; ++i) product(i, j) = a.top(first + j, i);
        blas::trmm({.side = Side::right, .triangle = Triangle::lower, .diagonal = Diagonal::unit}, right.top, product);
        beta = 1;
    }
    if (beta == 0 || right.bottom.rows > 0)
        blas::gemm<T>({.op_a = Op::transpose, .beta = beta}, Block<T>(a.bottom.data, a.bottom.rows, first, a.bottom.ld),
                      right.bottom, product);
}

/// Makes the columns triangular and T beside it: [V1 V2] has [T1 −T1·V1ᵀ·V2·T2; 0 T2]. What is left of T is not
/// written. `room` is for a quarter of as many elements as T has.
template <class T>
void factor(const Stack<T>& a, Block<T> t, T* room) {
    constexpr Index leaf = 6;
    if (a.cols() <= leaf) return factor_columns(a, t);
    const Index half = a.cols() / 2;
    const Index rest = a.cols() - half;
    const Block<T> t1 = t.part({0, 0}, {half, half});
    const Block<T> t2 = t.part({half, half}, {rest, rest});
    const Block<T> t12 = t.part({0, half}, {half, rest});
    factor(a.left(half), t1, room);
    reflect(Op::transpose, a.left(half), t1, Pair<T>{a.top.part({0, half}, {half, rest}), a.beneath(half, half, rest)},
            room);
    factor(a.right(half), t2, room);
    multiply_vectors(a, half, t12);
    blas::trmm({.triangle = Triangle::upper, .alpha = -1}, t1, t12);
    blas::trmm({.side = Side::right, .triangle = Triangle::upper}, t2, t12);
}

/// Columns that are made triangular together: as many as T has rows.
inline Index width(Index order, Index first, Index t_rows) { return std::min(t_rows, order - first); }

/// Whether the rows that vectors reach into beneath their triangle are all of a block, or an upper triangle of it.
enum class Reach : std::uint8_t { all, triangle };

/// The columns [first, first + cols) of A, or of [R; B], as a stack.
template <class T>
Stack<T> stack_of(Block<T> a, Index first, Index cols) {
    return {Heads::triangle,
            a.part({first, first}, {cols, cols}),
            {a.data + first + cols + first * a.ld, a.rows - first - cols, cols, a.ld}};
}
inline Index reached_rows(Index rows, Index first, Index cols, Reach reach) {
    return reach == Reach::all ? rows : std::min(rows, first + cols);
}
template <class T>
Stack<T> stack_of(Block<T> r, Block<T> b, Reach reach, Index first, Index cols) {
    return {Heads::identity,
            r.part({first, first}, {cols, cols}),
            {b.data + first * b.ld, reached_rows(b.rows, first, cols, reach), cols, b.ld}};
}
template <class T>
Block<T> t_of(Block<T> t, Index first, Index cols) {
    return {t.data + first * t.ld, cols, cols, t.ld};
}

/// Elements of room that what follows needs for blocks of `t_rows` reflectors and so many columns.
inline std::size_t room_for(Index t_rows, Index cols) { return count(t_rows, std::max(t_rows, cols)); }

/// A := R and, beneath its diagonal, the vectors; T by blocks of columns side by side (LAPACK's geqrt).
template <class T>
void factor_block(Block<T> a, Block<T> t, T* room) {
    const Index order = std::min(a.rows, a.cols);
    for (Index first = 0; first < order; first += t.rows) {
        const Index w = width(order, first, t.rows);
        const Stack<T> panel = stack_of(a, first, w);
        factor(panel, t_of(t, first, w), room);
        const Index next = first + w;
        const Index rest = a.cols - next;
        T* const right = a.data + next * a.ld;
        reflect(Op::transpose, panel, t_of(t, first, w),
                Pair<T>{{right + first, w, rest, a.ld}, {right + next, a.rows - next, rest, a.ld}}, room);
    }
}

/// [R; B] := a new R and, in B, the vectors; R is square (LAPACK's tpqrt).
template <class T>
void factor_pair(const Pair<T>& rows, Reach reach, Block<T> t, T* room) {
    const auto& [r, b] = rows;
    for (Index first = 0; first < r.cols; first += t.rows) {
        const Index w = width(r.cols, first, t.rows);
        const Stack<T> panel = stack_of(r, b, reach, first, w);
        factor(panel, t_of(t, first, w), room);
        const Index next = first + w;
        const Index rest = r.cols - next;
        reflect(Op::transpose, panel, t_of(t, first, w),
                Pair<T>{{r.data + first + next * r.ld, w, rest, r.ld},
                        {b.data + next * b.ld, panel.bottom.rows, rest, b.ld}},
                room);
    }
}

/// Calls function(first, cols) for the blocks of reflectors in the order in which op(Q) applies them.
template <class Function>
void for_each_block(Op op, Index order, Index t_rows, const Function& function) {
    if (op == Op::transpose) {
        for (Index first = 0; first < order; first += t_rows) function(first, width(order, first, t_rows));
    } else {
        for (Index first = (order - 1) / t_rows * t_rows; first >= 0 && order > 0; first -= t_rows)
            function(first, width(order, first, t_rows));
    }
}

/// Which columns are worked on: all, or those from a reflector's own on, which is all that Q changes of an upper
/// triangle on top of zeros.
enum class Columns : std::uint8_t { all, from_diagonal };
inline Index first_column(Columns columns, Index first, Index cols) {
    return columns == Columns::all ? 0 : std::min(first, cols);
}

/// How Q is applied.
struct Use {
    Op op = Op::none;
    Columns columns = Columns::all;
};

/// C := op(Q)·C with the vectors beneath the diagonal of V.
template <class T>
void apply_block(const Use& use, Block<T> v, Block<T> t, Block<T> c, T* room) {
    for_each_block(use.op, std::min(v.rows, v.cols), t.rows, [&](Index first, Index w) {
        const Index left = first_column(use.columns, first, c.cols);
        const Index rest = c.cols - left;
        T* const from = c.data + left * c.ld;
        reflect(use.op, stack_of(v, first, w), t_of(t, first, w),
                Pair<T>{{from + first, w, rest, c.ld}, {from + first + w, c.rows - first - w, rest, c.ld}}, room);
    });
}

/// The vectors of a pair, without their heads.
template <class T>
struct Tails {
    Block<T> v;
    Reach reach;
    Block<T> t;
};

/// C := op(Q)·C with the vectors of a pair.
template <class T>
void apply_pair(const Use& use, const Tails<T>& tails, const Pair<T>& c, T* room) {
    const Block<T> v = tails.v;
    const Block<T> t = tails.t;
    for_each_block(use.op, v.cols, t.rows, [&](Index first, Index w) {
        const Index left = first_column(use.columns, first, c.top.cols);
        const Index rest = c.top.cols - left;
        const Stack<T> vectors{Heads::identity,
                               t_of(t, first, w),
                               {v.data + first * v.ld, reached_rows(v.rows, first, w, tails.reach), w, v.ld}};
        reflect(use.op, vectors, t_of(t, first, w),
                Pair<T>{{c.top.data + first + left * c.top.ld, w, rest, c.top.ld},
                        {c.bottom.data + left * c.bottom.ld, vectors.bottom.rows, rest, c.bottom.ld}},
                room);
    });
}

}  // namespace tesela::reflectors

namespace tesela::low_rank {

/// A = Q·R of a narrow block that it keeps.
template <class T>
class Reflectors {
public:
    Reflectors(std::vector<T> a, Index rows, Index cols)
        : a_(std::move(a)),
          rows_(rows),
          cols_(cols),
          t_(reflectors::count(width, order())) {
        std::vector<T> room(reflectors::room_for(width, cols));
        reflectors::factor_block(vectors(), triangles(), room.data());
    }

    [[nodiscard]] Index order() const { return std::min(rows_, cols_); }

    /// R, of order() rows.
    [[nodiscard]] std::vector<T> triangle() const {
        std::vector<T> r(reflectors::count(order(), cols_));
        for (Index j = 0; j < cols_; ++j)
            std::copy_n(&a_[reflectors::count(j, rows_)], std::min(j + 1, order()), &r[reflectors::count(j, order())]);
        return r;
    }

    /// Q·B, where B is of order() rows and comes with zeros below them, of rows in all.
    [[nodiscard]] std::vector<T> times(std::vector<T> b, Index cols) const {
        return times(std::move(b), cols, reflectors::Columns::all);
    }

    /// Q's first cols columns. At least as many rows as columns.
    [[nodiscard]] std::vector<T> columns() const {
        std::vector<T> identity(reflectors::count(rows_, cols_));
        for (Index k = 0; k < cols_; ++k) identity[reflectors::count(k, rows_ + 1)] = 1;
        return times(std::move(identity), cols_, reflectors::Columns::from_diagonal);
    }

private:
    using Block = blas::Block<T>;
    static constexpr Index width = 16;

    // BLAS does not write what it only reads.
    [[nodiscard]] Block vectors() const {
        return {const_cast<T*>(a_.data()), rows_, cols_, rows_};  // NOLINT(*-const-cast)
    }
    [[nodiscard]] Block triangles() const {
        return {const_cast<T*>(t_.data()), width, order(), width};  // NOLINT(*-const-cast)
    }
    [[nodiscard]] std::vector<T> times(std::vector<T> b, Index cols, reflectors::Columns which) const {
        std::vector<T> room(reflectors::room_for(width, cols));
        reflectors::apply_block({.columns = which}, vectors(), triangles(), Block(b.data(), rows_, cols, rows_),
                                room.data());
        return b;
    }

    std::vector<T> a_;
    Index rows_, cols_;
    std::vector<T> t_;
};

}  // namespace tesela::low_rank
