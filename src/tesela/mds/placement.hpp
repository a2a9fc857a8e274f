#pragma once

#include "tesela/mds/components.hpp"
#include "tesela/mds/correspondence.hpp"
#include "tesela/mds/scaling.hpp"

namespace tesela::mds {

/// New points among those that were analysed, which stay where they are: a row per new point, points x dimensions,
/// columns one after the other. Each needs no other node. All throw Error where values or columns do not fit.

/// From the distances of each new point, a row, from each old one (Gower 1968): with squared distances d² from the old
/// points and b those of the old ones from their centroid, the new one is at ½·Λ⁻¹·Xᵀ·W·(b - d²). An old point's
/// distances give its own coordinates.
[[nodiscard]] std::vector<double> place(const Scaling& scaling, const MatrixFile& distances);

/// From rows with the same columns: centred, scaled and rotated as the old ones were (predict of prcomp).
[[nodiscard]] std::vector<double> place(const Components& components, const MatrixFile& rows);

/// Supplementary rows of counts, by the transition formula: the profile of a row times the standard coordinates of the
/// columns.
[[nodiscard]] std::vector<double> place(const Correspondence& analysis, const MatrixFile& rows);

}  // namespace tesela::mds
