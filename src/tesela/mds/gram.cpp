#include "tesela/mds/gram.hpp"

#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/describe.hpp"
#include "tesela/kernels/loops.hpp"
#include "tesela/kernels/tile_span.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tesela {
namespace {

double touched(Shapes shapes) {
    double count = 0;
    for (const TileShape& shape : shapes) count += elements(shape);
    return sizeof(double) * count;
}

struct MatrixRange {
    Index i, j, rows, cols;
};

/// Rows and columns that are transposed at a time: a line of the cache of the panel is read once, and columns of the
/// tile are written in pieces of several lines.
constexpr Index taken_rows = 64;
constexpr Index taken_cols = 16;

/// Rows i to i + rows and columns j to j + cols of the tile, transposed on the way.
template <class T>
void take_block(const StoredTile<const T>& panel, const TakeArguments& args, const StoredTile<double>& tile,
                const MatrixRange& range) {
    alignas(64) double columns[taken_cols][taken_rows];
    for (Index i = 0; i < range.rows; ++i) {
        const T* from = &panel(args.first + range.j, range.i + i);
        for (Index j = 0; j < range.cols; ++j) columns[j][i] = static_cast<double>(from[j]);
    }
    for (Index j = 0; j < range.cols; ++j) {
        double* to = &tile(range.i, range.j + j);
        const double shift = args.shift ? args.shift[range.j + j] : 0;
        if (args.rule == ElementRule::half_squares)
            loops::functions().half_squares(columns[j], static_cast<std::size_t>(range.rows), to);
        else
            for (Index i = 0; i < range.rows; ++i) to[i] = columns[j][i] - shift;
    }
}

template <class T>
KernelResult run_take(const KernelCall& call) noexcept {
    const StoredTile<const T> panel(call.tiles[0]);
    const StoredTile<double> tile(call.tiles[1]);
    for (Index i = 0; i < tile.rows(); i += taken_rows)
        for (Index j = 0; j < tile.cols(); j += taken_cols)
            take_block(panel, call.args<TakeArguments>(), tile,
                       {i, j, std::min(taken_rows, tile.rows() - i), std::min(taken_cols, tile.cols() - j)});
    return {};
}

void square(const StoredTile<double>& h) {
    for (Index j = 0; j < h.cols(); ++j)
        loops::functions().half_squares(&h(0, j), static_cast<std::size_t>(h.rows()), &h(0, j));
}

void add_column_sums(const StoredTile<double>& h, const StoredTile<const double>& weights,
                     const StoredTile<double>& sums) {
    for (Index j = 0; j < h.cols(); ++j) {
        const auto rows = static_cast<std::size_t>(h.rows());
        const auto [first, second] = loops::functions().moments(&weights(0, 0), &h(0, j), rows);
        sums(j, 0) += first;
        if (sums.cols() > 1) sums(j, 1) += second;
    }
}

void add_row_sums(const StoredTile<double>& h, const StoredTile<const double>& weights,
                  const StoredTile<double>& sums) {
    for (Index j = 0; j < h.cols(); ++j)
        loops::functions().add(weights(j, 0), &h(0, j), static_cast<std::size_t>(h.rows()), &sums(0, 0));
}

/// H, squared where that is still to be done.
StoredTile<double> made_of(const KernelCall& call) {
    const StoredTile<double> h(call.tiles[0]);
    if (call.args<GramArguments>().rule == ElementRule::half_squares) square(h);
    return h;
}

KernelResult run_gram_rows(const KernelCall& call) noexcept {
    add_row_sums(made_of(call), StoredTile<const double>(call.tiles[1]), StoredTile<double>(call.tiles[2]));
    return {};
}
KernelResult run_gram_cols(const KernelCall& call) noexcept {
    add_column_sums(made_of(call), StoredTile<const double>(call.tiles[1]), StoredTile<double>(call.tiles[2]));
    return {};
}
KernelResult run_gram_both(const KernelCall& call) noexcept {
    const StoredTile<double> h = made_of(call);
    add_row_sums(h, StoredTile<const double>(call.tiles[2]), StoredTile<double>(call.tiles[3]));
    add_column_sums(h, StoredTile<const double>(call.tiles[1]), StoredTile<double>(call.tiles[4]));
    return {};
}

/// One row of U and of l, or of V and of r.
struct Border {
    double first = 0;
    double second = 0;
    double factor = 1;
};

/// 1/√mass; a row or column of zeros has no part in anything.
double mass_factor(double sum) { return sum > 0 ? 1 / std::sqrt(sum) : 0; }

Border border_of_rows(const BorderArguments& args, double sum, double all) {
    switch (args.rule) {
        case BorderRule::distances: return {1, all - sum};
        case BorderRule::masses: return {sum, 0, mass_factor(sum)};
        default: return {1, 0};
    }
}

Border border_of_columns(const BorderArguments& args, double sum, double squares, double all) {
    switch (args.rule) {
        case BorderRule::distances: return {-sum, 1};
        case BorderRule::masses: return {all > 0 ? -sum / all : 0, 0, mass_factor(sum)};
        case BorderRule::means: return {-sum, 0};
        default: {
            const double variance = (squares - sum * sum) / args.degrees_of_freedom;
            return {-sum, 0, variance > 0 ? 1 / std::sqrt(variance) : 0};
        }
    }
}

KernelResult run_border(const KernelCall& call) noexcept {
    const auto& args = call.args<BorderArguments>();
    const StoredTile<const double> sums(call.tiles[0]);
    const double all = StoredTile<const double>(call.tiles[1])(0, 0);
    const StoredTile<const double> weights(call.tiles[2]);
    const StoredTile<double> border(call.tiles[3]);
    const StoredTile<double> factor(call.tiles[4]);
    const bool scaled =
        args.weighted == Weighted::yes && (args.side == BorderSide::rows || args.rule == BorderRule::distances);
    for (Index i = 0; i < border.rows(); ++i) {
        const double squares = sums.cols() > 1 ? sums(i, 1) : 0;
        const Border made = args.side == BorderSide::rows ? border_of_rows(args, sums(i, 0), all)
                                                          : border_of_columns(args, sums(i, 0), squares, all);
        border(i, 0) = made.first;
        border(i, 1) = made.second;
        factor(i, 0) = made.factor * (scaled ? std::sqrt(weights(i, 0)) : 1);
    }
    return {};
}

KernelResult run_centre(const KernelCall& call) noexcept {
    const auto& args = call.args<CentreArguments>();
    const StoredTile<const double> u(call.tiles[0]);
    const StoredTile<const double> w(call.tiles[1]);
    const StoredTile<double> x(call.tiles[2]);
    for (Index j = 0; j < x.cols(); ++j) {
        const double a = args.op == Op::none ? w(0, j) : w(j, 0);
        const double b = args.op == Op::none ? w(1, j) : w(j, 1);
        for (Index i = 0; i < x.rows(); ++i) x(i, j) += u(i, 0) * a + u(i, 1) * b;
    }
    return {};
}

KernelResult run_scale_rows(const KernelCall& call) noexcept {
    const StoredTile<const double> factor(call.tiles[0]);
    const StoredTile<double> x(call.tiles[1]);
    for (Index j = 0; j < x.cols(); ++j)
        for (Index i = 0; i < x.rows(); ++i) x(i, j) *= factor(i, 0);
    return {};
}

/// Columns of H that both products use one after the other, so that the second finds them in the cache.
constexpr Index strip = 96;

/// Rows and columns of a tile.
Tile part_of(const Tile& tile, const MatrixRange& range) {
    return {.data = tile.as<double>() + range.i + range.j * tile.ld, .shape = {range.rows, range.cols}, .ld = tile.ld};
}

KernelResult run_both_products(const KernelCall& call) noexcept {
    const Tile& h = call.tiles[0];
    const Tile& x = call.tiles[1];
    const Tile& z = call.tiles[2];
    const Tile& y = call.tiles[3];
    const Tile& w = call.tiles[4];
    constexpr GemmArguments product;
    constexpr GemmArguments transposed{.op_a = Op::transpose};
    for (Index j = 0; j < h.cols(); j += strip) {
        const Index cols = std::min(strip, h.cols() - j);
        const Tile part = part_of(h, {0, j, h.rows(), cols});
        (void)Dense<double>::gemm.cpu({std::array{part, part_of(x, {j, 0, cols, x.cols()}), y}, &product});
        (void)Dense<double>::gemm.cpu({std::array{part, z, part_of(w, {j, 0, cols, w.cols()})}, &transposed});
    }
    return {};
}

KernelResult run_squares(const KernelCall& call) noexcept {
    const StoredTile<const double> h(call.tiles[0]);
    const StoredTile<const double> u(call.tiles[1]);
    const StoredTile<const double> l(call.tiles[2]);
    const StoredTile<const double> v(call.tiles[3]);
    const StoredTile<const double> r(call.tiles[4]);
    const auto& args = call.args<SquaresArguments>();
    double all = 0;
    for (Index j = 0; j < h.cols(); ++j) {
        const loops::Bordered column{.h = &h(0, j),
                                     .factors = &l(0, 0),
                                     .u = &u(0, 0),
                                     .v = &u(0, 1),
                                     .first = args.border * v(j, 0),
                                     .second = args.border * v(j, 1)};
        all += loops::functions().bordered_squares(column, static_cast<std::size_t>(h.rows())) * r(j, 0) * r(j, 0);
    }
    StoredTile<double>(call.tiles[5])(0, 0) += args.times * all;
    return {};
}

KernelCost cost_read(Shapes s, const void*) noexcept { return {0, sizeof(double) * elements(s[0])}; }
KernelCost cost_take(Shapes s, const void*) noexcept { return {0, 2 * sizeof(double) * elements(s[1])}; }
KernelCost cost_gram(Shapes s, const void*) noexcept { return {3 * elements(s[0]), touched(s)}; }
KernelCost cost_centre(Shapes s, const void*) noexcept { return {4 * elements(s[2]), touched(s)}; }
KernelCost cost_by_bytes(Shapes s, const void*) noexcept { return {0, touched(s)}; }
KernelCost cost_both_products(Shapes s, const void*) noexcept {
    return {4 * elements(s[0]) * static_cast<double>(s[1].cols), touched(s)};
}
KernelCost cost_squares(Shapes s, const void*) noexcept { return {7 * elements(s[0]), touched(s)}; }

}  // namespace

const ReadKernel read_without_file{"dread", cost_read, nullptr};
const KernelOf<TakeArguments, const float, double> take_single_kernel{"dtake", cost_take, run_take<float>};
const KernelOf<TakeArguments, const double, double> take_double_kernel{"dtake", cost_take, run_take<double>};
const KernelOf<GramArguments, double, const double, double> gram_rows_kernel{"dgram", cost_gram, run_gram_rows};
const KernelOf<GramArguments, double, const double, double> gram_cols_kernel{"dgram", cost_gram, run_gram_cols};
const KernelOf<GramArguments, double, const double, const double, double, double> gram_both_kernel{"dgram", cost_gram,
                                                                                                   run_gram_both};
const KernelOf<BorderArguments, const double, const double, const double, double, double> border_kernel{
    "dborders", cost_by_bytes, run_border};
const KernelOf<CentreArguments, const double, const double, double> centre_kernel{"dcentre", cost_centre, run_centre};
const KernelOf<NoArguments, const double, double> scale_rows_kernel{"dscalerows", cost_by_bytes, run_scale_rows};
const KernelOf<NoArguments, const double, const double, const double, double, double> both_products_kernel{
    "dgemmtwice", cost_both_products, run_both_products};
const KernelOf<SquaresArguments, const double, const double, const double, const double, const double, double>
    squares_kernel{"dsquares", cost_squares, run_squares};

}  // namespace tesela
