#include "tesela/mds/point_distances.hpp"

#include "tesela/io/memory_matrix.hpp"
#include "tesela/kernels/loops.hpp"
#include "tesela/mds/input_check.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tesela::mds {
namespace {

/// Points in memory, a column per coordinate.
std::shared_ptr<const MatrixValues> read_points(const MatrixFile& file) {
    auto points = std::make_shared<MatrixValues>(read_all(file));
    const MatrixBlock all{.rows = points->rows, .cols = points->cols};
    if (const InputFlaw flaw = find_flaw(Analysis::components, all, {points->values.data(), points->rows}))
        throw input_error(file, flaw);
    return points;
}

class PointDistances final : public MatrixFile {
public:
    using Points = std::shared_ptr<const MatrixValues>;

    PointDistances(MatrixHeader header, Points from, Points to)
        : MatrixFile(std::move(header)),
          from_(std::move(from)),
          to_(std::move(to)) {}

private:
    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        std::visit([&](const auto& target) { compute(block, target); }, to);
        return {};
    }

    template <class To>
    void compute(const MatrixBlock& block, const To& to) const {
        const auto count = static_cast<std::size_t>(block.rows);
        std::vector<double> column(count), origin(static_cast<std::size_t>(to_->cols));
        std::vector<const double*> coordinates;
        for (Index c = 0; c < from_->cols; ++c)
            coordinates.push_back(from_->values.data() + c * from_->rows + block.row);
        for (Index j = 0; j < block.cols; ++j) {
            for (Index c = 0; c < to_->cols; ++c)
                origin[static_cast<std::size_t>(c)] =
                    to_->values[static_cast<std::size_t>(c * to_->rows + block.col + j)];
            loops::functions().distances({coordinates.size(), coordinates.data(), origin.data()}, 1, count,
                                         column.data());
            for (std::size_t i = 0; i < count; ++i)
                to(static_cast<Index>(i), j) = static_cast<typename To::Element>(column[i]);
        }
    }

    Points from_;
    Points to_;
};

MatrixHeader header_of(std::string name, const MatrixValues& from, const MatrixValues& to) {
    return {.name = std::move(name),
            .rows = from.rows,
            .cols = to.rows,
            .layout = fmt::format("computed from {} coordinates", from.cols),
            .row_labels = from.row_labels,
            .col_labels = to.row_labels,
            .read_time = ReadTime::working};
}

}  // namespace

std::unique_ptr<MatrixFile> point_distances(const MatrixFile& points) {
    const auto read = read_points(points);
    return std::make_unique<PointDistances>(header_of(fmt::format("distances of {}", points.name()), *read, *read),
                                            read, read);
}

std::unique_ptr<MatrixFile> point_distances(const MatrixFile& from, const MatrixFile& to) {
    if (from.cols() != to.cols())
        throw Error("{} has {} coordinates and {} has {}", from.name(), from.cols(), to.name(), to.cols());
    auto first = read_points(from);
    auto second = read_points(to);
    MatrixHeader header = header_of(fmt::format("distances of {} from {}", from.name(), to.name()), *first, *second);
    return std::make_unique<PointDistances>(std::move(header), std::move(first), std::move(second));
}

}  // namespace tesela::mds
