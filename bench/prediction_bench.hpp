#pragma once

#include "tesela/cli/output.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

struct PredictionOptions {
    std::vector<Index> sizes{2000, 4000, 6000, 8000};
    std::vector<Index> geo_sizes{4000};
    std::vector<Index> redistribution_sizes{8000};
    /// Numbers of workers of a node, one after the other; under mpirun one number, or none for the cores at hand.
    std::vector<int> workers{};
    int passes = 3;        ///< each calibrates, predicts and measures; the one with the middle error counts
    int repetitions = 3;   ///< of a run in each pass; the middle one counts
    double seconds = 0.1;  ///< of calibration for each kernel and tile size
    std::string table;     ///< a CSV file for the rows; those of runs on other numbers of nodes are kept
};

/// Calibrates the nodes at hand from isolated kernels and messages, predicts and measures, for every Cholesky
/// factorisation, likelihood evaluation and redistribution anew, several times: the speed of many machines changes from
/// minute to minute. Relative errors, and their median. Every node calls it; the first writes the table.
[[nodiscard]] cli::Json prediction_benchmark(const PredictionOptions& options);

}  // namespace tesela::bench
