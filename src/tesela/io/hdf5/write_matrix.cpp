#include "tesela/io/hdf5/write_matrix.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/input_file.hpp"

#include <utility>

namespace tesela {
std::unique_ptr<MatrixWriter> write_matrix(const std::string& name, MatrixPlan plan) {
    const MatrixName target = parse_matrix_name(name);
    if (target.file.ends_with(".h5") || target.file.ends_with(".hdf5"))
        return write_hdf5_matrix(target.file, target.dataset.empty() ? plan.dataset : target.dataset, plan);
    if (!target.dataset.empty() || plan.chunk != GridSize{} || plan.compression != MatrixCompression::none)
        throw Error("cannot write {}: only HDF5 files (.h5) have data sets, chunks and compression", in_quotes(name));
    if (target.file.ends_with(".npy")) return write_npy_matrix(target.file, std::move(plan));
    return write_csv_matrix(target.file, std::move(plan));
}

}  // namespace tesela
