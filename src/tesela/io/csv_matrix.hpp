#pragma once

#include "tesela/io/csv.hpp"
#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Which part of a CSV file is the matrix.
struct CsvMatrixOptions {
    /// automatic: the first line is a header unless all that follows its first field are numbers.
    CsvOptions csv{.header = CsvHeader::automatic};
    /// The columns of the matrix in this order; empty: all but those of text. What is left out is in the header's
    /// notes.
    std::vector<std::string> columns;
    /// The column that names the rows; none: the first if it was not asked for and has no name, is text, has the names
    /// of the other columns, or is called as labels are (id, plot_nr) and has another integer in every row. Of a first
    /// column of numbers that names rows, or may do so, the header's notes say what it was taken for.
    std::optional<std::string> labels;
};

/// Reads a matrix from a CSV file (`-`: standard input), whole, into memory. Throws Error of one line naming file, line
/// and column where there is no finite number.
[[nodiscard]] std::unique_ptr<MatrixFile> read_csv_matrix(const std::string& path,
                                                          const CsvMatrixOptions& options = {});

/// The same for text already in memory; `file` is its name in messages.
[[nodiscard]] std::unique_ptr<MatrixFile> parse_csv_matrix(std::string text, std::string file,
                                                           const CsvMatrixOptions& options = {});

}  // namespace tesela
