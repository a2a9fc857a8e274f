#pragma once

#include "tesela/io/csv_matrix.hpp"
#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <string>

namespace tesela {

struct OpenMatrixOptions {
    /// Which part of a CSV file is the matrix.
    CsvMatrixOptions csv;
};

/// Opens the matrix that a text names, whatever kind of file it is in: HDF5 (`D.h5:/distance`; `D.h5` if there is but
/// one matrix in it), NumPy or CSV, told apart by how they begin. {i} and {j} in the name of a file stand for the block
/// row and the block column of a matrix in several files, counted from 0 or from 1: `part_{i}_{j}.h5:/d`, or
/// `band_{i}.npy`. Throws Error of one line that says what is wrong.
[[nodiscard]] std::unique_ptr<MatrixFile> open_matrix(const std::string& name, const OpenMatrixOptions& options = {});

/// A name of a matrix taken apart: the file, and the data set in it, which may be empty. `D.h5:/a:b` is data set /a:b
/// of D.h5; a file that has all of the name is meant first.
struct MatrixName {
    std::string file;
    std::string dataset;
};
[[nodiscard]] MatrixName parse_matrix_name(const std::string& name);

}  // namespace tesela
