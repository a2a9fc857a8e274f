#pragma once

#include "tesela/mds/decomposition.hpp"

namespace tesela::mds {

/// Principal components: prcomp of R; with weights those of cov.wt's covariance matrix.
struct Components {
    Decomposition decomposition;        ///< its right vectors are the loadings, prcomp's rotation
    std::vector<double> deviations{};   ///< of the components that are known: prcomp's sdev
    std::vector<double> proportions{};  ///< of the variance, of each of these
    std::vector<double> scores{};       ///< rows x wanted, columns one after the other: prcomp's x
    std::vector<double> centres{};      ///< of the columns: prcomp's center
    std::vector<double> scales{};       ///< what they were divided by: prcomp's scale; none where they were not
};

enum class ColumnScale : std::uint8_t { as_they_are, unit_deviation };

/// Components of the columns of a file, whose rows are observations; every node calls it.
[[nodiscard]] Components principal_components(Stream& stream, const MatrixFile& file, ColumnScale scale,
                                              const DecompositionOptions& options);
[[nodiscard]] Components principal_components(Stream& stream, const MatrixFile& file, const Decision& decision);

}  // namespace tesela::mds
