#include "tesela/mds/streamed_matrix.hpp"

#include "tesela/algs/tasks.hpp"
#include "tesela/mds/internal/borders.hpp"
#include "tesela/mds/internal/tile_reading.hpp"

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

using Step = StreamingStep;
using Centring = StreamedSpec::Centring;

void check_owners(const StreamedSpec& spec) {
    const GridSize tiles = spec.tiling.grid();
    for (const Distribution* distribution : {&spec.read, &spec.compute})
        if (distribution->grid() != tiles)
            throw Error("the matrix has {} x {} tiles, and owners are for {} x {}", tiles.rows, tiles.cols,
                        distribution->grid().rows, distribution->grid().cols);
}

/// Rows but the last are as high as the first, so that they can follow each other in the same memory.
void check_rows(const StreamedSpec& spec) {
    for (Index i = 1; i + 1 < spec.tiling.grid().rows; ++i)
        if (spec.tiling.rows(i) != spec.tiling.rows(0))
            throw Error(
                "rows of tiles that are read one after the other are equally high; row {} has {} and the first {}", i,
                spec.tiling.rows(i), spec.tiling.rows(0));
}

StreamedSpec checked(StreamedSpec spec) {
    const GridSize tiles = spec.tiling.grid();
    if (tiles.rows == 0 || tiles.cols == 0) throw Error("a matrix that is read has elements; this has none");
    const bool symmetric = spec.stored == Stored::lower || spec.rule == BorderRule::distances;
    if (symmetric && spec.tiling.row_cuts() != spec.tiling.col_cuts())
        throw Error("distances are a square matrix, its rows cut as its columns; this has {} x {} tiles", tiles.rows,
                    tiles.cols);
    if ((spec.rule == BorderRule::none) != (spec.values != nullptr))
        throw Error("a matrix is in memory and as it is, or read and centred");
    if (spec.columns < 1) throw Error("a product has at least 1 column; it is to have {}", spec.columns);
    check_owners(spec);
    check_rows(spec);
    if (spec.resident_rows < 0) spec.resident_rows = tiles.rows;
    // The last may be lower than the others, and has memory of its own.
    spec.resident_rows = std::clamp<Index>(spec.resident_rows, 1, tiles.rows);
    if (spec.resident_rows < tiles.rows && (spec.step < Step::split_gram || spec.centring == Centring::tiles_too))
        throw Error("a matrix of which a part is read again for every product is not centred itself");
    return spec;
}

}  // namespace

Distribution read_owners(StreamingStep step, const Distribution& compute) {
    if (step >= Step::read_order) return compute;
    const GridSize tiles = compute.grid();
    return tabulate(tiles, compute.nodes(), [&](Index i, Index) { return i * compute.nodes() / tiles.rows; });
}

StreamedMatrix::StreamedMatrix(Stream& stream, StreamedSpec spec)
    : s_(stream),
      spec_(checked(std::move(spec))),
      borders_(std::make_unique<Borders>(stream, spec_)),
      tiles_(std::make_unique<ResidentTiles>(stream, spec_)),
      reading_(std::make_unique<TileReading>(stream, spec_, *tiles_)) {}

StreamedMatrix::~StreamedMatrix() = default;

Matrix<double> StreamedMatrix::make_right(const char* name, Index columns) const {
    return borders_->beside(BorderSide::cols, name, columns);
}
Matrix<double> StreamedMatrix::make_left(const char* name, Index columns) const {
    return borders_->beside(BorderSide::rows, name, columns);
}
std::vector<Index> StreamedMatrix::column_cuts(Index columns) const { return borders_->column_cuts(columns); }

const Matrix<double>& StreamedMatrix::row_sums() const { return borders_->sums(BorderSide::rows); }
const Matrix<double>& StreamedMatrix::col_sums() const {
    return borders_->sums(spec_.stored == Stored::lower ? BorderSide::rows : BorderSide::cols);
}
const Scalar<double>& StreamedMatrix::total() const { return borders_->total(); }
const Matrix<double>& StreamedMatrix::tiles() const { return *tiles_->whole(); }

/// How products are added: from `commute` on as the stream adds (Sums), and those of a symmetric matrix, which go into
/// rows of several nodes, always.
AccessTo<double> StreamedMatrix::sum(const TileOf<double>& tile) const {
    const bool of_several_nodes = spec_.stored == Stored::lower && spec_.compute.nodes() > 1;
    return spec_.step >= Step::commute || of_several_nodes ? reduce(tile) : read_write(tile);
}

void StreamedMatrix::clear(const View& Y) {
    const auto phase = s_.phase("product");
    for (Index i = 0; i < Y.tile_rows(); ++i)
        for (Index c = 0; c < Y.tile_cols(); ++c)
            s_.submit(tasks::laset({}, Y(i, c)).at(step_of(i), spec_.priority(0)));
}

void StreamedMatrix::share_rows(const View& X, const View& Y) {
    for (Index k = 0; k < X.tile_rows(); ++k)
        for (Index c = 0; c < X.tile_cols(); ++c)
            s_.share_with_owners(X(k, c), {Y.block({0, c}, {Y.tile_rows(), c + 1})}, spec_.priority(k));
}

void StreamedMatrix::retire(const View& X) {
    for (Index k = 0; k < X.tile_rows(); ++k)
        for (Index c = 0; c < X.tile_cols(); ++c) s_.retire(X(k, c));
}

/// (6)
void StreamedMatrix::multiply_row(Index i, const View& X, const View& Y) {
    const auto phase = s_.phase("product");
    const bool half = spec_.stored == Stored::lower;
    for (Index k = 0; k < spec_.tiles_of_row(i); ++k) {
        const TileOf<double> h = tiles_->tile(i, k);
        for (Index c = 0; c < X.tile_cols(); ++c) {
            Task task = half && i != k ? Task(both_products_kernel, {}, read(h), read(X(k, c)), read(X(i, c)),
                                              sum(Y(i, c)), sum(Y(k, c)))
                                       : tasks::gemm<double>(GemmArguments{}, h.stored(), X(k, c), sum(Y(i, c)));
            if (half) task.on(h.owner());
            s_.submit(task.at(step_of(i), spec_.priority(k)));
        }
        if (!half) s_.retire(h);
    }
}

void StreamedMatrix::multiply_row_transposed(Index i, const View& Y, const View& Z) {
    const auto phase = s_.phase("product");
    for (Index k = 0; k < spec_.tiles_of_row(i); ++k)
        for (Index c = 0; c < Y.tile_cols(); ++c) {
            TileOf<double> h = tiles_->tile(i, k);
            h.view.op = Op::transpose;
            s_.submit(tasks::gemm<double>(GemmArguments{}, h, Y(i, c), reduce(Z(k, c)))
                          .on(h.owner())
                          .at(step_of(i), spec_.priority(i)));
        }
}

/// Steps before split_gram: the product takes the Gram matrix, which takes all that is read.
void StreamedMatrix::phase_by_phase(const View& X, const View& Y, const std::function<void()>& between) {
    const auto wait = [&] {
        if (spec_.step == Step::sync && between) between();
    };
    const Index rows = spec_.tile_rows();
    for (Index i = 0; i < rows; ++i) reading_->read_row(i);
    wait();
    for (Index i = 0; i < rows; ++i) borders_->add(i, *tiles_);
    wait();
    borders_->finish();
    borders_->centre(*tiles_);
    wait();
    clear(Y);
    share_rows(X, Y);
    for (Index i = 0; i < rows; ++i) multiply_row(i, X, Y);
    wait();
}

void StreamedMatrix::row_by_row(const View& X, const View& Y) {
    const bool half = spec_.stored == Stored::lower;
    if (half) clear(Y);
    share_rows(X, Y);
    for (Index i = 0; i < spec_.tile_rows(); ++i) {
        reading_->read_row(i);
        borders_->add(i, *tiles_);
        if (!half) clear(Y.tiles({i, 0}, {1, Y.tile_cols()}));
        multiply_row(i, X, Y);
    }
    borders_->finish();
    borders_->weigh(BorderSide::cols, X);
    for (Index i = 0; i < spec_.tile_rows(); ++i) borders_->correct(BorderSide::rows, i, Y);
    if (spec_.centring == Centring::tiles_too) borders_->centre(*tiles_);
}

void StreamedMatrix::first_product(const View& X, const View& Y, const std::function<void()>& between) {
    borders_->begin();
    if (spec_.step >= Step::split_gram)
        row_by_row(X, Y);
    else
        phase_by_phase(X, Y, between);
    retire(X);
    for (Index i = 0; i < spec_.tile_rows(); ++i) borders_->scale(BorderSide::rows, i, Y);
}

void StreamedMatrix::pass(const Pass& pass) {
    constexpr auto rows = BorderSide::rows;
    constexpr auto cols = BorderSide::cols;
    const View& Y = pass.Y;
    View X = Y;
    if (pass.X) {
        X = borders_->scaled(cols, *pass.X, 0, pass.X->tile_rows());
        borders_->weigh(cols, X);
        clear(Y);
        share_rows(X, Y);
    }
    // What a row of the product lacks when all of it has been added up.
    const auto finish = [&](BorderSide side, Index i, const View& product) {
        borders_->correct(side, i, product);
        borders_->scale(side, i, product);
    };
    if (pass.squares) s_.submit(tasks::laset({}, pass.squares->tile()));
    if (pass.transposed) clear(*pass.transposed);
    View left = Y;
    for (Index i = 0; i < spec_.tile_rows(); ++i) {
        if (i < spec_.first_resident()) reading_->read_row(i);
        if (pass.X) multiply_row(i, X, Y);
        if (pass.squares) borders_->add_squares(i, *tiles_, *pass.squares);
        if (!pass.transposed) continue;
        if (pass.X) finish(rows, i, Y);
        left = borders_->scaled(rows, Y, i, 1);
        multiply_row_transposed(i, left, *pass.transposed);
    }
    if (pass.X) retire(X);
    if (!pass.transposed) {
        for (Index i = 0; i < spec_.tile_rows(); ++i) finish(rows, i, Y);
        return;
    }
    borders_->weigh(rows, left);
    for (Index j = 0; j < pass.transposed->tile_rows(); ++j) finish(cols, j, *pass.transposed);
}

}  // namespace tesela
