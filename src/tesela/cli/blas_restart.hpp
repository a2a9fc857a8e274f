#pragma once

#include <CLI/CLI.hpp>

namespace tesela::cli {

/// For commands that run kernels. Once `command` has been parsed, and before it runs: where OpenBLAS took kernels for a
/// much older processor, the program starts itself once more with OPENBLAS_CORETYPE set to one that fits. OpenBLAS
/// reads that variable while it is loaded, so setting it is too late. No MPI and no output may precede it.
void fit_blas_before(CLI::App& command);

}  // namespace tesela::cli
