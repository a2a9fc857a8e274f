#pragma once

// BLAS and LAPACK for both precisions under one name. Private to src/kernels.

#include "tesela/kernels/dense.hpp"

#include <cblas.h>

#include <algorithm>

extern "C" {
void spotrf_(const char*, const int*, float*, const int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void strtri_(const char*, const char*, const int*, float*, const int*, int*);
void dtrtri_(const char*, const char*, const int*, double*, const int*, int*);
void slauum_(const char*, const int*, float*, const int*, int*);
void dlauum_(const char*, const int*, double*, const int*, int*);
}

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
    Block part(ElementIndex first, ElementIndex size) const { return {&(*this)(first.i, first.j), size.i, size.j, ld}; }
};

template <class T>
int potrf(Block<T> a) {
    const int n = length(a.rows);
    const int ld = leading(a.ld);
    int info = 0;
    if constexpr (sizeof(T) == 8)
        dpotrf_("L", &n, a.data, &ld, &info);
    else
        spotrf_("L", &n, a.data, &ld, &info);
    return info;
}

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

template <class T>
void trsm(const TriangularArguments& t, Block<T> a, Block<T> b) {
    if constexpr (sizeof(T) == 8)
        cblas_dtrsm(CblasColMajor, to(t.side), to(t.triangle), to(t.op), to(t.diagonal), length(b.rows), length(b.cols),
                    t.alpha, a.data, leading(a.ld), b.data, leading(b.ld));
    else
        cblas_strsm(CblasColMajor, to(t.side), to(t.triangle), to(t.op), to(t.diagonal), length(b.rows), length(b.cols),
                    static_cast<float>(t.alpha), a.data, leading(a.ld), b.data, leading(b.ld));
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
