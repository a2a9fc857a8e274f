#pragma once

#include "tesela/algs/cholesky.hpp"

namespace CLI {
class App;
}

namespace tesela::cli {

/// Adds --lookahead and --diagonal-tile: paper 004's switches of a Cholesky factorisation.
void add_factor_options(CLI::App& command, FactorOptions& options);

}  // namespace tesela::cli
