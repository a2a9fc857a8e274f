#pragma once

#include "tesela/base/index.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// What `tesela bench readers` measures.
struct ReadersOptions {
    std::string file;  ///< a matrix in one file; empty: files of its own are made
    Index n = 10000;   ///< order of the matrices that are made, of float32
    std::vector<Index> readers{1, 2, 5};
    Index panel = 500;         ///< rows that a reader reads at a time
    Index repetitions = 5;     ///< the best counts
    std::string folder = ".";  ///< where files are made, and removed again
    std::string table;         ///< CSV file for the results; empty: none
};

/// So many threads read panels of rows through MatrixFile, into floats by rows and by columns, and as many read the
/// same bytes by pread alone, in turns, with the file in memory (warm) and not (cold); beside them HDF5's own reading
/// of an HDF5 file. Throws Error where something cannot be read.
[[nodiscard]] nlohmann::ordered_json readers_benchmark(const ReadersOptions& options);

}  // namespace tesela::bench
