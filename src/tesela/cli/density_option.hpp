#pragma once

#include "tesela/distribution/weights.hpp"
#include "tesela/sim/rank_model.hpp"
#include "tesela/sim/traced_ranks.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tesela::cli {

/// What tiles hold: `--density` says how much in words, `--ranks` names the trace of a run that knows.
struct DensityOptions {
    std::string density = "dense";
    std::string ranks;  ///< TRACE or TRACE:MATRIX; empty: none
};

/// `--ranks` alone, for commands whose other tiles are dense.
CLI::Option* add_ranks_option(CLI::App& command, std::string& ranks);
/// Both; one excludes the other.
void add_density_options(CLI::App& command, DensityOptions& options);

/// What the ranks of a trace are to be used for; what they are of must agree.
struct RanksUse {
    Index tiles = 0;            ///< tile rows and columns, as --tiles
    std::optional<Index> tile;  ///< rows of a tile, where --tile was given
    Operation operation = Operation::cholesky;
};

/// The ranks that `--ranks` names. Throws Error for a trace without tiles of low rank, for a matrix that it does not
/// have, for tiles of other number or size, and for the lower triangle alone where the operation needs all tiles.
[[nodiscard]] TracedRanks read_ranks(const std::string& text, const RanksUse& use);

/// Rows of a tile of that matrix, for those who know its size in rows alone.
[[nodiscard]] Index tile_of_ranks(const std::string& text);

/// What `--density` takes, for n x n tiles: dense, or synthetic:DELTA (paper 001's generator). Throws Error otherwise.
[[nodiscard]] TileMap parse_density(const std::string& text, Index tiles, std::uint64_t seed);

/// What tiles hold, for those who weigh them, who move them, and who simulate with them.
struct TileContents {
    TileMap density;   ///< of the operation's matrix
    RankMap ranks;     ///< the same as ranks, for tiles of this size
    Index tile = 960;  ///< rows of a tile: as asked, else as the trace has them
};
[[nodiscard]] TileContents tile_contents(const DensityOptions& options, const RanksUse& use, std::uint64_t seed);

}  // namespace tesela::cli
