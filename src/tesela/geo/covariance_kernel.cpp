#include "tesela/geo/covariance_kernel.hpp"

#include "tesela/kernels/compressed_tile.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/describe.hpp"
#include "tesela/kernels/loops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <utility>
#include <vector>

namespace tesela {
namespace {

/// Fills a part of a tile: so many rows and columns of it from `from` on, without gaps between columns.
void fill_part(const CovarianceArguments& args, ElementIndex from, const TileShape& size, double* out) {
    args.covariance->fill_tile({.rows = args.rows,
                                .row_begin = args.first.i + from.i,
                                .row_count = size.rows,
                                .cols = args.cols,
                                .col_begin = args.first.j + from.j,
                                .col_count = size.cols,
                                .out = out,
                                .ld = size.rows,
                                .sets = args.sets});
}

/// The transposed tile.
CovarianceArguments transposed(CovarianceArguments args) {
    std::swap(args.rows, args.cols);
    std::swap(args.first.i, args.first.j);
    return args;
}

/// The box around some points, in the coordinates that distances are computed from.
class Box {
public:
    Box(const PointSet& points, Index begin, Index count) : dimensions_(points.dimensions()) {
        for (Index d = 0; d < dimensions_; ++d) {
            const auto some =
                points.coordinate(d).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
            const auto [least, most] = std::ranges::minmax(some);
            sides_[static_cast<std::size_t>(d)] = {least, most};
        }
    }
    /// How far a point of another set is from it; on the Earth straight through, which is no more than along the
    /// surface.
    [[nodiscard]] double distance(const PointSet& points, Index point) const {
        double squares = 0;
        for (Index d = 0; d < dimensions_; ++d) {
            const double x = points.coordinate(d)[static_cast<std::size_t>(point)];
            const auto [least, most] = sides_[static_cast<std::size_t>(d)];
            const double beside = std::max({least - x, x - most, 0.0});
            squares += beside * beside;
        }
        return std::sqrt(squares);
    }

    /// How far two boxes are from each other, likewise.
    [[nodiscard]] double distance(const Box& other) const {
        double squares = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
            const double beside =
                std::max({sides_[d].first - other.sides_[d].second, other.sides_[d].first - sides_[d].second, 0.0});
            squares += beside * beside;
        }
        return std::sqrt(squares);
    }

private:
    Index dimensions_;
    std::array<std::pair<double, double>, 3> sides_{};
};

/// Rows and columns of a tile; a row is filled as a column of the transposed tile, which is what is fast.
class CovarianceTile final : public TileSource<double> {
public:
    CovarianceTile(const CovarianceArguments& args, const TileShape& shape)
        : args_(args),
          shape_(shape),
          row_box_(*args.rows, args.first.i, shape.rows),
          col_box_(*args.cols, args.first.j, shape.cols) {}
    [[nodiscard]] Index rows() const override { return shape_.rows; }
    [[nodiscard]] Index cols() const override { return shape_.cols; }
    void row(Index i, double* out) const override { fill_part(transposed(args_), {0, i}, {shape_.cols, 1}, out); }
    void column(Index j, double* out) const override { fill_part(args_, {0, j}, {shape_.rows, 1}, out); }
    void columns(Index first, Index several, double* out) const override {
        fill_part(args_, {0, first}, {shape_.rows, several}, out);
    }
    [[nodiscard]] double row_bound(Index i) const override {
        return (*args_.covariance)(col_box_.distance(*args_.rows, args_.first.i + i));
    }
    [[nodiscard]] double column_bound(Index j) const override {
        return (*args_.covariance)(row_box_.distance(*args_.cols, args_.first.j + j));
    }
    /// Covariances fall with the distance; a nugget is only on the diagonal, where boxes meet.
    [[nodiscard]] double bound() const override { return std::abs((*args_.covariance)(row_box_.distance(col_box_))); }

private:
    const CovarianceArguments& args_;
    TileShape shape_;
    Box row_box_, col_box_;
};

KernelResult run_covariance(const KernelCall& call) noexcept {
    const auto& args = call.args<CovarianceArguments>();
    const Tile& tile = call.tiles[0];
    if (tile.room != nullptr) return store_tile<double>(tile, CovarianceTile(args, tile.shape));
    args.covariance->fill_tile({.rows = args.rows,
                                .row_begin = args.first.i,
                                .row_count = tile.rows(),
                                .cols = args.cols,
                                .col_begin = args.first.j,
                                .col_count = tile.cols(),
                                .out = tile.as<double>(),
                                .ld = tile.ld,
                                .sets = args.sets});
    return {};
}

// Difference, square and sum per dimension, a square root, the scaling by the range, and a polynomial of degree 7 about
// the centre of its piece.
KernelCost cost_covariance(Shapes s, const void* arguments) noexcept {
    const auto& args = *static_cast<const CovarianceArguments*>(arguments);
    const double flops = 3 * static_cast<double>(args.rows->dimensions()) + 1 + 1 + 16;
    return {flops * elements(s[0]), sizeof(double) * elements(s[0])};
}

/// Some columns of K at a time, which stay in a cache.
KernelResult run_covariance_product(const KernelCall& call) noexcept try {
    const auto& args = call.args<CovarianceArguments>();
    const Tile& x = call.tiles[0];
    const Tile& y = call.tiles[1];
    constexpr Index columns = 32;
    std::vector<double> some(static_cast<std::size_t>(y.rows() * columns));
    for (Index first = 0; first < x.rows(); first += columns) {
        const Index count = std::min(columns, x.rows() - first);
        fill_part(args, {0, first}, {y.rows(), count}, some.data());
        const Tile k{.data = some.data(), .shape = {y.rows(), count}, .ld = y.rows()};
        const Tile part{.data = x.as<double>() + first, .shape = {count, x.cols()}, .ld = x.ld};
        constexpr GemmArguments sum{.alpha = 1, .beta = 1};
        (void)Dense<double>::gemm.cpu({std::array{k, part, y}, &sum});
    }
    return {};
} catch (const std::bad_alloc&) {
    return {Failure::out_of_memory};
}

KernelCost cost_covariance_product(Shapes s, const void* arguments) noexcept {
    const TileShape k{s[1].rows, s[0].rows};
    const KernelCost generated = cost_covariance({&k, 1}, arguments);
    return {generated.flops + 2 * elements(k) * static_cast<double>(s[0].cols),
            sizeof(double) * (elements(s[0]) + 2 * elements(s[1]))};
}

KernelResult run_column_squares(const KernelCall& call) noexcept {
    const Tile& a = call.tiles[0];
    auto* const sums = call.tiles[1].as<double>();
    for (Index j = 0; j < a.cols(); ++j) {
        const double* const column = a.as<double>() + j * a.ld;
        sums[j] += loops::functions().squares(column, static_cast<std::size_t>(a.rows()));
    }
    return {};
}

KernelCost cost_column_squares(Shapes s, const void*) noexcept {
    return {2 * elements(s[0]), sizeof(double) * (elements(s[0]) + elements(s[1]))};
}

}  // namespace

const CovarianceKernel covariance_kernel{"dcmg", cost_covariance, run_covariance,
                                         TileUse{.compressed = TileUse::every}};
const KernelOf<CovarianceArguments, const double, double> covariance_product_kernel{"dcmm", cost_covariance_product,
                                                                                    run_covariance_product};
const KernelOf<NoArguments, const double, double> column_squares_kernel{"dcolsq", cost_column_squares,
                                                                        run_column_squares};

}  // namespace tesela
