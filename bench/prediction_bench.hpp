#pragma once

#include "tesela/cli/output.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

struct PredictionOptions {
    std::vector<Index> sizes{2000, 4000, 6000, 8000};
    std::vector<Index> geo_sizes{4000};
    std::vector<int> workers{1, 2};
    int repetitions = 5;
    double seconds = 0.1;  ///< of calibration for each kernel and tile size
    std::string table;     ///< a CSV file for the rows
};

/// Calibrates this machine from isolated kernels, then predicts and measures Cholesky factorisations and likelihood
/// evaluations: relative errors, and their median.
[[nodiscard]] cli::Json prediction_benchmark(const PredictionOptions& options);

}  // namespace tesela::bench
