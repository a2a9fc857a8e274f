#pragma once

#include "tesela/base/index.hpp"
#include "tesela/io/matrix_writer.hpp"

#include <cstdint>
#include <functional>

namespace tesela::mds {

/// Random points whose distances a scaling can be tried on: coordinate j (from 1) is normal with standard deviation
/// j^-decay, so that the eigenvalues of their Gram matrix fall as j^(-2 decay). Numbers depend on seed, point and
/// coordinate only.
struct PointSample {
    Index points = 0;
    Index dimensions = 500;
    double decay = 0.5;
    std::uint64_t seed = 1;

    /// Coordinate `k` of point `i`, both from 0.
    [[nodiscard]] double coordinate(Index i, Index k) const noexcept;
};

struct SampleDistancesOptions {
    Index threads = 0;                             ///< 0: one per usable core
    std::function<void(Index rows_done)> on_rows;  ///< called by the calling thread after every block of rows
};

/// Writes the Euclidean distances between all points of a sample, in blocks of rows: symmetric, with zeros on the
/// diagonal, and the same whatever the threads and blocks. The caller commits. Throws Error if the sample has no points
/// or dimensions, or the writer has another size.
void write_distances(const PointSample& sample, MatrixWriter& writer, const SampleDistancesOptions& options = {});

/// Writes the points, a row each. The caller commits. Throws Error if the writer has another size.
void write_points(const PointSample& sample, MatrixWriter& writer);

}  // namespace tesela::mds
