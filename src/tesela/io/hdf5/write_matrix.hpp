#pragma once

#include "tesela/io/matrix_writer.hpp"

#include <memory>
#include <string>

namespace tesela {

/// Writes a data set of an HDF5 file of its own, with labels beside it as rownames and colnames. Throws Error if the
/// file cannot be written, or this build has no HDF5.
[[nodiscard]] std::unique_ptr<MatrixWriter> write_hdf5_matrix(const std::string& path, const std::string& dataset,
                                                              MatrixPlan plan);

/// Writes a matrix to a file by its ending: .h5 or .hdf5 (`D.h5:/distance`; without a name the data set is
/// the plan's), .npy, else CSV. Throws Error where chunks or compression are asked for that the format does not have.
[[nodiscard]] std::unique_ptr<MatrixWriter> write_matrix(const std::string& name, MatrixPlan plan);

}  // namespace tesela
