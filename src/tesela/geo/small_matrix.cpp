#include "tesela/geo/small_matrix.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace tesela::geo {

// By the textbook.
std::optional<SmallMatrix> small_cholesky(const SmallMatrix& A, double smallest) {
    SmallMatrix L(A.rows, A.rows);
    for (Index j = 0; j < A.rows; ++j) {
        for (Index i = j; i < A.rows; ++i) {
            double sum = A(i, j);
            for (Index k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
            if (i > j)
                L(i, j) = sum / L(j, j);
            else if (!(sum > smallest * A(j, j)))
                return std::nullopt;
            else
                L(j, j) = std::sqrt(sum);
        }
    }
    return L;
}

// Column by column.
SmallMatrix small_inverse(const SmallMatrix& L) {
    SmallMatrix inverse(L.rows, L.rows);
    for (Index c = 0; c < L.rows; ++c) {
        inverse(c, c) = 1;
        for (Index i = 0; i < L.rows; ++i) {
            for (Index k = 0; k < i; ++k) inverse(i, c) -= L(i, k) * inverse(k, c);
            inverse(i, c) /= L(i, i);
        }
        for (Index i = L.rows - 1; i >= 0; --i) {
            for (Index k = i + 1; k < L.rows; ++k) inverse(i, c) -= L(k, i) * inverse(k, c);
            inverse(i, c) /= L(i, i);
        }
    }
    return inverse;
}

SmallMatrix product(const SmallMatrix& A, const SmallMatrix& B) {
    SmallMatrix C(A.rows, B.cols);
    for (Index j = 0; j < B.cols; ++j)
        for (Index k = 0; k < A.cols; ++k)
            for (Index i = 0; i < A.rows; ++i) C(i, j) += A(i, k) * B(k, j);
    return C;
}

double log_abs_determinant(SmallMatrix A) {
    double sum = 0;
    for (Index k = 0; k < A.rows; ++k) {
        Index pivot = k;
        for (Index i = k + 1; i < A.rows; ++i)
            if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
        if (A(pivot, k) == 0) return -std::numeric_limits<double>::infinity();
        for (Index j = k; j < A.rows; ++j) std::swap(A(k, j), A(pivot, j));
        sum += std::log(std::abs(A(k, k)));
        for (Index i = k + 1; i < A.rows; ++i)
            for (Index j = k + 1; j < A.rows; ++j) A(i, j) -= A(i, k) / A(k, k) * A(k, j);
    }
    return sum;
}

}  // namespace tesela::geo
