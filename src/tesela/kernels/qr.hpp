#pragma once

#include "tesela/kernels/kernel.hpp"

#include <cstdint>

namespace tesela {

/// How many reflectors are best applied at once where tiles have so many columns; T tiles have as many rows. Few where
/// there are few columns, since T is more work then; measured with tiles of 20 to 512 columns.
[[nodiscard]] constexpr Index reflectors_at_once(Index cols) {
    const Index most = cols <= 128 ? 16 : 48;
    return cols < most ? cols : most;
}

/// Which columns of C a product with Q works on: all, or those from each reflector's own on, which is all that Q
/// changes of an upper triangle on top of zeros. So the first columns of Q itself cost half.
enum class QColumns : std::uint8_t { all, from_diagonal };

struct QArguments {
    Op op = Op::none;  ///< of Q
    QColumns columns = QColumns::all;
};

/// Kernels of tiled QR (Buttari, Langou, Kurzak and Dongarra, Parallel Comput. 35 (2009) 38), in single (float) and
/// double precision. Q = I − V·T·Vᵀ by blocks of columns; T tiles have as many rows as a block has columns, and their
/// blocks side by side. R tiles are at least as high as wide, with zeros beneath the triangle. Tiles in the order
/// given.
template <class T>
struct Qr {
    static const KernelOf<NoArguments, T, T, T>
        geqrt;  ///< (A, R, T): A = Q·R; A keeps the vectors beneath its diagonal, R becomes the triangle
    static const KernelOf<NoArguments, T, T, T> tsqrt;  ///< (B, R, T): [R; B] = Q·[R'; 0]; R becomes R', B the vectors
    static const KernelOf<NoArguments, const T, T, T, T>
        ttqrt;  ///< (B, R, V, T): the same of a triangle B, whose vectors are a triangle V
    static const KernelOf<QArguments, const T, const T, T> gemqrt;  ///< (V, T, C): C := op(Q)·C, Q of geqrt
    static const KernelOf<QArguments, const T, const T, T, T>
        tsmqr;  ///< (V, T, D, C): [C; D] := op(Q)·[C; D], of tsqrt
    static const KernelOf<QArguments, const T, const T, T, T>
        ttmqr;  ///< (V, T, C, D): [C; D] := op(Q)·[C; D], of ttqrt
};

extern template struct Qr<float>;
extern template struct Qr<double>;

}  // namespace tesela
