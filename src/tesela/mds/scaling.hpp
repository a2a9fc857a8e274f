#pragma once

#include "tesela/mds/goodness_of_fit.hpp"

namespace tesela::mds {

/// Classical multidimensional scaling (principal coordinates): cmdscale of R; with weights wcmdscale of vegan.
struct Scaling {
    Decomposition decomposition;
    std::vector<double> weights{};      ///< of the points; none: all 1
    Index dimensions = 0;               ///< those of the wanted eigenvalues that are above 0
    std::vector<double> coordinates{};  ///< points x dimensions, columns one after the other: W^-½·U·Λ^½
    GoodnessOfFit fit{};

    [[nodiscard]] double coordinate(Index point, Index dimension) const {
        return coordinates[static_cast<std::size_t>(point + dimension * decomposition.rows)];
    }
};

/// Points whose distances are those of a square file, as nearly as so many dimensions allow; every node calls it.
[[nodiscard]] Scaling scale(Stream& stream, const MatrixFile& distances, const DecompositionOptions& options);
[[nodiscard]] Scaling scale(Stream& stream, const MatrixFile& distances, const Decision& decision);

}  // namespace tesela::mds
