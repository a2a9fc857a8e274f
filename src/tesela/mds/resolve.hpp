#pragma once

#include "tesela/flow/machine.hpp"
#include "tesela/mds/decomposition.hpp"

#include <string>
#include <utility>

namespace tesela::mds {

/// What is known of a matrix before it is read, as far as decisions depend on it.
struct MatrixFacts {
    std::string name;
    Analysis analysis = Analysis::scaling;
    GridSize size;                            ///< elements
    ElementType elements = ElementType::f64;  ///< of the file
};
[[nodiscard]] MatrixFacts facts_of(const MatrixFile& file, Analysis analysis);

/// Why a matrix is decomposed as it is.
enum class AlgorithmReason : std::uint8_t { asked_for, small_enough, too_large };

/// How a matrix is cut, who has which tile, and what of it is in memory, where it is streamed.
struct StreamingDecision {
    Tiling tiling;
    TileOwners owners;
    Index columns = 1;  ///< of a block that it is multiplied with
    // As in StreamedSpec and StreamedReading:
    Index panel_tiles = 1;
    Index slots = 1;
    Index passing_rows = 2;
    Index resident_rows = 1;
    double bytes = 0;  ///< of a node, for the tiles that stay there and those that pass, and for panels
};

/// That tiles of the size that was asked for are so many that they take long, and what would be chosen.
struct ManyTiles {
    Index tiles = 0;
    double bytes = 0;  ///< besides their elements
    Index chosen_size = 0;
    Index chosen_tiles = 0;
};

/// How a matrix is decomposed.
struct Decision {
    Decision(DecompositionOptions request, Analysis of) : asked(std::move(request)), analysis(of) {}

    DecompositionOptions asked;
    Analysis analysis;
    Algorithm algorithm = Algorithm::exact;
    AlgorithmReason reason = AlgorithmReason::asked_for;
    Index dimensions = 1;                          ///< at most, where they are to explain some part
    std::optional<StreamingDecision> streaming{};  ///< unless exact
    std::optional<ManyTiles> many_tiles{};
};

/// LAPACK decomposes what has so many rows or columns, whichever is less, and so many elements.
inline constexpr Index largest_exact = 2000;
inline constexpr Index largest_exact_elements = Index{1} << 27;  ///< 1 GiB on the node that has them all
/// At most so many dimensions explain a part of the variance where not all values are known.
inline constexpr Index most_explaining = 50;
/// What a tile takes besides its elements: measured with 281,625 (1.8 GB, 27 s) and 1,125,750 of them (6.3 GB, 190 s).
inline constexpr double bytes_per_tile = 5.5e3;
/// Beyond so many tiles, 1 GB and more than ten seconds, there is a note.
inline constexpr Index many_tiles = 200'000;
/// A size that makes more tiles than this, 22 GB and more than ten minutes by these figures, is refused.
inline constexpr Index most_tiles = 4'000'000;

/// Throws Error where a request cannot be meant for such a matrix, whatever the nodes: too many dimensions, weights,
/// too many tiles, owners of other tiles, memory for a part of what is centred itself.
void check(const DecompositionOptions& request, const MatrixFacts& facts);

/// What is done, by these alone; throws as check(). Small matrices are decomposed by LAPACK, others by block Krylov.
/// Tiles are so small that all workers have some, and so large that tasks are work; whole rows of them are dealt to the
/// nodes in turns; of rows that memory does not suffice for, the first are read again in every pass.
[[nodiscard]] Decision resolve(const DecompositionOptions& request, const MatrixFacts& facts, const Machine& machine);

/// The same for the nodes of a stream, after validate(); every node calls it.
[[nodiscard]] Decision resolve_for(Stream& stream, const MatrixFile& file, Analysis analysis,
                                   const DecompositionOptions& request);

}  // namespace tesela::mds
