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
    Index missing = 0;  ///< stored tiles that no task of the trace wrote
};

/// Of every matrix that had a tile of low rank, in the order of the trace; of several with one name the last. Throws
/// Error where the trace does not say how large its tiles are.
[[nodiscard]] std::vector<TracedRanks> traced_ranks(const trace::Trace& trace);

/// Throws Error where tiles are missing, with their number and what the reader of the trace found wrong with it: a
/// node's file that is not there or was cut short. `file` is the trace's name in messages.
void require_all_tiles(const TracedRanks& ranks, const trace::Trace& trace, const std::string& file);

/// Of the matrix with this name, or, without one, of the only one; messages call the trace `file`. Throws
/// Error for the trace of a run without tiles of low rank, for a name that none has, where a name is needed, and where
/// tiles are missing.
[[nodiscard]] TracedRanks ranks_of_matrix(const trace::Trace& trace, std::string_view matrix, const std::string& file);

}  // namespace tesela
