#include "tesela/io/hdf5/open_matrix.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/matrix_hdf5.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/matrix_grid.hpp"
#include "tesela/io/npy_matrix.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela {
namespace {

constexpr std::string_view row_place = "{i}";
constexpr std::string_view col_place = "{j}";

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

bool is_npy(const std::string& path) {
    std::string begin(6, '\0');
    std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return begin == "\x93NUMPY";
}

bool ends_like_npy(const std::string& path) { return path.ends_with(".npy"); }
bool ends_like_hdf5(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

std::unique_ptr<MatrixFile> open_one(const MatrixName& name, const OpenMatrixOptions& options) {
    if (name.file != "-" && !exists(name.file))
        throw Error("cannot read {}: No such file or directory", in_quotes(name.file));
    std::error_code none;
    const std::filesystem::file_status kind = std::filesystem::status(name.file, none);
    if (name.file != "-" && (std::filesystem::is_fifo(kind) || std::filesystem::is_character_file(kind)))
        throw Error("{} can be read only once: write what it gives to a file, or give - for CSV on standard input",
                    in_quotes(name.file));
    if (ends_like_hdf5(name.file) || is_hdf5(name.file)) return open_hdf5_matrix(name.file, name.dataset);
    if (!name.dataset.empty())
        throw Error("{} is not an HDF5 file, so there is no data set {} in it", in_quotes(name.file),
                    in_quotes(name.dataset));
    if (ends_like_npy(name.file) || is_npy(name.file)) return open_npy_matrix(name.file);
    return read_csv_matrix(name.file, options.csv);
}

std::string replaced(std::string text, std::string_view place, Index number) {
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at))
        text.replace(at, place.size(), fmt::format("{}", number));
    return text;
}

std::string part_name(const std::string& pattern, Index i, Index j) {
    return replaced(replaced(pattern, row_place, i), col_place, j);
}

/// Numbers of blocks along one direction, from the first that there is to the one before the first that there is not.
Index count_parts(const std::string& pattern, std::string_view place, Index first) {
    if (pattern.find(place) == std::string::npos) return 1;
    Index count = 0;
    while (exists(part_name(replaced(pattern, place, first + count), first, first))) ++count;
    return count;
}

std::unique_ptr<MatrixFile> open_parts(const std::string& pattern, const MatrixName& name,
                                       const OpenMatrixOptions& options) {
    const Index first = exists(part_name(name.file, 0, 0)) ? 0 : 1;
    if (!exists(part_name(name.file, first, first)))
        throw Error("cannot read {}: there is neither {} nor {}", in_quotes(pattern),
                    in_quotes(part_name(name.file, 0, 0)), in_quotes(part_name(name.file, 1, 1)));
    const Index block_rows = count_parts(name.file, row_place, first);
    const Index block_cols = count_parts(name.file, col_place, first);
    std::vector<std::vector<std::unique_ptr<MatrixFile>>> parts;
    for (Index i = 0; i < block_rows; ++i) {
        auto& band = parts.emplace_back();
        for (Index j = 0; j < block_cols; ++j)
            band.push_back(open_one({part_name(name.file, first + i, first + j), name.dataset}, options));
    }
    return matrix_grid(std::move(parts), pattern);
}

}  // namespace

MatrixName parse_matrix_name(const std::string& name) {
    if (exists(name)) return {name, ""};
    std::size_t colon = name.find(":/");
    if (colon == std::string::npos) colon = name.rfind(':');
    if (colon == std::string::npos || colon == 0) return {name, ""};
    return {name.substr(0, colon), name.substr(colon + 1)};
}

std::unique_ptr<MatrixFile> open_matrix(const std::string& name, const OpenMatrixOptions& options) {
    const MatrixName parsed = parse_matrix_name(name);
    const bool several =
        parsed.file.find(row_place) != std::string::npos || parsed.file.find(col_place) != std::string::npos;
    if (several && !exists(parsed.file)) return open_parts(name, parsed, options);
    return open_one(parsed, options);
}

}  // namespace tesela
