#pragma once

#include "tesela/io/matrix_file.hpp"

#include <memory>

namespace tesela::mds {

/// The Euclidean distances between all rows of a matrix, read as if they were a file: each block is computed when it is
/// read, and none is stored. Symmetric and 0 on the diagonal to the last digit; coordinates are subtracted before they
/// are squared, so that near points keep their digits. Throws Error where the points cannot be read or are not finite.
[[nodiscard]] std::unique_ptr<MatrixFile> point_distances(const MatrixFile& points);

/// The distances of each row of the first matrix, a row, from each row of the second, a column. Throws Error also where
/// their numbers of coordinates differ.
[[nodiscard]] std::unique_ptr<MatrixFile> point_distances(const MatrixFile& from, const MatrixFile& to);

}  // namespace tesela::mds
