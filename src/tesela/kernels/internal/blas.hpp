#pragma once

// BLAS and LAPACK for both precisions under one name. Private to src/tesela/kernels.

#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/internal/lapack.hpp"

#include TESELA_BLAS_HEADER

#include <algorithm>
#include <utility>

namespace tesela::blas {

inline int length(Index n) { return static_cast<int>(n); }
inline int leading(Index ld) { return static_cast<int>(std::max<Index>(1, ld)); }
inline CBLAS_TRANSPOSE to(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }
inline CBLAS_SIDE to(Side side) { return side == Side::left ? CblasLeft : CblasRight; }
inline CBLAS_UPLO to(Triangle t) { return t == Triangle::lower ? CblasLower : CblasUpper; }
inline CBLAS_DIAG to(Diagonal d) { return d == Diagonal::unit ? CblasUnit : CblasNonUnit; }

/// A block of column-major memory of type T.
template <class T>
struct Block {
    T* data;
    Index rows, cols, ld;

    explicit Block(const Tile& t) : data(t.as<T>()), rows(t.rows()), cols(t.cols()), ld(t.ld) {}
    Block(T* d, Index m, Index n, Index l) : data(d), rows(m), cols(n), ld(l) {}
    T& operator()(Index i, Index j) const { return data[i + j * ld]; }
    [[nodiscard]] Block part(ElementIndex first, ElementIndex size) const {
        return {&(*this)(first.i, first.j), size.i, size.j, ld};
    }
};

template <class T>
int trtri(Block<T> a) {
    const int n = length(a.rows);
    const int ld = leading(a.ld);
    int info = 0;
    if constexpr (sizeof(T) == 8)
        dtrtri_("L", "N", &n, a.data, &ld, &info);
    else
        strtri_("L", "N", &n, a.data, &ld, &info);
    return info;
}

template <class T>
void lauum(Block<T> a) {
    const int n = length(a.rows);
    const int ld = leading(a.ld);
    int info = 0;
    if constexpr (sizeof(T) == 8)
        dlauum_("L", &n, a.data, &ld, &info);
    else
        slauum_("L", &n, a.data, &ld, &info);
}

template <class T>
void gemm(const GemmArguments& g, Block<T> a, Block<T> b, Block<T> c) {
    const int inner = length(g.op_a == Op::none ? a.cols : a.rows);
    if constexpr (sizeof(T) == 8)
        cblas_dgemm(CblasColMajor, to(g.op_a), to(g.op_b), length(c.rows), length(c.cols), inner, g.alpha, a.data,
                    leading(a.ld), b.data, leading(b.ld), g.beta, c.data, leading(c.ld));
    else
        cblas_sgemm(CblasColMajor, to(g.op_a), to(g.op_b), length(c.rows), length(c.cols), inner,
                    static_cast<float>(g.alpha), a.data, leading(a.ld), b.data, leading(b.ld),
                    static_cast<float>(g.beta), c.data, leading(c.ld));
}

template <class T>
void gemv(const GemmArguments& g, Block<T> a, Block<T> x, Block<T> y) {
    if constexpr (sizeof(T) == 8)
        cblas_dgemv(CblasColMajor, to(g.op_a), length(a.rows), length(a.cols), g.alpha, a.data, leading(a.ld), x.data,
                    1, g.beta, y.data, 1);
    else
        cblas_sgemv(CblasColMajor, to(g.op_a), length(a.rows), length(a.cols), static_cast<float>(g.alpha), a.data,
                    leading(a.ld), x.data, 1, static_cast<float>(g.beta), y.data, 1);
}

template <class T>
void syrk(const SyrkArguments& s, Block<T> a, Block<T> c) {
    const int inner = length(s.op == Op::none ? a.cols : a.rows);
    if constexpr (sizeof(T) == 8)
        cblas_dsyrk(CblasColMajor, to(s.triangle), to(s.op), length(c.rows), inner, s.alpha, a.data, leading(a.ld),
                    s.beta, c.data, leading(c.ld));
    else
        cblas_ssyrk(CblasColMajor, to(s.triangle), to(s.op), length(c.rows), inner, static_cast<float>(s.alpha), a.data,
                    leading(a.ld), static_cast<float>(s.beta), c.data, leading(c.ld));
}

/// BLAS's own.
template <class T>
void plain_trsm(const TriangularArguments& t, Block<T> a, Block<T> b) {
    if constexpr (sizeof(T) == 8)
        cblas_dtrsm(CblasColMajor, to(t.side), to(t.triangle), to(t.op), to(t.diagonal), length(b.rows), length(b.cols),
                    t.alpha, a.data, leading(a.ld), b.data, leading(b.ld));
    else
        cblas_strsm(CblasColMajor, to(t.side), to(t.triangle), to(t.op), to(t.diagonal), length(b.rows), length(b.cols),
                    static_cast<float>(t.alpha), a.data, leading(a.ld), b.data, leading(b.ld));
}

/// Where a matrix of order 32 and more is cut in two: at a multiple of what kernels take at a time.
inline Index half(Index n) { return n / 2 / 16 * 16; }

/// op(A)·X = alpha·B or X·op(A) = alpha·B by halves of A, which leaves most of the work to gemm: with OpenBLAS's
/// kernels for AVX-512 twice as fast as its trsm for tiles of 384, 1.6 times for 640; 1.1 times with those for AVX2.
template <class T>
void trsm(TriangularArguments t, Block<T> a, Block<T> b) {
    constexpr Index leaf = 32;
    const bool left = t.side == Side::left;
    if (a.rows <= leaf || (left ? b.cols : b.rows) < leaf) return plain_trsm(t, a, b);
    const Index h = half(a.rows);
    const Index rest = a.rows - h;
    const bool stored_lower = t.triangle == Triangle::lower;
    const Block<T> off_diagonal = stored_lower ? a.part({h, 0}, {rest, h}) : a.part({0, h}, {h, rest});
    Block<T> a_first = a.part({0, 0}, {h, h});
    Block<T> a_second = a.part({h, h}, {rest, rest});
    Block<T> b_first = left ? b.part({0, 0}, {h, b.cols}) : b.part({0, 0}, {b.rows, h});
    Block<T> b_second = left ? b.part({h, 0}, {rest, b.cols}) : b.part({0, h}, {b.rows, rest});
    // op(A) lower: forwards from the left, backwards from the right; upper: the other way round.
    const bool lower = stored_lower == (t.op == Op::none);
    if (left != lower) {
        std::swap(a_first, a_second);
        std::swap(b_first, b_second);
    }
    trsm(t, a_first, b_first);
    if (left)
        gemm({.op_a = t.op, .alpha = -1, .beta = t.alpha}, off_diagonal, b_first, b_second);
    else
        gemm({.op_b = t.op, .alpha = -1, .beta = t.alpha}, b_first, off_diagonal, b_second);
    t.alpha = 1;
    trsm(t, a_second, b_second);
}

/// LAPACK's own.
template <class T>
int plain_potrf(Block<T> a) {
    const int n = length(a.rows);
    const int ld = leading(a.ld);
    int info = 0;
    if constexpr (sizeof(T) == 8)
        dpotrf_("L", &n, a.data, &ld, &info);
    else
        spotrf_("L", &n, a.data, &ld, &info);
    return info;
}

/// The lower factor by halves, with the trsm above. Returns 0, or the order of the leading minor that is not positive.
template <class T>
int potrf(Block<T> a) {
    constexpr Index leaf = 128;
    if (a.rows <= leaf) return plain_potrf(a);
    const Index h = half(a.rows);
    const Index rest = a.rows - h;
    if (const int bad = potrf(a.part({0, 0}, {h, h})); bad != 0) return bad;
    const Block<T> below = a.part({h, 0}, {rest, h});
    trsm({.side = Side::right, .triangle = Triangle::lower, .op = Op::transpose}, a.part({0, 0}, {h, h}), below);
    const Block<T> corner = a.part({h, h}, {rest, rest});
    syrk({.alpha = -1, .beta = 1}, below, corner);
    const int bad = potrf(corner);
    return bad == 0 ? 0 : bad + length(h);
}

template <class T>
void trmm(const TriangularArguments& t, Block<T> a, Block<T> b) {
    if constexpr (sizeof(T) == 8)
        cblas_dtrmm(CblasColMajor, to(t.side), to(t.triangle), to(t.op), to(t.diagonal), length(b.rows), length(b.cols),
                    t.alpha, a.data, leading(a.ld), b.data, leading(b.ld));
    else
        cblas_strmm(CblasColMajor, to(t.side), to(t.triangle), to(t.op), to(t.diagonal), length(b.rows), length(b.cols),
                    static_cast<float>(t.alpha), a.data, leading(a.ld), b.data, leading(b.ld));
}

}  // namespace tesela::blas
