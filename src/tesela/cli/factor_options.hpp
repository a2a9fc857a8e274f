#pragma once

#include "tesela/algs/cholesky.hpp"

namespace CLI {
class App;
}

namespace tesela::cli {

/// Adds --diagonal-tile, of a Cholesky factorisation.
void add_factor_options(CLI::App& command, FactorOptions& options);

/// Throws Error where messages with tiles of low rank are to have more columns (--sent-rank) than make them as long as
/// a whole tile, which sent_shape never lets them be.
void check_sent_rank(Index sent_rank, Index tile);

}  // namespace tesela::cli
