#include "tesela/io/matrix_grid.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/internal/stored_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

using Parts = std::vector<std::vector<std::unique_ptr<MatrixFile>>>;

void check_parts(const Parts& parts, const std::string& name) {
    if (parts.empty() || parts.front().empty()) throw Error("{} has no parts", name);
    for (const auto& band : parts) {
        if (band.size() != parts.front().size())
            throw Error("{}: a row of blocks has {} parts where the first has {}", name, band.size(),
                        parts.front().size());
        for (std::size_t j = 0; j < band.size(); ++j) {
            const MatrixFile& part = *band[j];
            const MatrixFile& left = *band.front();
            const MatrixFile& above = *parts.front()[j];
            if (part.rows() != left.rows())
                throw Error("{} does not fit: it has {} rows, and {} beside it has {}", part.name(), part.rows(),
                            left.name(), left.rows());
            if (part.cols() != above.cols())
                throw Error("{} does not fit: it has {} columns, and {} above it has {}", part.name(), part.cols(),
                            above.name(), above.cols());
            if (part.type() != parts.front().front()->type())
                throw Error("{} has elements of type {}, and {} of type {}", part.name(),
                            name_in(stored_type_names, part.type()), above.name(),
                            name_in(stored_type_names, parts.front().front()->type()));
        }
    }
}

/// Where each part begins, and where the last ends.
std::vector<Index> cuts(std::size_t count, auto size_of) {
    std::vector<Index> result{0};
    for (std::size_t k = 0; k < count; ++k) result.push_back(result.back() + size_of(k));
    return result;
}

/// The labels of parts one after the other; none if one of them has none.
std::vector<std::string> joined_labels(std::size_t count, auto labels_of) {
    std::vector<std::string> result;
    for (std::size_t k = 0; k < count; ++k) {
        const std::vector<std::string>& labels = labels_of(k);
        if (labels.empty()) return {};
        result.insert(result.end(), labels.begin(), labels.end());
    }
    return result;
}

}  // namespace

class MatrixGrid final : public MatrixFile {
public:
    MatrixGrid(Parts parts, MatrixHeader header, std::vector<Index> row_cuts, std::vector<Index> col_cuts)
        : MatrixFile(std::move(header)),
          parts_(std::move(parts)),
          row_cuts_(std::move(row_cuts)),
          col_cuts_(std::move(col_cuts)) {}

    void forget_cached() const override {
        for (const auto& band : parts_)
            for (const auto& part : band) part->forget_cached();
    }

private:
    /// The part that holds a row or column.
    static std::size_t part_of(const std::vector<Index>& cuts, Index at) {
        return static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), at) - cuts.begin()) - 1;
    }

    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        const std::size_t last_i = part_of(row_cuts_, block.row + block.rows - 1);
        const std::size_t last_j = part_of(col_cuts_, block.col + block.cols - 1);
        for (std::size_t i = part_of(row_cuts_, block.row); i <= last_i; ++i)
            for (std::size_t j = part_of(col_cuts_, block.col); j <= last_j; ++j) {
                ReadOutcome outcome = read_part(i, j, block, to);
                if (!outcome) return outcome;
            }
        return {};
    }

    [[nodiscard]] ReadOutcome read_part(std::size_t i, std::size_t j, const MatrixBlock& block,
                                        const Target& to) const {
        const Index row = std::max(block.row, row_cuts_[i]);
        const Index col = std::max(block.col, col_cuts_[j]);
        const MatrixBlock part{row - row_cuts_[i], col - col_cuts_[j],
                               std::min(block.row + block.rows, row_cuts_[i + 1]) - row,
                               std::min(block.col + block.cols, col_cuts_[j + 1]) - col};
        return parts_[i][j]->read_block(part, shifted(to, row - block.row, col - block.col));
    }

    Parts parts_;
    std::vector<Index> row_cuts_;
    std::vector<Index> col_cuts_;
};

std::unique_ptr<MatrixFile> matrix_grid(Parts parts, std::string name) {
    check_parts(parts, name);
    const auto& top = parts.front();
    std::vector<Index> row_cuts = cuts(parts.size(), [&](std::size_t i) { return parts[i].front()->rows(); });
    std::vector<Index> col_cuts = cuts(top.size(), [&](std::size_t j) { return top[j]->cols(); });
    MatrixHeader header{
        .name = std::move(name),
        .rows = row_cuts.back(),
        .cols = col_cuts.back(),
        .type = top.front()->type(),
        .layout = fmt::format("{} x {} parts, the first {} x {}{}{}", parts.size(), top.size(), top.front()->rows(),
                              top.front()->cols(), top.front()->header().layout.empty() ? "" : ", ",
                              top.front()->header().layout),
        .chunk = {top.front()->header().chunk.rows, std::min(top.front()->header().chunk.cols, col_cuts[1])},
        .row_labels = joined_labels(
            parts.size(), [&](std::size_t i) -> const auto& { return parts[i].front()->header().row_labels; }),
        .col_labels = joined_labels(
            top.size(), [&](std::size_t j) -> const auto& { return top[j]->header().col_labels; })};
    return std::make_unique<MatrixGrid>(std::move(parts), std::move(header), std::move(row_cuts), std::move(col_cuts));
}

}  // namespace tesela
