#pragma once

#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <string>

namespace tesela {

/// Who reads the elements. fastest: threads at once and without HDF5 where that can be; library: HDF5 itself, one
/// thread at a time, to compare with.
enum class Hdf5Reading { fastest, library };

struct Hdf5Options {
    Hdf5Reading reading = Hdf5Reading::fastest;
};

/// Opens a two-dimensional data set of numbers in an HDF5 file, or one that a soft or an external link in it leads to;
/// without its name the only one that the file has. Labels are data sets of strings beside it called rownames and
/// colnames (row_labels and col_labels; axis1 and block0_items, as pandas writes them). Threads read contiguous and
/// chunked data sets (uncompressed, or by shuffle and deflate) at once and without HDF5; everything else that HDF5 can
/// read is read by it, one thread at a time, and the description says so. Throws Error of one line if there is no such
/// data set, it is no matrix, the file is cut short, a filter is missing, or this build has no HDF5.
[[nodiscard]] std::unique_ptr<MatrixFile> open_hdf5_matrix(const std::string& path, const std::string& dataset = {},
                                                           const Hdf5Options& options = {});

/// Whether the file at this path is HDF5, by its first bytes.
[[nodiscard]] bool is_hdf5(const std::string& path);

}  // namespace tesela
