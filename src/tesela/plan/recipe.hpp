#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/generation.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tesela::plan {

/// Owners of the tiles of a matrix in both phases.
struct PhaseDistributions {
    Distribution first;
    Distribution second;
    friend bool operator==(const PhaseDistributions&, const PhaseDistributions&) = default;
};

/// What is distributed.
struct PlannedMatrix {
    GridSize tiles{};
    Index tile = 960;  ///< rows of a tile
    Operation operation = Operation::cholesky;
    std::string name{};  ///< in the stream, by which its ranks are known
    TileMap density{};   ///< rank over size of each tile; none: all are stored whole
    /// What ranks leave of the work of a kernel, on the average.
    KernelCosts ratios{.factor = 1, .solve = 1, .symmetric_update = 1, .update = 1};
    [[nodiscard]] Stored stored() const { return stored_tiles(operation); }
};

/// Who owns the tiles of the first phase, section 4.4 of paper 000: as few as can be move to where the second phase has
/// them, and nodes have their shares of the tiles; the same, with shares rounded to rows of tiles, dealt as `1d` does,
/// which is how the paper counts what is read; or whole rows by turns, whatever the second phase has, as it was before.
enum class FirstOwners : std::uint8_t { shares_of_tiles, shares_of_rows, rows_by_turns };

/// How both distributions are made: a family for the second phase, with powers, and for the first phase shares of the
/// tiles, or none, where tiles stay where they are.
struct Recipe {
    std::string family = "1d1d";
    std::vector<double> second;   ///< of the nodes; those without power own nothing
    std::vector<double> first{};  ///< shares of the tiles, which add up to 1
    FirstOwners owners = FirstOwners::shares_of_tiles;
    HandOver hand_over = HandOver::steadiest;  ///< of the tiles that change hands between the phases
    std::optional<RowConstraint> rows{};       ///< of all nodes, for 1d_constrained
    friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Families by powers, from the catalogue; Algorithm 2 of paper 000 for the first phase, as few tiles as can be move.
/// Throws Error as make_family and generation_distribution do.
[[nodiscard]] PhaseDistributions distributions_of(const Recipe& recipe, const PlannedMatrix& matrix,
                                                  const Platform& platform);

/// A distribution over some nodes, as one over all, by their numbers.
[[nodiscard]] Distribution on_nodes(const Distribution& distribution, const std::vector<Index>& nodes, Index all);

/// Nodes of the fastest partition of equal nodes by dgemm, all its nodes together; of the second fastest where that is
/// a single node among several partitions (paper 000, section 5.4).
[[nodiscard]] std::vector<Index> fast_nodes(const Platform& platform, Index tile);

}  // namespace tesela::plan
