#pragma once

#include "tesela/algs/redistribute.hpp"
#include "tesela/base/names.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/starpu/engine.hpp"

#include <optional>
#include <string>

namespace tesela::bench {

/// What --path takes.
inline constexpr Names<RedistributionPath, 2> path_names{
    {{RedistributionPath::exchange, "exchange"}, {RedistributionPath::tasks, "tasks"}}};

/// One redistribution to measure. Sizes that are not given follow from n.
struct RedistributeBenchOptions {
    Index n = 8000;
    /// Size of the source and of the target; less than 0: n.
    ElementIndex from_size{-1, -1};
    ElementIndex to_size{-1, -1};
    /// Empty: all nodes in one row, and a grid that is nearly square but not the same.
    std::string from;
    std::string to;
    ElementIndex tile_from{960, 960};
    ElementIndex tile_to{400, 400};
    RedistributeOptions redistribute{};
    Part part = Part::all;
    Op op = Op::none;
    /// Gives the tiles of one matrix to other owners instead, by moves.
    bool in_place = false;
    int repetitions = 7;
    bool check = false;
    bool compare = true;
    cli::RunOptions run{};
};

/// Throws Error, before anything is started, if a number cannot be.
void check_options(const RedistributeBenchOptions& options);

/// "seconds", "bytes", "gbytes_per_second", "bound" and, where ScaLAPACK can do the same, its time in the same
/// interleaved run.
[[nodiscard]] cli::Json redistribute_benchmark(StarpuEngine& engine, const RedistributeBenchOptions& options);

/// The grid of "block_cyclic:PxQ"; nothing for other families.
[[nodiscard]] std::optional<GridSize> block_cyclic_grid(const std::string& family);

/// Block-cyclic families that differ as much as they can: all nodes in one row, and a grid as square as can be that is
/// not that row.
[[nodiscard]] std::string flat_grid(Index nodes);
[[nodiscard]] std::string square_grid(Index nodes);

}  // namespace tesela::bench
