#pragma once

#include "tesela/distribution/tiling.hpp"
#include "tesela/distribution/weights.hpp"

#include <string>

namespace tesela {

/// The ranks of a compressed matrix before and after something was done to it, to be drawn.
struct RankMaps {
    std::string title;
    std::string initial_title = "as generated";
    std::string last_title = "as factored";
    Tiling tiling;
    Stored stored = Stored::full;
    RankMap initial;
    RankMap last;
};

/// How much the rank of each tile has grown; tiles that are stored whole count with their full rank.
[[nodiscard]] RankMap rank_changes(const RankMaps& maps);

/// An SVG picture of three maps side by side (paper 004, figure 2): the ranks at first and at last in the colours of
/// one scale, tiles that are stored whole in grey, and the difference, with a scale of its own in which white is no
/// change. Under the title of each map stand the mean and the largest. Tiles that are not stored stay blank. Throws
/// Error where maps and tiling do not fit together.
[[nodiscard]] std::string draw_rank_maps(const RankMaps& maps);

}  // namespace tesela
