#include "tesela/mds/internal/borders.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/tasks.hpp"

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

Index column_tile(const StreamedSpec& spec, Index columns) {
    if (spec.column_tile > 0) return std::min(spec.column_tile, columns);
    return ceil_div(columns, ceil_div(columns, spec.tiling.rows(0)));
}

}  // namespace

Borders::Borders(Stream& stream, const StreamedSpec& spec)
    : s_(stream),
      spec_(spec),
      sides_{make_side(rows, {"row weights", "row sums", "U", "l"}),
             make_side(cols, {"column weights", "column sums", "V", "r"})},
      total_(stream, MatrixOptions{.name = "sum of all"}),
      centred_(spec.values != nullptr) {
    if (!centred_) return;
    for (const Side& side : sides_) fill(s_, side.border.view(), {});
    for (const Side& side : sides_) fill(s_, side.factors.view(), {.off_diagonal = 1, .diagonal = 1});
}

/// Tile (i, c) where tile (i, c) of the matrix is computed with, counted round where there is none.
Matrix<double> Borders::placed(const Tiling& tiling, const char* name) const {
    const Distribution& matrix = spec_.compute;
    const auto owner = [&](Index i, Index c) {
        return matrix.owner({i % matrix.grid().rows, c % matrix.grid().cols}).number();
    };
    return {s_, tiling, tabulate(tiling.grid(), matrix.nodes(), owner), {.name = name}};
}

Borders::Side Borders::make_side(BorderSide side, std::array<const char*, 4> names) const {
    const auto vectors = [&](Index columns, const char* name) {
        return placed(Tiling::from_cuts(cuts(side), {0, columns}), name);
    };
    const bool has_squares = spec_.rule == BorderRule::means || spec_.rule == BorderRule::means_deviations;
    return {vectors(1, names[0]), vectors(side == cols && has_squares ? 2 : 1, names[1]), vectors(2, names[2]),
            vectors(1, names[3])};
}

Matrix<double> Borders::beside(BorderSide side, const char* name, Index columns) const {
    return placed(Tiling::from_cuts(cuts(side), column_cuts(columns)), name);
}

std::vector<Index> Borders::column_cuts(Index columns) const {
    return spec_.tiling.with_columns(columns, column_tile(spec_, columns)).col_cuts();
}

bool Borders::scales() const {
    return !spec_.weights.empty() || spec_.rule == BorderRule::means_deviations || spec_.rule == BorderRule::masses;
}

Borders::Correction& Borders::correction(BorderSide side, const View& X) {
    const Index columns = X.matrix().tiling().size().j;
    if (const auto found = corrections_.find(columns); found != corrections_.end()) return found->second[at(side)];
    if (corrections_.size() > 2) corrections_.clear();  // widths follow each other
    const auto make = [&](BorderSide of, const char* name) {
        Correction made{placed(Tiling::from_cuts({0, 2}, column_cuts(columns)), "corrections"), {}};
        if (scales()) made.scaled = beside(of, name, columns);
        return made;
    };
    std::array<Correction, 2> made{make(rows, "scaled Y"), make(cols, "scaled X")};
    return corrections_.emplace(columns, std::move(made)).first->second[at(side)];
}

// --- sums over H -----------------------------------------------------------------------------------------------------

void Borders::begin() {
    const auto phase = s_.phase("omega");
    for (const BorderSide side : {rows, cols}) weigh_elements(side);
    for (const Side& side : sides_) fill(s_, side.sums.view(), {});
    s_.submit(tasks::laset({}, total_.tile()));
}

void Borders::weigh_elements(BorderSide side) {
    const View weights = sides_[at(side)].weights;
    if (!spec_.weights.empty() && (side == rows || spec_.rule == BorderRule::distances)) {
        generate(s_, weights,
                 [values = &spec_.weights](Index i, Index) { return (*values)[static_cast<std::size_t>(i)]; });
        return;
    }
    const double equal = spec_.rule == BorderRule::masses ? 1 : 1 / static_cast<double>(cuts(side).back());
    fill(s_, weights, {.off_diagonal = equal, .diagonal = equal});
}

void Borders::add(Index i, const ResidentTiles& H) {
    const auto phase = s_.phase("gram");
    const bool of_cols = spec_.rule != BorderRule::distances;
    const bool of_rows = !of_cols || spec_.rule == BorderRule::masses;
    const bool half = spec_.stored == Stored::lower;
    // What was taken from a panel is H already.
    const GramArguments args{spec_.reading.panel_tiles > 0 ? ElementRule::shifted : spec_.element_rule()};
    const std::int32_t urgency = spec_.priority(i);
    for (Index j = 0; j < spec_.tiles_of_row(i); ++j) {
        const AccessTo<double> h = read_write(H.tile(i, j));
        const auto x = read(sides_[at(rows)].weights(i, 0));
        const auto y = read(sides_[at(cols)].weights(j, 0));
        const AccessTo<double> s = reduce(sums(rows)(i, 0));
        const AccessTo<double> t = reduce(sums(half ? rows : cols)(j, 0));
        if ((half && i != j) || (of_rows && of_cols))
            s_.submit(Task(gram_both_kernel, args, h, x, y, s, t).at(step_of(i), urgency));
        else if (of_rows)
            s_.submit(Task(gram_rows_kernel, args, h, y, s).at(step_of(i), urgency));
        else
            s_.submit(Task(gram_cols_kernel, args, h, x, t).at(step_of(i), urgency));
    }
}

void Borders::finish() {
    const auto phase = s_.phase("centre");
    add_up();
    make_border(rows, sums(rows));
    make_border(cols, sums(spec_.rule == BorderRule::distances ? rows : cols));
    s_.retire(total_.tile());
}

/// The sum of all, and who is going to need it.
void Borders::add_up() {
    const Side& side = sides_[at(rows)];
    for (Index i = 0; i < spec_.tile_rows(); ++i)
        s_.submit(Task(Dense<double>::dot, read(side.sums(i, 0)), read(side.weights(i, 0)), reduce(total_.tile()))
                      .on(side.sums(i, 0).owner())
                      .at(step_of(i), 0));
    s_.share_with_owners(total_.tile(), {side.border.block({0, 0}, {spec_.tile_rows(), 1})});
}

void Borders::make_border(BorderSide side, const Matrix<double>& sums) {
    const BorderArguments args{.rule = spec_.rule,
                               .side = side,
                               .weighted = spec_.weights.empty() ? Weighted::no : Weighted::yes,
                               .degrees_of_freedom = spec_.degrees_of_freedom};
    const Side& of = sides_[at(side)];
    for (Index i = 0; i < of.border.tile_rows(); ++i)
        s_.submit(Task(border_kernel, args, read(sums(i, 0)), read(total_.tile()), read(of.weights(i, 0)),
                       write(of.border(i, 0)), write(of.factors(i, 0)))
                      .at(step_of(i), 0));
}

// --- on tiles --------------------------------------------------------------------------------------------------------

void Borders::centre(const ResidentTiles& H) {
    const auto phase = s_.phase("centre");
    const Matrix<double>& U = sides_[at(rows)].border;
    const Matrix<double>& V = sides_[at(cols)].border;
    for (Index k = 0; k < V.tile_rows(); ++k)
        s_.share_with_owners(V(k, 0), {H.whole()->block({0, k}, {spec_.tile_rows(), k + 1})});
    for (Index i = 0; i < spec_.tile_rows(); ++i) {
        const Index tiles = spec_.tiles_of_row(i);
        if (spec_.stored == Stored::full) s_.share_with_owners(U(i, 0), {H.whole()->block({i, 0}, {i + 1, tiles})});
        for (Index j = 0; j < tiles; ++j)
            s_.submit(Task(centre_kernel, {.op = Op::transpose}, read(U(i, 0)), read(V(j, 0)), read_write(H.tile(i, j)))
                          .at(step_of(i), 0));
        s_.retire(U(i, 0));
    }
    for (Index k = 0; k < V.tile_rows(); ++k) s_.retire(V(k, 0));
    centred_ = true;
}

void Borders::add_squares(Index i, const ResidentTiles& H, const Scalar<double>& squares) {
    const auto phase = s_.phase("product");
    const auto& [row, col] = sides_;
    for (Index j = 0; j < spec_.tiles_of_row(i); ++j) {
        const bool twice = spec_.stored == Stored::lower && i != j;
        s_.submit(Task(squares_kernel, {.times = twice ? 2.0 : 1.0, .border = centred_ ? 0.0 : 1.0}, read(H.tile(i, j)),
                       read(row.border(i, 0)), read(row.factors(i, 0)), read(col.border(j, 0)), read(col.factors(j, 0)),
                       reduce(squares.tile()))
                      .on(H.tile(i, j).owner())
                      .at(step_of(i), 0));
    }
}

// --- on products -----------------------------------------------------------------------------------------------------

Borders::View Borders::scaled(BorderSide side, const View& X, Index first, Index count) {
    if (!scales()) return X;
    const auto phase = s_.phase("centre");
    const View into = correction(side, X).scaled->view();
    const GridSize part{count, X.tile_cols()};
    copy(s_, X.tiles({first, 0}, part), into.tiles({first, 0}, part));
    for (Index i = first; i < first + count; ++i) scale(side, i, into);
    return into;
}

void Borders::weigh(BorderSide side, const View& X) {
    if (centred_) return;
    const auto phase = s_.phase("centre");
    const View border = sides_[at(side)].border;
    const Matrix<double>& W = correction(side, X).weights;
    for (Index c = 0; c < X.tile_cols(); ++c) {
        s_.submit(tasks::laset({}, W(0, c)));
        for (Index k = 0; k < X.tile_rows(); ++k)
            s_.submit(tasks::gemm<double>(GemmArguments{}, border.transposed()(0, k), X(k, c), reduce(W(0, c)))
                          .on(X(k, c).owner())
                          .at(step_of(k), 0));
    }
}

void Borders::correct(BorderSide side, Index i, const View& Y) {
    if (centred_) return;
    const auto phase = s_.phase("centre");
    const Matrix<double>& W = correction(side == rows ? cols : rows, Y).weights;
    const auto border = read(sides_[at(side)].border(i, 0));
    for (Index c = 0; c < Y.tile_cols(); ++c)
        s_.submit(Task(centre_kernel, {}, border, read(W(0, c)), read_write(Y(i, c))).at(step_of(i), 0));
}

void Borders::scale(BorderSide side, Index i, const View& Y) {
    if (!scales()) return;
    const auto phase = s_.phase("centre");
    const auto factors = read(sides_[at(side)].factors(i, 0));
    for (Index c = 0; c < Y.tile_cols(); ++c)
        s_.submit(Task(scale_rows_kernel, factors, read_write(Y(i, c))).at(step_of(i), 0));
}

}  // namespace tesela
