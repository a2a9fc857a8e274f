#pragma once

#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tesela {

/// One matrix of several: part [i][j] is block (i, j) of it. Labels are those of the first column and row of parts, if
/// all of these have some. Throws Error if there are no parts, or sizes or element types do not fit each other.
[[nodiscard]] std::unique_ptr<MatrixFile> matrix_grid(std::vector<std::vector<std::unique_ptr<MatrixFile>>> parts,
                                                      std::string name);

}  // namespace tesela
