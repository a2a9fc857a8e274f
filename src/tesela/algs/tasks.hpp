#pragma once

#include "tesela/flow/matrix.hpp"
#include "tesela/kernels/dense.hpp"

namespace tesela {

/// Tasks over single tiles, in the words of BLAS: what algorithms submit. The tile written comes last.
namespace tasks {

template <class T>
[[nodiscard]] Task potrf(TileOf<T> a) {
    const Index first_row = a.matrix->tiling().row_begin(a.index.i);
    return {Dense<T>::potrf, {{a, AccessMode::read_write}}, PivotArguments{first_row}};
}
template <class T>
[[nodiscard]] Task getrf(TileOf<T> a) {
    const Index first_row = a.matrix->tiling().row_begin(a.index.i);
    return {Dense<T>::getrf, {{a, AccessMode::read_write}}, PivotArguments{first_row}};
}
template <class T>
[[nodiscard]] Task trtri(TileOf<T> a) {
    return {Dense<T>::trtri, {{a, AccessMode::read_write}}};
}
template <class T>
[[nodiscard]] Task lauum(TileOf<T> a) {
    return {Dense<T>::lauum, {{a, AccessMode::read_write}}};
}
/// B := alpha·op(A)⁻¹·B or alpha·B·op(A)⁻¹; `args.triangle` is the triangle of A as stored, op comes from A.
template <class T>
[[nodiscard]] Task trsm(TriangularArguments args, TileOf<T> a, TileOf<T> b) {
    args.op = a.op;
    return {Dense<T>::trsm, {{a, AccessMode::read}, {b, AccessMode::read_write}}, args};
}
template <class T>
[[nodiscard]] Task trmm(TriangularArguments args, TileOf<T> a, TileOf<T> b) {
    args.op = a.op;
    return {Dense<T>::trmm, {{a, AccessMode::read}, {b, AccessMode::read_write}}, args};
}
/// C := alpha·op(A)·op(A)ᵀ + beta·C, lower triangle.
template <class T>
[[nodiscard]] Task syrk(double alpha, TileOf<T> a, double beta, TileOf<T> c) {
    return {Dense<T>::syrk,
            {{a, AccessMode::read}, {c, AccessMode::read_write}},
            SyrkArguments{.op = a.op, .alpha = alpha, .beta = beta}};
}
/// C := alpha·op(A)·op(B) + beta·C, as gemv where B has one column. With beta = 0 C is written without being read.
template <class T>
[[nodiscard]] Task gemm(GemmArguments args, TileOf<T> a, TileOf<T> b, Access c) {
    args.op_a = a.op;
    args.op_b = b.op;
    const bool vector = b.op == Op::none && b.shape().cols == 1;
    return {vector ? Dense<T>::gemv : Dense<T>::gemm, {{a, AccessMode::read}, {b, AccessMode::read}, c}, args};
}
template <class T>
[[nodiscard]] Task gemm(double alpha, TileOf<T> a, TileOf<T> b, double beta, TileOf<T> c) {
    const AccessMode mode = beta == 0 ? AccessMode::write : AccessMode::read_write;
    return gemm<T>(GemmArguments{.alpha = alpha, .beta = beta}, a, b, Access{c, mode});
}
template <class T>
[[nodiscard]] Task laset(LasetArguments args, TileOf<T> a) {
    return {Dense<T>::laset, {{a, AccessMode::write}}, args};
}

}  // namespace tasks
}  // namespace tesela
