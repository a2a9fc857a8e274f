#pragma once

#include "tesela/mds/decomposition.hpp"

namespace tesela::mds {

/// Rows or columns of a table of counts as points; matrices are points x dimensions, columns one after the other.
struct ProfilePoints {
    std::vector<double> masses{};           ///< rowmass, colmass of R's ca
    std::vector<double> distances{};        ///< from the mean profile, chi-square: rowdist, coldist
    std::vector<double> inertias{};         ///< mass·distance²: rowinertia, colinertia
    std::vector<double> standard{};         ///< coordinates of variance 1: rowcoord, colcoord
    std::vector<double> coordinates{};      ///< principal ones: standard·σ
    std::vector<double> contributions{};    ///< mass·coordinate²/σ², to each dimension: summary's ctr/1000
    std::vector<double> squared_cosines{};  ///< coordinate²/distance²: summary's cor/1000
};

/// Correspondence analysis of a table of counts: ca of R.
struct Correspondence {
    Decomposition decomposition;  ///< singular values: sv of ca
    Index dimensions = 0;
    double inertia = 0;
    double chi_square = 0;  ///< inertia times the sum of the table, with (rows - 1)·(cols - 1) degrees of freedom
    ProfilePoints rows{};
    ProfilePoints columns{};

    /// σ² of the singular values that are known, without the last, which is 0.
    [[nodiscard]] std::vector<double> inertias() const;
};

/// Rows and columns of a table as points whose distances are those of their profiles; every node calls it. The file is
/// read once more, for the distances of all points from the mean.
[[nodiscard]] Correspondence correspondence(Stream& stream, const MatrixFile& counts,
                                            const DecompositionOptions& options);
[[nodiscard]] Correspondence correspondence(Stream& stream, const MatrixFile& counts, const Decision& decision);

}  // namespace tesela::mds
