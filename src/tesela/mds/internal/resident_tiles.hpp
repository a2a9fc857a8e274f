#pragma once

#include "tesela/mds/streamed_matrix.hpp"

#include <optional>
#include <vector>

namespace tesela {

/// The step of a stream that row i of tiles belongs to.
[[nodiscard]] inline std::int32_t step_of(Index i) { return static_cast<std::int32_t>(i); }

/// The memory that a streamed matrix has on its nodes: for all its tiles, or for its last rows and for some through
/// which the others pass in every product; and for the panels that tiles are taken from.
class ResidentTiles {
public:
    ResidentTiles(Stream& stream, const StreamedSpec& spec);

    [[nodiscard]] TileOf<double> tile(Index i, Index j) const;
    /// Where row i of a column of panels is read to.
    [[nodiscard]] TileRef panel(Index i, Index column) const;
    /// All tiles, where none passes.
    [[nodiscard]] const std::optional<Matrix<double>>& whole() const { return whole_; }

private:
    void make_rows(Stream& s, const StreamedSpec& spec);
    void make_panels(Stream& s, const StreamedSpec& spec);

    std::optional<Matrix<double>> whole_;
    std::vector<Matrix<double>> rows_;  ///< memory of one row each, where not all is kept
    std::vector<Index> memory_of_;      ///< by row: which of these
    std::vector<Attached> panels_;      ///< by column of panels
    std::vector<Index> slot_of_;        ///< by row
};

}  // namespace tesela
