#pragma once

#include "tesela/flow/matrix.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/qr.hpp"

#include <array>
#include <cstdint>

/// Tasks over single tiles, in the words of BLAS: what algorithms submit. The tile written comes last.
namespace tesela::tasks {

/// The step of an algorithm as tasks carry it.
[[nodiscard]] constexpr std::int32_t step(Index k) { return static_cast<std::int32_t>(k); }

/// Pivots are counted from the first row of the matrix, which is row `first_row` of what is factorised.
template <class T>
[[nodiscard]] Task potrf(TileOf<T> a, Index first_row = 0) {
    first_row += a.matrix->tiling().row_begin(a.index.i);
    return {Dense<T>::potrf, PivotArguments{first_row}, read_write(a)};
}
template <class T>
[[nodiscard]] Task getrf(TileOf<T> a) {
    const Index first_row = a.matrix->tiling().row_begin(a.index.i);
    return {Dense<T>::getrf, PivotArguments{first_row}, read_write(a)};
}
template <class T>
[[nodiscard]] Task trtri(TileOf<T> a) {
    return Task(Dense<T>::trtri, read_write(a));
}
template <class T>
[[nodiscard]] Task lauum(TileOf<T> a) {
    return Task(Dense<T>::lauum, read_write(a));
}
/// B := alpha·op(A)⁻¹·B or alpha·B·op(A)⁻¹; `args.triangle` is the triangle of A as stored, op comes from A.
template <class T>
[[nodiscard]] Task trsm(TriangularArguments args, TileOf<T> a, TileOf<T> b) {
    args.op = a.view.op;
    return {Dense<T>::trsm, args, read(a.stored()), read_write(b)};
}
template <class T>
[[nodiscard]] Task trmm(TriangularArguments args, TileOf<T> a, TileOf<T> b) {
    args.op = a.view.op;
    return {Dense<T>::trmm, args, read(a.stored()), read_write(b)};
}
/// A tile whose operation the arguments tell; a triangle of it stays one, which kernels refuse that know of none.
template <class T>
[[nodiscard]] AccessTo<const T> read_as_stored(TileOf<T> a) {
    a.view.op = Op::none;
    return read(a);
}
/// C := alpha·op(A)·op(A)ᵀ + beta·C, lower triangle.
template <class T>
[[nodiscard]] Task syrk(double alpha, TileOf<T> a, double beta, TileOf<T> c) {
    return {Dense<T>::syrk, SyrkArguments{.op = a.view.op, .alpha = alpha, .beta = beta}, read_as_stored(a),
            read_write(c)};
}
/// C := alpha·op(A)·op(B) + beta·C, as gemv where B has one column. With beta = 0 C is written without being read.
template <class T>
[[nodiscard]] Task gemm(GemmArguments args, TileOf<T> a, TileOf<T> b, const AccessTo<T>& c) {
    args.op_a = a.view.op;
    args.op_b = b.view.op;
    const bool vector = b.view.op == Op::none && b.shape().cols == 1;
    return {vector ? Dense<T>::gemv : Dense<T>::gemm, args, read_as_stored(a), read_as_stored(b), c};
}
template <class T>
[[nodiscard]] Task gemm(double alpha, TileOf<T> a, TileOf<T> b, double beta, TileOf<T> c) {
    return gemm<T>(GemmArguments{.alpha = alpha, .beta = beta}, a, b, beta == 0 ? write(c) : read_write(c));
}
/// B := A.
template <class T>
[[nodiscard]] Task copy(TileOf<T> a, TileOf<T> b) {
    return {Dense<T>::geadd, GeaddArguments{.alpha = 1, .beta = 0}, read(a), write(b)};
}
template <class T>
[[nodiscard]] Task laset(LasetArguments args, TileOf<T> a) {
    return {Dense<T>::laset, args, write(a)};
}
/// A = Q·R, vectors in A; t is T of them.
template <class T>
[[nodiscard]] Task geqrt(TileOf<T> a, TileOf<T> r, TileOf<T> t) {
    return Task(Qr<T>::geqrt, read_write(a), write(r), write(t));
}
/// [R; B] = Q·[R; 0], vectors in B, where B lives.
template <class T>
[[nodiscard]] Task tsqrt(TileOf<T> r, TileOf<T> b, TileOf<T> t) {
    return Task(Qr<T>::tsqrt, read_write(b), read_write(r), write(t));
}
/// The same for a triangle B, vectors in v, where R lives.
template <class T>
[[nodiscard]] Task ttqrt(TileOf<T> b, TileOf<T> r, TileOf<T> v, TileOf<T> t) {
    return Task(Qr<T>::ttqrt, read(b), read_write(r), write(v), write(t));
}
/// C := op(Q)·C; and [C; D] := op(Q)·[C; D], where D lives, or where C lives for a Q of two triangles.
template <class T>
[[nodiscard]] Task gemqrt(QArguments args, TileOf<T> v, TileOf<T> t, TileOf<T> c) {
    return {Qr<T>::gemqrt, args, read(v), read(t), read_write(c)};
}
template <class T>
[[nodiscard]] Task tsmqr(QArguments args, std::array<TileOf<T>, 2> v_and_t, TileOf<T> c, TileOf<T> d) {
    return {Qr<T>::tsmqr, args, read(v_and_t[0]), read(v_and_t[1]), read_write(d), read_write(c)};
}
template <class T>
[[nodiscard]] Task ttmqr(QArguments args, std::array<TileOf<T>, 2> v_and_t, TileOf<T> c, TileOf<T> d) {
    return {Qr<T>::ttmqr, args, read(v_and_t[0]), read(v_and_t[1]), read_write(c), read_write(d)};
}

}  // namespace tesela::tasks
