#include "tesela/mds/sample_distances.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/in_parallel.hpp"
#include "tesela/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <utility>
#include <vector>

namespace tesela::mds {
namespace {

/// Points whose distances are computed together, in registers: so many rows by so many columns.
constexpr Index group = 4;
/// Rows of a block that is computed and then written.
constexpr Index block_rows = 256;

std::size_t as_size(Index count) { return static_cast<std::size_t>(count); }

void check_size(const PointSample& sample, const MatrixWriter& writer, Index cols) {
    if (sample.points < 1 || sample.dimensions < 1)
        throw Error("{} points of {} dimensions have no distances", sample.points, sample.dimensions);
    if (writer.rows() != sample.points || writer.cols() != cols)
        throw Error("{} x {} numbers do not fit a matrix of {} x {}", sample.points, cols, writer.rows(),
                    writer.cols());
}

/// Points in groups, whose coordinates stand side by side: coordinate k of point 4 g + p at [(g * dimensions + k) * 4 +
/// p]. A last group that is not full has zeros.
class GroupedPoints {
public:
    GroupedPoints(const PointSample& sample, Index threads)
        : dimensions_(sample.dimensions),
          groups_(ceil_div(sample.points, group)),
          values_(as_size(groups_ * dimensions_ * group)) {
        in_parallel(threads, groups_, [&](Index g) {
            for (Index p = 0; p < group && g * group + p < sample.points; ++p)
                for (Index k = 0; k < dimensions_; ++k)
                    values_[as_size((g * dimensions_ + k) * group + p)] = sample.coordinate(g * group + p, k);
        });
    }

    [[nodiscard]] Index groups() const { return groups_; }
    [[nodiscard]] Index dimensions() const { return dimensions_; }
    [[nodiscard]] const double* of(Index g) const { return values_.data() + g * dimensions_ * group; }

private:
    Index dimensions_;
    Index groups_;
    std::vector<double> values_;
};

/// Squared distances between the points of two groups, sum_k (x_k - y_k)^2 in the order of k: unlike |x|^2 + |y|^2 - 2
/// x.y it is exact where points are near, and the same for (x, y) as for (y, x).
struct GroupDistances {
    double squared[group][group] = {};

    GroupDistances(const double* x, const double* y, Index dimensions) {
        for (Index k = 0; k < dimensions; ++k, x += group, y += group)
            for (Index i = 0; i < group; ++i)
                for (Index j = 0; j < group; ++j) {
                    const double difference = x[i] - y[j];
                    squared[i][j] += difference * difference;
                }
    }
};

/// Rows [first, first + rows) of the distances, row by row.
template <class T>
class DistanceRows {
public:
    DistanceRows(const GroupedPoints& points, Index count, Index threads)
        : points_(points),
          count_(count),
          threads_(threads) {}

    [[nodiscard]] std::vector<T> compute(Index first, Index rows) const {
        std::vector<T> values(as_size(rows * count_));
        in_parallel(threads_, points_.groups(), [&](Index column_group) {
            for (Index row = first; row < first + rows; row += group)
                put(row, column_group, values.data() + (row - first) * count_, first + rows);
        });
        return values;
    }

private:
    /// `row` begins a group of points, since blocks are of whole groups.
    void put(Index row, Index column_group, T* to, Index last_row) const {
        const GroupDistances distances(points_.of(row / group), points_.of(column_group), points_.dimensions());
        const Index rows = std::min(group, last_row - row);
        const Index first_col = column_group * group;
        const Index cols = std::min(group, count_ - first_col);
        for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < cols; ++j)
                to[i * count_ + first_col + j] = static_cast<T>(std::sqrt(distances.squared[i][j]));
    }

    const GroupedPoints& points_;
    Index count_;
    Index threads_;
};

/// A block is written while the next is computed.
template <class T>
void write_rows(const PointSample& sample, MatrixWriter& writer, const SampleDistancesOptions& options) {
    static_assert(block_rows % group == 0);
    const GroupedPoints points(sample, options.threads);
    const DistanceRows<T> distances(points, sample.points, options.threads);
    std::future<void> writing;
    for (Index first = 0; first < sample.points; first += block_rows) {
        std::vector<T> rows = distances.compute(first, std::min(block_rows, sample.points - first));
        if (writing.valid()) writing.get();
        writing = std::async(std::launch::async, [&writer, block = std::move(rows)] { writer.append(block); });
        if (options.on_rows) options.on_rows(std::min(first + block_rows, sample.points));
    }
    writing.get();
}

}  // namespace

double PointSample::coordinate(Index i, Index k) const noexcept {
    const RandomPosition at{.i = static_cast<std::uint64_t>(i), .j = static_cast<std::uint64_t>(k)};
    return Random(seed).normal(at) * std::pow(static_cast<double>(k + 1), -decay);
}

void write_distances(const PointSample& sample, MatrixWriter& writer, const SampleDistancesOptions& options) {
    check_size(sample, writer, sample.points);
    if (writer.plan().type == StoredType::float32) {
        write_rows<float>(sample, writer, options);
    } else {
        write_rows<double>(sample, writer, options);
    }
}

void write_points(const PointSample& sample, MatrixWriter& writer) {
    check_size(sample, writer, sample.dimensions);
    std::vector<double> point(as_size(sample.dimensions));
    for (Index i = 0; i < sample.points; ++i) {
        for (Index k = 0; k < sample.dimensions; ++k) point[as_size(k)] = sample.coordinate(i, k);
        writer.append(point);
    }
}

}  // namespace tesela::mds
