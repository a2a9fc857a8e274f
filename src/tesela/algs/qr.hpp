#pragma once

#include "tesela/algs/priorities.hpp"
#include "tesela/algs/reduction_tree.hpp"
#include "tesela/flow/matrix.hpp"

#include <vector>

namespace tesela {

struct QrOptions {
    Reduction reduction = Reduction::automatic;
    Index domain = 4;  ///< tiles of a domain, for Reduction::domains
    Priorities priorities = Priorities::critical_path;
};

/// What `qr` leaves beside the matrix that it factorised, for products with Q. It refers to that matrix, which has to
/// be there, and unchanged, as long as Q is used.
template <class T>
struct QrFactors {
    MatrixView<T> A;                   ///< R in the upper triangle, vectors of reflectors elsewhere
    std::vector<ReductionTree> trees;  ///< by panel
    Matrix<T> block_triangles;         ///< T of the reflectors of each tile of A
    Matrix<T> merge_vectors;           ///< of the merge of each domain but the first
    Matrix<T> merge_triangles;         ///< T of these
    QrOptions options;

    [[nodiscard]] Index panels() const { return static_cast<Index>(trees.size()); }
};

/// A = Q·R by Householder's reflectors, of any shape: R takes the place of the upper triangle of A (of its first rows,
/// or of its first columns on where it has more of these), the vectors of the reflectors that of the others. Columns
/// that depend on others are no failure: R has zeros then, Q is orthogonal all the same. Throws Error unless tiles on
/// the diagonal are square, but for the last: that may have more rows than columns if no columns come after it, and
/// fewer if no rows do; or if A is transposed or a triangle.
template <class T>
[[nodiscard]] QrFactors<T> qr(Stream& s, const MatrixView<T>& A, const QrOptions& options = {});

/// C := Q·C or Qᵀ·C, with Q square of as many rows as A. Throws Error unless the rows of C are cut as those of A.
template <class T>
void multiply_q(Stream& s, const QrFactors<T>& factors, Op op, const MatrixView<T>& C);

/// Q := the first columns of Q, at most as many as A has rows and columns; nothing need have written it before. Throws
/// Error unless its rows are cut as those of A and its columns as those of R's diagonal.
template <class T>
void form_q(Stream& s, const QrFactors<T>& factors, const MatrixView<T>& Q);

/// R := R with zeros beneath its diagonal; nothing need have written it before. Throws Error unless its columns are cut
/// as those of A and its rows as the diagonal of A.
template <class T>
void copy_r(Stream& s, const QrFactors<T>& factors, const MatrixView<T>& R);

/// The tiles of R and, on either side, of the first columns of Q: those of the diagonal of A.
template <class T>
[[nodiscard]] Tiling tiling_of_r(const MatrixView<T>& A);

/// Y := Q of Y = Q·R: columns of length 1 at right angles, which span what those of Y span; returns R. Where columns of
/// Y depend on others, what takes their place is some other direction. Throws Error as `qr` does, and if Y has more
/// columns than rows.
template <class T>
Matrix<T> orthonormalise(Stream& s, const MatrixView<T>& Y, const QrOptions& options = {});

#define TESELA_DECLARE_QR(T)                                                                 \
    extern template QrFactors<T> qr(Stream&, const MatrixView<T>&, const QrOptions&);        \
    extern template void multiply_q(Stream&, const QrFactors<T>&, Op, const MatrixView<T>&); \
    extern template void form_q(Stream&, const QrFactors<T>&, const MatrixView<T>&);         \
    extern template void copy_r(Stream&, const QrFactors<T>&, const MatrixView<T>&);         \
    extern template Tiling tiling_of_r(const MatrixView<T>&);                                \
    extern template Matrix<T> orthonormalise(Stream&, const MatrixView<T>&, const QrOptions&)
TESELA_DECLARE_QR(float);
TESELA_DECLARE_QR(double);
#undef TESELA_DECLARE_QR

}  // namespace tesela
