#pragma once

#include "tesela/kernels/blas_core.hpp"

#include <CLI/CLI.hpp>

namespace tesela::cli {

/// For commands that run kernels: once `command` has been parsed, and before it runs, restart_with_better_blas.
inline void fit_blas_before(CLI::App& command) { command.parse_complete_callback(restart_with_better_blas); }

}  // namespace tesela::cli
