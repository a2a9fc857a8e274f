#pragma once

#include "tesela/algs/cholesky.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela::bench {

/// Paper 004's switches of a Cholesky factorisation.
struct SwitchedFactor {
    Priorities priorities = Priorities::critical_path;
    /// The control dependency: in each panel the solves further than this from the diagonal wait until the next
    /// diagonal tile is updated, so that the critical path goes first also where priorities do not say so. 0: they do
    /// not wait.
    Index lookahead = 0;
    /// FactorOptions::diagonal_tile: hierarchical potrf.
    Index diagonal_tile = 0;
};

/// `cholesky` where there is no lookahead, else the same loop with the dependency.
void switched_cholesky(Stream& s, const MatrixView<double>& A, const SwitchedFactor& options);

/// That of a matrix that nothing generates, and waits: run_operation with the switches.
void run_switched_cholesky(Stream& s, const Tiling& tiling, const Distribution& owners, const SwitchedFactor& options);

}  // namespace tesela::bench
