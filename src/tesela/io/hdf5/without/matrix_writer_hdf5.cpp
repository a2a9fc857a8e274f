#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/write_matrix.hpp"
#include "tesela/io/input_file.hpp"

namespace tesela {

std::unique_ptr<MatrixWriter> write_hdf5_matrix(const std::string& path, const std::string&, MatrixPlan) {
    throw Error("cannot write {}: this build has no HDF5. Install libhdf5-dev and build again, or write .npy.",
                in_quotes(path));
}

}  // namespace tesela
