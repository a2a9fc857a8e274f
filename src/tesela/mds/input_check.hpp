#pragma once

#include "tesela/base/error.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/mds/decomposition.hpp"

#include <cstdint>
#include <mutex>
#include <span>

namespace tesela::mds {

/// What can be wrong with a value of a file, for an analysis.
enum class Flaw : std::uint8_t { none, not_finite, negative, diagonal, asymmetric };

/// A value that an analysis cannot use, and where it stands in the file, from 0.
struct InputFlaw {
    Flaw flaw = Flaw::none;
    Index row = 0;
    Index col = 0;
    double value = 0;
    double mirrored = 0;  ///< asymmetric: the value at (col, row)

    explicit operator bool() const noexcept { return flaw != Flaw::none; }
};

/// Two distances that differ by more than this part of the larger one are not the same; a diagonal's by this part of
/// the largest of its block is not 0. Beyond what rounding to six digits or single precision leaves.
inline constexpr double same_distance = 1e-6;

/// Looks for the first value, by columns, of a block that the analysis cannot use: not finite, negative (distances and
/// counts), or not 0 on the diagonal (distances). The block's element (i, j) is values.data[i + j * values.leading].
[[nodiscard]] InputFlaw find_flaw(Analysis analysis, const MatrixBlock& block,
                                  ColumnMajor<const double> values) noexcept;

/// Compares a block of distances with the one that stands at its mirrored place: the largest difference, if it is
/// beyond same_distance. `mirrored` has block.cols rows and block.rows columns.
[[nodiscard]] InputFlaw find_asymmetry(const MatrixBlock& block, ColumnMajor<const double> values,
                                       ColumnMajor<const double> mirrored) noexcept;

/// The flaw that is said of two: what is no distance at all before what is not symmetric, of these the larger
/// difference, of others the first by rows.
[[nodiscard]] InputFlaw worse(const InputFlaw& a, const InputFlaw& b) noexcept;

/// What several threads find.
class FoundFlaws {
public:
    void add(const InputFlaw& flaw) noexcept;
    [[nodiscard]] InputFlaw worst() const noexcept;

private:
    mutable std::mutex mutex_;
    InputFlaw worst_{};
};

/// One line that names file, row and column (from 1, with their labels) and the value.
[[nodiscard]] Refusal input_error(const MatrixFile& file, const InputFlaw& flaw);

/// "row 3 (Brussels)"
[[nodiscard]] std::string row_name(const MatrixFile& file, Index row);
[[nodiscard]] std::string column_name(const MatrixFile& file, Index col);

/// Throws Error naming the first column whose values are all alike up to rounding: it cannot be divided by its
/// deviation. `squares` are of distances from the means, over `weight` rows' worth.
void require_deviations(const MatrixFile& file, std::span<const double> means, std::span<const double> squares,
                        double weight);

/// Throws Error naming the first row or column of counts that sums to 0: it has no profile.
void require_masses(const MatrixFile& file, std::span<const double> row_sums, std::span<const double> col_sums);

}  // namespace tesela::mds
