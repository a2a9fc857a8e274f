// Feeds bytes to the reader of HDF5 matrices and reads all elements of what it accepts, as far as they are few. Only
// tesela::Error of one line may come out. It is not compared with what HDF5 reads: where the index of chunks is
// damaged, one finds chunks that the other does not.

#include "require.hpp"
#include "temporary_file.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/matrix_hdf5.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::require;

/// So many rows and columns at most are read, those at the end: a file may say that it has a million times more.
constexpr Index most_size = 64;
/// Chunks may be of 4 GB; to read so much says nothing new.
constexpr Index most_chunk = Index{1} << 20U;

bool is_one_line(std::string_view text) { return text.find('\n') == std::string_view::npos; }

/// That the file is damaged may be found only now.
template <template <class> class Layout, class T>
void read(const MatrixFile& matrix) {
    const Index rows = std::min(most_size, matrix.rows());
    const Index cols = std::min(most_size, matrix.cols());
    std::vector<T> values(static_cast<std::size_t>(rows * cols));
    const bool by_rows = std::is_same_v<Layout<T>, RowMajor<T>>;
    const ReadOutcome outcome = matrix.read({matrix.rows() - rows, matrix.cols() - cols, rows, cols},
                                            Layout<T>{values.data(), by_rows ? cols : rows});
    require(is_one_line(outcome.reason()), "a reason is one line");
}

void use(const MatrixFile& matrix) {
    require(matrix.rows() > 0 && matrix.cols() > 0, "a matrix has elements");
    require(matrix.bytes() / matrix.rows() / matrix.cols() == stored_type_bytes(matrix.type()),
            "its bytes are a number");
    const auto labels_fit = [](const std::vector<std::string>& labels, Index count) {
        return labels.empty() || static_cast<Index>(labels.size()) == count;
    };
    require(labels_fit(matrix.header().row_labels, matrix.rows()), "rows have a label each, or none has");
    require(labels_fit(matrix.header().col_labels, matrix.cols()), "columns have a label each, or none has");
    require(is_one_line(matrix.description()), "a description is one line");
    require(matrix.panel_rows(100) >= 1, "a panel has rows");
    const GridSize chunk = matrix.header().chunk;
    if (chunk.rows > most_chunk || chunk.cols > most_chunk / chunk.rows) return;
    read<ColumnMajor, double>(matrix);
    read<RowMajor, float>(matrix);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::TemporaryFile file(data, size);
    try {
        use(*open_hdf5_matrix(file.path()));
    } catch (const Error& error) {
        require(is_one_line(error.what()), "an error is one line");
    }
    return 0;
}
