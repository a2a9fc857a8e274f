#pragma once

#include "tesela/distribution/tiling.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/trace/trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The ranks that the tiles of a compressed matrix had in a traced run: as they were made, and at last (paper 004,
/// figure 2). Tiles that no task wrote count as stored whole.
struct TracedRanks {
    std::string matrix;
    Tiling tiling;
    Stored stored = Stored::full;  ///< lower, where no task wrote a tile above the diagonal
    RankMap initial;
    RankMap last;
};

/// Of every matrix that had a tile of low rank, in the order of the trace; of several with one name the last. Throws
/// Error where the trace does not say how large its tiles are.
[[nodiscard]] std::vector<TracedRanks> traced_ranks(const trace::Trace& trace);

/// Of the matrix with this name, or, without one, of the only one. `file` is the trace's name in messages. Throws
/// Error for the trace of a run without tiles of low rank, for a name that none has, and where a name is needed.
[[nodiscard]] TracedRanks ranks_of_matrix(const trace::Trace& trace, std::string_view matrix, const std::string& file);

}  // namespace tesela
