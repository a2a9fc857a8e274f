#include "tesela/io/hdf5/matrix_hdf5.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"

#include <fstream>
#include <string_view>

namespace tesela {

std::unique_ptr<MatrixFile> open_hdf5_matrix(const std::string& path, const std::string&, const Hdf5Options&) {
    throw Error("cannot read {}: this build has no HDF5. Install libhdf5-dev and build again, or use NumPy's format.",
                in_quotes(path));
}

bool is_hdf5(const std::string& path) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    std::string begin(signature.size(), '\0');
    std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return begin == signature;
}

}  // namespace tesela
