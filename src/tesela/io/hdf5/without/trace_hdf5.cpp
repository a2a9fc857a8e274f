#include "tesela/io/hdf5/trace_hdf5.hpp"

#include "tesela/base/error.hpp"

namespace tesela {

void export_hdf5(const trace::Trace&, const std::string& path) {
    throw Error(
        "cannot write {}: this build has no HDF5. Install libhdf5-dev and build again, or export to another format.",
        path);
}

}  // namespace tesela
