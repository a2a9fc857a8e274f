#pragma once

#include "tesela/flow/matrix.hpp"

#include <functional>

namespace tesela {

/// Y := A·X for a symmetric matrix that need not be stored; X and Y are cut alike.
using SymmetricProduct = std::function<void(const MatrixView<double>& X, const MatrixView<double>& Y)>;

struct ConjugateGradientOptions {
    /// ‖b − A·x‖ over ‖b‖, for each column of the right-hand side.
    double tolerance = 1e-10;
    Index max_iterations = 200;
};

/// What an iteration came to.
struct Convergence {
    Status status{};
    Index iterations = 0;
    /// The largest ‖b − A·x‖ / ‖b‖ of a column, computed anew at the end.
    double residual = 0;
    /// False where iterations did not do, or where A or L·Lᵀ turned out not to be positive definite.
    bool converged = false;
};

/// X := A⁻¹·B for a symmetric positive definite A of which only products are known, by conjugate gradients with L·Lᵀ in
/// place of A for a start: the better the factor, the fewer iterations. X holds a first guess. Columns of B are solved
/// side by side, with one product of A for all of them in an iteration. Waits for results in every iteration, on all
/// nodes alike. Throws Error unless the rows of L, B and X are cut alike and B is one tile wide.
[[nodiscard]] Convergence conjugate_gradients(Stream& s, const SymmetricProduct& A, const MatrixView<double>& L,
                                              const MatrixView<double>& B, const MatrixView<double>& X,
                                              const ConjugateGradientOptions& options = {});

/// G := Pᵀ·Q for two matrices of one tile's width, each product where its rows of P live; G is one tile.
void multiply_columns(Stream& s, const MatrixView<double>& P, const MatrixView<double>& Q, const MatrixView<double>& G);

}  // namespace tesela
