#include "tesela/io/memory_matrix.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/internal/memory_matrix.hpp"

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

MatrixHeader in_memory(MatrixHeader header) {
    header.read_time = ReadTime::working;
    return header;
}

class MemoryMatrix final : public MatrixFile {
public:
    MemoryMatrix(MatrixHeader header, std::vector<double> values)
        : MatrixFile(in_memory(std::move(header))),
          values_(std::move(values)) {}

private:
    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        std::visit([&](const auto& target) { copy(block, target); }, to);
        return {};
    }

    template <class To>
    void copy(const MatrixBlock& block, const To& to) const {
        for (Index j = 0; j < block.cols; ++j) {
            const double* from = values_.data() + (block.col + j) * rows() + block.row;
            for (Index i = 0; i < block.rows; ++i) to(i, j) = static_cast<typename To::Element>(from[i]);
        }
    }

    std::vector<double> values_;
};

void check_count(const MatrixHeader& header, std::size_t count, Index wanted, const char* what) {
    if (static_cast<Index>(count) != wanted)
        throw Error("{}, {} x {}, has {} {} where {} belong", header.name, header.rows, header.cols, count, what,
                    wanted);
}

}  // namespace

std::unique_ptr<MatrixFile> memory_matrix(MatrixHeader header, std::vector<double> values) {
    header.type = StoredType::float64;
    check_count(header, values.size(), header.rows * header.cols, "values");
    if (!header.row_labels.empty()) check_count(header, header.row_labels.size(), header.rows, "row labels");
    if (!header.col_labels.empty()) check_count(header, header.col_labels.size(), header.cols, "column labels");
    return std::make_unique<MemoryMatrix>(std::move(header), std::move(values));
}

std::unique_ptr<MatrixFile> memory_matrix(MatrixValues values, std::string name) {
    return memory_matrix(MatrixHeader{.name = std::move(name),
                                      .rows = values.rows,
                                      .cols = values.cols,
                                      .layout = "in memory",
                                      .row_labels = std::move(values.row_labels),
                                      .col_labels = std::move(values.col_labels)},
                         std::move(values.values));
}

MatrixValues read_all(const MatrixFile& matrix) {
    MatrixValues all{.rows = matrix.rows(),
                     .cols = matrix.cols(),
                     .values = std::vector<double>(static_cast<std::size_t>(matrix.rows() * matrix.cols())),
                     .row_labels = matrix.header().row_labels,
                     .col_labels = matrix.header().col_labels};
    const ReadOutcome outcome = matrix.read({.rows = all.rows, .cols = all.cols},
                                            ColumnMajor<double>{.data = all.values.data(), .leading = all.rows});
    if (!outcome) throw Error(outcome.reason());
    return all;
}

}  // namespace tesela
