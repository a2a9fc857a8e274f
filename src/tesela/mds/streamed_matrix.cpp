#include "tesela/mds/streamed_matrix.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/priorities.hpp"
#include "tesela/algs/tasks.hpp"

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

using Step = StreamingStep;
using Centring = StreamedSpec::Centring;

std::int32_t number(Index i) { return static_cast<std::int32_t>(i); }

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

Index column_tile(const StreamedSpec& spec, Index columns) {
    if (spec.column_tile > 0) return std::min(spec.column_tile, columns);
    const Index parts = (columns + spec.tiling.rows(0) - 1) / spec.tiling.rows(0);
    return (columns + parts - 1) / parts;
}

/// Tile (i, c) where tile (i, c) of the matrix is, counted round where there is none.
Distribution beside(const Distribution& matrix, GridSize tiles) {
    return tabulate(tiles, matrix.nodes(), [&](Index i, Index c) {
        return matrix.owner({i % matrix.grid().rows, c % matrix.grid().cols}).number();
    });
}

ElementRule element_rule(BorderRule rule) {
    return rule == BorderRule::distances ? ElementRule::half_squares : ElementRule::shifted;
}

Matrix<double> vectors(Stream& s, const std::vector<Index>& cuts, Index columns, const Distribution& compute,
                       const char* name) {
    const Tiling tiling = Tiling::from_cuts(cuts, {0, columns});
    return {s, tiling, beside(compute, tiling.grid()), {.name = name}};
}

}  // namespace

Distribution read_owners(StreamingStep step, const Distribution& compute) {
    if (step >= Step::read_order) return compute;
    const GridSize tiles = compute.grid();
    return tabulate(tiles, compute.nodes(), [&](Index i, Index) { return i * compute.nodes() / tiles.rows; });
}

StreamedMatrix::StreamedMatrix(Stream& stream, StreamedSpec spec) : s_(stream), spec_(checked(std::move(spec))) {
    make_borders();
    if (spec_.values) {
        use_memory();
        return;
    }
    make_tiles();
    if (spec_.reading.panel_tiles > 0) make_panels();
}

std::vector<Index> StreamedMatrix::column_cuts(Index columns) const {
    return spec_.tiling.with_columns(columns, column_tile(spec_, columns)).col_cuts();
}

Matrix<double> StreamedMatrix::make_right(const char* name, Index columns) const {
    const Tiling tiling = Tiling::from_cuts(spec_.tiling.col_cuts(), column_cuts(columns));
    return {s_, tiling, beside(spec_.compute, tiling.grid()), {.name = name}};
}

Matrix<double> StreamedMatrix::make_left(const char* name, Index columns) const {
    const Tiling tiling = Tiling::from_cuts(spec_.tiling.row_cuts(), column_cuts(columns));
    return {s_, tiling, beside(spec_.compute, tiling.grid()), {.name = name}};
}

bool StreamedMatrix::scales() const {
    return !spec_.weights.empty() || spec_.rule == BorderRule::means_deviations || spec_.rule == BorderRule::masses;
}

// --- memory ----------------------------------------------------------------------------------------------------------

void StreamedMatrix::make_tiles() {
    if (spec_.resident_rows == rows()) {
        whole_ = std::make_unique<Matrix<double>>(s_, spec_.tiling, spec_.read,
                                                  MatrixOptions{.name = "D", .stored = spec_.stored});
        return;
    }
    const auto row_of_tiles = [&](Index i, NodeId node, const char* name) {
        std::vector<Index> cuts = spec_.tiling.col_cuts();
        cuts.resize(static_cast<std::size_t>(cols_of(i)) + 1);
        const Tiling tiling = Tiling::from_cuts({0, spec_.tiling.rows(i)}, std::move(cuts));
        return Matrix<double>(
            s_, tiling, tabulate(tiling.grid(), spec_.compute.nodes(), [&](Index, Index) { return node.number(); }),
            {.name = name});
    };
    for (Index i = first_resident(); i < rows(); ++i)
        kept_rows_.push_back(row_of_tiles(i, spec_.compute.owner({i, 0}), "D"));
    std::vector<Index> passed(static_cast<std::size_t>(spec_.compute.nodes()), 0);
    std::vector<std::vector<Index>> of_node(passed.size());
    for (Index i = 0; i < first_resident(); ++i) {
        const auto node = static_cast<std::size_t>(spec_.compute.owner({i, 0}).number());
        if (std::cmp_less(of_node[node].size(), spec_.passing_rows)) {
            of_node[node].push_back(static_cast<Index>(passing_rows_.size()));
            // As long as the longest row that comes there.
            passing_rows_.push_back(row_of_tiles(first_resident() - 1, spec_.compute.owner({i, 0}), "passing rows"));
        }
        passing_of_.push_back(of_node[node][static_cast<std::size_t>(passed[node]++ % spec_.passing_rows)]);
    }
}

void StreamedMatrix::use_memory() {
    // Tasks only read it.
    auto* values = const_cast<double*>(spec_.values);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    whole_ = std::make_unique<Matrix<double>>(
        s_, spec_.tiling, spec_.compute,
        over_array(values, spec_.tiling.size().i, spec_.tiling, MatrixOptions{.name = "A", .stored = spec_.stored}));
    for (const auto* border : {&U_, &V_}) fill(s_, (*border)->view(), {});
    for (const auto* factors : {&l_, &r_}) fill(s_, (*factors)->view(), {.off_diagonal = 1, .diagonal = 1});
    centred_ = true;
}

void StreamedMatrix::make_panels() {
    const bool again = at_least(Step::allocation);
    const Index nodes = spec_.read.nodes();
    std::vector<Index> of_node(static_cast<std::size_t>(nodes), 0);
    std::vector<std::vector<Index>> slots(of_node.size());
    std::vector<Index> owners;
    std::vector<Index> cuts{0};
    const auto add_slot = [&](Index i) {
        owners.push_back(spec_.read.owner({i, 0}).number());
        cuts.push_back(cuts.back() + spec_.tiling.rows(i));
        return static_cast<Index>(owners.size()) - 1;
    };
    for (Index i = 0; i < rows(); ++i) {
        const auto node = static_cast<std::size_t>(spec_.read.owner({i, 0}).number());
        if (!again || i + 1 == rows()) {
            slot_of_.push_back(add_slot(i));
            continue;
        }
        if (std::cmp_less(slots[node].size(), spec_.reading.slots)) slots[node].push_back(add_slot(i));
        slot_of_.push_back(slots[node][static_cast<std::size_t>(of_node[node]++ % spec_.reading.slots)]);
    }
    const Index tiles = spec_.tiling.grid().cols;
    for (Index j = 0; j < tiles; j += spec_.reading.panel_tiles) {
        const Index end = std::min(j + spec_.reading.panel_tiles, tiles);
        const Index width = spec_.tiling.col_begin(end) - spec_.tiling.col_begin(j);
        panels_.push_back(s_.attach(
            {.name = "panels",
             .tiling = Tiling::from_cuts({0, width}, cuts),
             .distribution = tabulate({1, static_cast<Index>(owners.size())}, nodes,
                                      [&](Index, Index slot) { return owners[static_cast<std::size_t>(slot)]; }),
             .type = spec_.reading.type,
             .memory = {},
             .allocation = again ? Allocation::at_once : Allocation::when_written}));
    }
}

void StreamedMatrix::make_borders() {
    const auto of_rows = [&](Index columns, const char* name) {
        return std::make_unique<Matrix<double>>(vectors(s_, spec_.tiling.row_cuts(), columns, spec_.compute, name));
    };
    const auto of_cols = [&](Index columns, const char* name) {
        return std::make_unique<Matrix<double>>(vectors(s_, spec_.tiling.col_cuts(), columns, spec_.compute, name));
    };
    row_weights_ = of_rows(1, "row weights");
    col_weights_ = of_cols(1, "column weights");
    row_sums_ = of_rows(1, "row sums");
    const bool has_means = spec_.rule == BorderRule::means || spec_.rule == BorderRule::means_deviations;
    col_sums_ = of_cols(has_means ? 2 : 1, "column sums");
    total_ = std::make_unique<Scalar<double>>(s_, MatrixOptions{.name = "sum of all"});
    U_ = of_rows(2, "U");
    l_ = of_rows(1, "l");
    V_ = of_cols(2, "V");
    r_ = of_cols(1, "r");
}

StreamedMatrix::Corrections& StreamedMatrix::corrections(const View& X) {
    const Index columns = X.matrix().tiling().size().j;
    if (const auto found = corrections_.find(columns); found != corrections_.end()) return found->second;
    const auto weights = [&] {
        const Tiling small = Tiling::from_cuts({0, 2}, column_cuts(columns));
        return Matrix<double>(s_, small, beside(spec_.compute, small.grid()), MatrixOptions{.name = "corrections"});
    };
    if (corrections_.size() > 2) corrections_.clear();  // widths follow each other
    Corrections made{weights(), weights(), {}, {}};
    if (scales()) {
        made.scaled_right = make_right("scaled X", columns);
        made.scaled_left = make_left("scaled Y", columns);
    }
    return corrections_.emplace(columns, std::move(made)).first->second;
}

TileOf<double> StreamedMatrix::tile(Index i, Index j) const {
    if (whole_) return (*whole_)(i, j);
    if (i >= first_resident()) return kept_rows_[static_cast<std::size_t>(i - first_resident())](0, j);
    return passing_rows_[static_cast<std::size_t>(passing_of_[static_cast<std::size_t>(i)])](0, j);
}

TileRef StreamedMatrix::slot(Index i, Index panel) const {
    return {panels_[static_cast<std::size_t>(panel)].get(), {0, slot_of_[static_cast<std::size_t>(i)]}};
}

/// How products are added: from `commute` on as the stream adds (Sums), and those of a symmetric matrix, which go into
/// rows of several nodes, always.
AccessTo<double> StreamedMatrix::sum(const TileOf<double>& tile) const {
    const bool of_several_nodes = stored_lower() && spec_.compute.nodes() > 1;
    return at_least(Step::commute) || of_several_nodes ? reduce(tile) : read_write(tile);
}

// --- reading ---------------------------------------------------------------------------------------------------------

void StreamedMatrix::prepare() {
    const auto phase = s_.phase("omega");
    const auto weigh = [&](const Matrix<double>& weights, Index count, bool by_user) {
        if (by_user) {
            generate(s_, weights.view(),
                     [values = &spec_.weights](Index i, Index) { return (*values)[static_cast<std::size_t>(i)]; });
            return;
        }
        const double equal = spec_.rule == BorderRule::masses ? 1 : 1 / static_cast<double>(count);
        fill(s_, weights.view(), {.off_diagonal = equal, .diagonal = equal});
    };
    const bool given = !spec_.weights.empty();
    weigh(*row_weights_, spec_.tiling.size().i, given);
    weigh(*col_weights_, spec_.tiling.size().j, given && spec_.rule == BorderRule::distances);
    fill(s_, row_sums_->view(), {});
    fill(s_, col_sums_->view(), {});
    s_.submit(tasks::laset({}, total_->tile()));
}

void StreamedMatrix::read_row(Index i) {
    const auto phase = s_.phase("read");
    if (spec_.reading.panel_tiles > 0)
        read_panels(i);
    else
        read_tiles(i);
    if (!whole_) return;
    for (Index j = 0; j < cols_of(i); ++j) s_.move(tile(i, j), spec_.compute.owner({i, j}));
}

void StreamedMatrix::read_tiles(Index i) {
    const LimitedResource reader{reader_resource, spec_.reading.readers_per_node};
    const MdsPriorities by_row(rows());
    for (Index j = 0; j < cols_of(i); ++j) {
        const ReadArguments args{spec_.reading.source, {spec_.tiling.row_begin(i), spec_.tiling.col_begin(j)}};
        s_.submit(Task::unchecked(*spec_.reading.kernel, {{tile(i, j), AccessMode::write}}, args)
                      .at(number(i), priority(by_row.read(i)))
                      .needs(reader));
    }
}

void StreamedMatrix::read_panels(Index i) {
    const LimitedResource reader{reader_resource, spec_.reading.readers_per_node};
    const MdsPriorities by_row(rows());
    const Kernel& take =
        spec_.reading.type == ElementType::f32 ? static_cast<const Kernel&>(take_single_kernel) : take_double_kernel;
    for (Index first = 0, panel = 0; first < cols_of(i); first += spec_.reading.panel_tiles, ++panel) {
        const Index begin = spec_.tiling.col_begin(first);
        s_.submit(Task::unchecked(*spec_.reading.kernel, {{slot(i, panel), AccessMode::write}},
                                  ReadArguments{spec_.reading.source, {spec_.tiling.row_begin(i), begin}})
                      .at(number(i), priority(by_row.read(i)))
                      .needs(reader));
        const Index end = std::min(first + spec_.reading.panel_tiles, cols_of(i));
        for (Index j = first; j < end; ++j) {
            const Index col = spec_.tiling.col_begin(j);
            const TakeArguments args{.rule = element_rule(spec_.rule),
                                     .first = col - begin,
                                     .shift = spec_.reading.shift ? spec_.reading.shift + col : nullptr};
            s_.submit(Task::unchecked(take, {{slot(i, panel), AccessMode::read}, {tile(i, j), AccessMode::write}}, args)
                          .at(number(i), priority(by_row.read(i))));
        }
    }
}

// --- sums and borders ------------------------------------------------------------------------------------------------

void StreamedMatrix::add_sums(Index i) {
    const auto phase = s_.phase("gram");
    const bool of_cols = spec_.rule != BorderRule::distances;
    const bool of_rows = spec_.rule == BorderRule::distances || spec_.rule == BorderRule::masses;
    // What was taken from a panel is H already.
    const GramArguments args{spec_.reading.panel_tiles > 0 ? ElementRule::shifted : element_rule(spec_.rule)};
    const Matrix<double>& into_cols = stored_lower() ? *row_sums_ : *col_sums_;
    const std::int32_t urgency = priority(MdsPriorities(rows()).square(i));
    for (Index j = 0; j < cols_of(i); ++j) {
        const AccessTo<double> h = read_write(tile(i, j));
        const auto x = read((*row_weights_)(i, 0));
        const auto y = read((*col_weights_)(j, 0));
        const AccessTo<double> s = reduce((*row_sums_)(i, 0));
        const AccessTo<double> t = reduce(into_cols(j, 0));
        const bool mirrored = stored_lower() && i != j;
        if (mirrored || (of_rows && of_cols))
            s_.submit(Task(gram_both_kernel, args, h, x, y, s, t).at(number(i), urgency));
        else if (of_rows)
            s_.submit(Task(gram_rows_kernel, args, h, y, s).at(number(i), urgency));
        else
            s_.submit(Task(gram_cols_kernel, args, h, x, t).at(number(i), urgency));
    }
}

/// The sum of all, and who is going to need it.
void StreamedMatrix::add_up() {
    const auto phase = s_.phase("centre");
    for (Index i = 0; i < rows(); ++i)
        s_.submit(
            Task(Dense<double>::dot, read((*row_sums_)(i, 0)), read((*row_weights_)(i, 0)), reduce(total_->tile()))
                .on((*row_sums_)(i, 0).owner())
                .at(number(i), 0));
    s_.share_with_owners(total_->tile(), {U_->block({0, 0}, {rows(), 1})});
}

void StreamedMatrix::submit_borders() {
    const auto phase = s_.phase("centre");
    BorderArguments args{.rule = spec_.rule,
                         .weighted = spec_.weights.empty() ? Weighted::no : Weighted::yes,
                         .degrees_of_freedom = spec_.degrees_of_freedom};
    const auto submit = [&](const Matrix<double>& sums, const Matrix<double>& weights, const Matrix<double>& border,
                            const Matrix<double>& factors) {
        for (Index i = 0; i < border.tile_rows(); ++i) {
            s_.submit(Task(border_kernel, args, read(sums(i, 0)), read(total_->tile()), read(weights(i, 0)),
                           write(border(i, 0)), write(factors(i, 0)))
                          .at(number(i), 0));
        }
    };
    args.side = BorderSide::rows;
    submit(*row_sums_, *row_weights_, *U_, *l_);
    args.side = BorderSide::cols;
    submit(spec_.rule == BorderRule::distances ? *row_sums_ : *col_sums_, *col_weights_, *V_, *r_);
    s_.retire(total_->tile());
}

/// W := borderᵀ·X, (7) and (8), where X lives; and who is going to need it.
void StreamedMatrix::correct_weights(const View& border, const View& X, const Matrix<double>& W) {
    const auto phase = s_.phase("centre");
    for (Index c = 0; c < X.tile_cols(); ++c) {
        s_.submit(tasks::laset({}, W(0, c)));
        for (Index k = 0; k < X.tile_rows(); ++k)
            s_.submit(tasks::gemm<double>(GemmArguments{}, border.transposed()(0, k), X(k, c), reduce(W(0, c)))
                          .on(X(k, c).owner())
                          .at(number(k), 0));
    }
}

// --- products --------------------------------------------------------------------------------------------------------

void StreamedMatrix::clear(const View& Y) {
    const auto phase = s_.phase("product");
    for (Index i = 0; i < Y.tile_rows(); ++i)
        for (Index c = 0; c < Y.tile_cols(); ++c)
            s_.submit(tasks::laset({}, Y(i, c)).at(number(i), priority(MdsPriorities(rows()).clear())));
}

void StreamedMatrix::share_rows(const View& X, const View& Y) {
    for (Index k = 0; k < X.tile_rows(); ++k)
        for (Index c = 0; c < X.tile_cols(); ++c)
            s_.share_with_owners(X(k, c), {Y.block({0, c}, {Y.tile_rows(), c + 1})},
                                 priority(MdsPriorities(rows()).product(k)));
}

void StreamedMatrix::retire(const View& X) {
    for (Index k = 0; k < X.tile_rows(); ++k)
        for (Index c = 0; c < X.tile_cols(); ++c) s_.retire(X(k, c));
}

/// (6)
void StreamedMatrix::multiply_row(Index i, const View& X, const View& Y) {
    const auto phase = s_.phase("product");
    for (Index k = 0; k < cols_of(i); ++k) {
        const std::int32_t urgency = priority(MdsPriorities(rows()).product(k));
        for (Index c = 0; c < X.tile_cols(); ++c) {
            Task task = stored_lower() && i != k
                            ? Task(both_products_kernel, {}, read(tile(i, k)), read(X(k, c)), read(X(i, c)),
                                   sum(Y(i, c)), sum(Y(k, c)))
                            : tasks::gemm<double>(GemmArguments{}, tile(i, k).stored(), X(k, c), sum(Y(i, c)));
            if (stored_lower()) task.on(tile(i, k).owner());
            s_.submit(task.at(number(i), urgency));
        }
        if (!stored_lower()) s_.retire(tile(i, k));
    }
}

void StreamedMatrix::multiply_row_transposed(Index i, const View& Y, const View& Z) {
    const auto phase = s_.phase("product");
    for (Index k = 0; k < cols_of(i); ++k)
        for (Index c = 0; c < Y.tile_cols(); ++c) {
            TileOf<double> h = tile(i, k);
            h.view.op = Op::transpose;
            s_.submit(tasks::gemm<double>(GemmArguments{}, h, Y(i, c), reduce(Z(k, c)))
                          .on(tile(i, k).owner())
                          .at(number(i), priority(MdsPriorities(rows()).product(i))));
        }
}

/// (9)
void StreamedMatrix::finish_row(Index i, const View& border, const Matrix<double>& W, const View& Y) {
    const auto phase = s_.phase("centre");
    for (Index c = 0; c < Y.tile_cols(); ++c)
        s_.submit(Task(centre_kernel, {}, read(border(i, 0)), read(W(0, c)), read_write(Y(i, c))).at(number(i), 0));
}

void StreamedMatrix::scale_row(Index i, const Matrix<double>& factors, const View& Y) {
    const auto phase = s_.phase("centre");
    for (Index c = 0; c < Y.tile_cols(); ++c)
        s_.submit(Task(scale_rows_kernel, read(factors(i, 0)), read_write(Y(i, c))).at(number(i), 0));
}

/// (10)
void StreamedMatrix::centre_tiles() {
    const auto phase = s_.phase("centre");
    for (Index k = 0; k < V_->tile_rows(); ++k)
        s_.share_with_owners((*V_)(k, 0), {whole_->block({0, k}, {rows(), k + 1})});
    for (Index i = 0; i < rows(); ++i) {
        if (!stored_lower()) s_.share_with_owners((*U_)(i, 0), {whole_->block({i, 0}, {i + 1, cols_of(i)})});
        for (Index j = 0; j < cols_of(i); ++j)
            s_.submit(
                Task(centre_kernel, {.op = Op::transpose}, read((*U_)(i, 0)), read((*V_)(j, 0)), read_write(tile(i, j)))
                    .at(number(i), 0));
        s_.retire((*U_)(i, 0));
    }
    for (Index k = 0; k < V_->tile_rows(); ++k) s_.retire((*V_)(k, 0));
    centred_ = true;
}

void StreamedMatrix::add_squares(Index i, const Scalar<double>& squares) {
    const auto phase = s_.phase("product");
    for (Index j = 0; j < cols_of(i); ++j)
        s_.submit(Task(squares_kernel, {.times = stored_lower() && i != j ? 2.0 : 1.0, .border = centred_ ? 0.0 : 1.0},
                       read(tile(i, j)), read((*U_)(i, 0)), read((*l_)(i, 0)), read((*V_)(j, 0)), read((*r_)(j, 0)),
                       reduce(squares.tile()))
                      .on(tile(i, j).owner())
                      .at(number(i), 0));
}

StreamedMatrix::View StreamedMatrix::scaled(const View& X, const Matrix<double>& factors, const Matrix<double>& into) {
    const auto phase = s_.phase("centre");
    copy(s_, X, into.view());
    for (Index k = 0; k < X.tile_rows(); ++k) scale_row(k, factors, into.view());
    return into.view();
}

/// Steps before split_gram: the product takes the Gram matrix, which takes all that is read.
void StreamedMatrix::phase_by_phase(const View& X, const View& Y, const std::function<void()>& between) {
    const auto wait = [&] {
        if (spec_.step == Step::sync && between) between();
    };
    for (Index i = 0; i < rows(); ++i) read_row(i);
    wait();
    for (Index i = 0; i < rows(); ++i) add_sums(i);
    wait();
    add_up();
    submit_borders();
    centre_tiles();
    wait();
    clear(Y);
    share_rows(X, Y);
    for (Index i = 0; i < rows(); ++i) multiply_row(i, X, Y);
    wait();
}

void StreamedMatrix::row_by_row(const View& X, const View& Y) {
    if (stored_lower()) clear(Y);
    share_rows(X, Y);
    for (Index i = 0; i < rows(); ++i) {
        read_row(i);
        add_sums(i);
        if (!stored_lower()) clear(Y.tiles({i, 0}, {1, Y.tile_cols()}));
        multiply_row(i, X, Y);
    }
    add_up();
    submit_borders();
    const Matrix<double>& weights = corrections(X).right_weights;
    correct_weights(V_->view(), X, weights);
    for (Index i = 0; i < rows(); ++i) finish_row(i, U_->view(), weights, Y);
    if (spec_.centring == Centring::tiles_too) centre_tiles();
}

void StreamedMatrix::first_product(const View& X, const View& Y, const std::function<void()>& between) {
    prepare();
    if (at_least(Step::split_gram))
        row_by_row(X, Y);
    else
        phase_by_phase(X, Y, between);
    retire(X);
    if (scales())
        for (Index i = 0; i < rows(); ++i) scale_row(i, *l_, Y);
}

void StreamedMatrix::pass(const Pass& pass) {
    const View& Y = pass.Y;
    View X = Y;
    if (pass.X) {
        X = scales() ? scaled(*pass.X, *r_, *corrections(Y).scaled_right) : *pass.X;
        if (!centred_) correct_weights(V_->view(), X, corrections(Y).right_weights);
        clear(Y);
        share_rows(X, Y);
    }
    if (pass.squares) s_.submit(tasks::laset({}, pass.squares->tile()));
    if (pass.transposed) clear(*pass.transposed);
    for (Index i = 0; i < rows(); ++i) {
        if (i < first_resident()) read_row(i);
        if (pass.X) multiply_row(i, X, Y);
        if (pass.squares) add_squares(i, *pass.squares);
        if (!pass.transposed) continue;
        if (pass.X) finish(i, Y);
        multiply_row_transposed(i, scaled_row(i, Y), *pass.transposed);
    }
    if (pass.X) retire(X);
    if (pass.transposed)
        finish_transposed(scales() ? corrections(Y).scaled_left->view() : Y, *pass.transposed);
    else
        for (Index i = 0; i < rows(); ++i) finish(i, Y);
}

/// What a row of a product lacks when all of it has been added up.
void StreamedMatrix::finish(Index i, const View& Y) {
    if (!centred_) finish_row(i, U_->view(), corrections(Y).right_weights, Y);
    if (scales()) scale_row(i, *l_, Y);
}

/// Row i of diag(l)·Y, which is Y where nothing is scaled.
StreamedMatrix::View StreamedMatrix::scaled_row(Index i, const View& Y) {
    if (!scales()) return Y;
    const GridSize one{1, Y.tile_cols()};
    const View scaled_left = corrections(Y).scaled_left->view();
    copy(s_, Y.tiles({i, 0}, one), scaled_left.tiles({i, 0}, one));
    scale_row(i, *l_, scaled_left);
    return scaled_left;
}

void StreamedMatrix::finish_transposed(const View& left, const View& Z) {
    if (!centred_) correct_weights(U_->view(), left, corrections(Z).left_weights);
    for (Index j = 0; j < Z.tile_rows(); ++j) {
        if (!centred_) finish_row(j, V_->view(), corrections(Z).left_weights, Z);
        if (scales()) scale_row(j, *r_, Z);
    }
}

}  // namespace tesela
