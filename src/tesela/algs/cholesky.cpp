#include "tesela/algs/cholesky.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/kernels/segment.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace tesela {
namespace {

using tasks::step;

constexpr TriangularArguments right_lower{.side = Side::right, .triangle = Triangle::lower};
constexpr TriangularArguments left_lower{.side = Side::left, .triangle = Triangle::lower};

/// L := L⁻¹, lower triangular, column by column from the left: products with inverses of the diagonal tiles, which are
/// there at once and twice as fast as solves with these.
template <class T>
void invert_triangle(Stream& s, const MatrixView<T>& L) {
    const Index nt = L.tile_rows();
    TriangularArguments negated = right_lower;
    negated.alpha = -1;
    for (Index k = 0; k < nt; ++k) {
        s.submit(tasks::trtri(L(k, k)).at(step(k), 0));
        for (Index i = k + 1; i < nt; ++i) s.submit(tasks::trmm(negated, L(k, k), L(i, k)).at(step(k), 0));
        for (Index i = k + 1; i < nt; ++i)
            for (Index j = 0; j < k; ++j) s.submit(tasks::gemm(1, L(i, k), L(k, j), 1, L(i, j)).at(step(k), 0));
        for (Index j = 0; j < k; ++j) s.submit(tasks::trmm(left_lower, L(k, k), L(k, j)).at(step(k), 0));
        for (Index i = k; i < nt; ++i) s.retire(L(i, k));
        for (Index j = 0; j < k; ++j) s.retire(L(k, j));
    }
}

/// Lower triangle of Lᵀ·L in place of L, row by row.
template <class T>
void multiply_transposed(Stream& s, const MatrixView<T>& L) {
    const Index nt = L.tile_rows();
    const MatrixView<T> Lt = L.transposed();
    for (Index k = 0; k < nt; ++k) {
        for (Index j = 0; j < k; ++j) {
            s.submit(tasks::syrk(1, Lt(j, k), 1, L(j, j)).at(step(k), 0));
            for (Index i = j + 1; i < k; ++i) s.submit(tasks::gemm(1, Lt(i, k), L(k, j), 1, L(i, j)).at(step(k), 0));
        }
        for (Index j = 0; j < k; ++j) s.submit(tasks::trmm(left_lower, Lt(k, k), L(k, j)).at(step(k), 0));
        s.submit(tasks::lauum(L(k, k)).at(step(k), 0));
        for (Index j = 0; j <= k; ++j) s.retire(L(k, j));
    }
}

void require_not_negative(Index value, std::string_view what) {
    if (value < 0) throw Error("{} must be at least 0, which means none; it is {}", what, value);
}

/// How the tasks of a factorisation are marked: those of a matrix by their step and the rule of priorities, those
/// within a diagonal tile all as the one task that they stand for.
class Marks {
public:
    Marks(Priorities mode, Index nt) : rule_(mode, nt) {}
    /// Of diagonal tile k, whose first row is this one of the matrix.
    [[nodiscard]] Marks within(Index k, Index first_row) const {
        Marks inner = *this;
        inner.all_as_ = k;
        inner.first_row_ = first_row;
        return inner;
    }
    [[nodiscard]] Index first_row() const { return first_row_; }

    // Of a task that is being made, which they give back.
    Task& potrf(Task&& task, Index k) const { return mark(task, k, rule_.potrf(k)).critical(); }
    Task& trsm(Task&& task, Index i, Index k) const { return mark(task, k, rule_.trsm(i, k)); }
    Task& syrk(Task&& task, Index j, Index k) const { return mark(task, k, rule_.syrk(j, k)); }
    Task& gemm(Task&& task, TileIndex t, Index k) const { return mark(task, k, rule_.gemm(t, k)); }
    /// Of messages to the solves with a diagonal tile, and to the products with a tile of the panel.
    [[nodiscard]] std::int32_t to_solves(Index k) const { return rule_.trsm(k + 1, k); }
    [[nodiscard]] std::int32_t to_products(Index i, Index k) const { return rule_.gemm({i, k + 1}, k); }

private:
    Task& mark(Task& task, Index k, std::int32_t priority) const {
        if (!all_as_) return task.at(step(k), priority);
        return task.at(step(*all_as_), rule_.potrf(*all_as_)).critical();
    }
    PriorityRule rule_;
    std::optional<Index> all_as_;
    Index first_row_ = 0;
};

template <class T>
void factorise(Stream& s, const MatrixView<T>& A, const FactorOptions& options, const Marks& marks);

/// A tile that is factorised as tiles of its own, by tasks on the node that owns it: its lower triangle is copied into
/// a matrix with smaller tiles and each of them back when it is final (paper 004, section III-C: hierarchical POTRF).
template <class T>
class TileInParts {
public:
    TileInParts(Stream& s, const TileOf<T>& whole, Index rows)
        : stream_(s),
          whole_(whole),
          parts_(s, Tiling::square(whole.shape().rows, rows), on_one_node(whole, rows),
                 {.name = "diagonal", .stored = Stored::lower}) {}

    void factorise(const Marks& marks, Index k) {
        for_each_part([&](const TileOf<T>& part) { copy(whole_, part, AccessMode::write, marks, k); });
        const Index first_row = marks.first_row() + whole_.matrix->tiling().row_begin(whole_.index.i);
        tesela::factorise(stream_, parts_.view(), {}, marks.within(k, first_row));
        // Copies back write parts of one tile at the same time: see AccessMode::disjoint.
        close(marks, k);
        for_each_part([&](const TileOf<T>& part) { copy(part, whole_, AccessMode::disjoint, marks, k); });
        close(marks, k);
    }

private:
    [[nodiscard]] Distribution on_one_node(const TileOf<T>& whole, Index rows) const {
        const GridSize tiles = Tiling::square(whole.shape().rows, rows).grid();
        return {tiles, stream_.engine().node_count(),
                std::vector<std::int32_t>(static_cast<std::size_t>(tiles.count()),
                                          static_cast<std::int32_t>(whole.owner().number()))};
    }
    template <class Function>
    void for_each_part(const Function& function) const {
        for (Index j = 0; j < parts_.tile_cols(); ++j)
            for (Index i = j; i < parts_.tile_rows(); ++i) function(parts_(i, j));
    }
    /// One of the two is the whole tile, the other a part of it.
    void copy(const TileOf<T>& from, const TileOf<T>& to, AccessMode mode, const Marks& marks, Index k) {
        const TileIndex part = from.matrix == whole_.matrix ? to.index : from.index;
        const auto row = static_cast<std::int32_t>(parts_.tiling().row_begin(part.i));
        const auto col = static_cast<std::int32_t>(parts_.tiling().col_begin(part.j));
        SegmentArguments args{.element_bytes = sizeof(T),
                              .part = part.i == part.j ? Part::lower : Part::all,
                              .rows = static_cast<std::int32_t>(parts_.tiling().rows(part.i)),
                              .cols = static_cast<std::int32_t>(parts_.tiling().cols(part.j))};
        if (from.matrix == whole_.matrix) {
            args.from_i = row;
            args.from_j = col;
        } else {
            args.to_i = row;
            args.to_j = col;
        }
        stream_.submit(
            marks.potrf(Task::unchecked(SegmentKernels::copy, {{from, AccessMode::read}, {to, mode}}, args), k));
    }
    void close(const Marks& marks, Index k) {
        stream_.submit(marks.potrf(Task::unchecked(SegmentKernels::close, {{whole_, AccessMode::read_write}}), k));
    }

    Stream& stream_;
    TileOf<T> whole_;
    Matrix<T> parts_;
};

/// What says that the next diagonal tile has its update from a panel: paper 004's lookahead by a control dependency.
/// Solves of the panel further than `lookahead` from the diagonal are submitted after that update and wait for it.
template <class T>
class Lookahead {
public:
    Lookahead(Stream& s, const MatrixView<T>& A, Index k, Index lookahead) {
        if (lookahead == 0 || k + 1 + lookahead >= A.tile_rows()) return;
        first_waiting_ = k + 1 + lookahead;
        updated_.emplace(s, A(k + 1, k + 1).owner(), "updated");
    }
    /// Whether row i is the first that waits.
    [[nodiscard]] bool begins_at(Index i) const { return updated_ && i == first_waiting_; }
    [[nodiscard]] bool any() const { return updated_.has_value(); }
    Task& update(Task&& task) const { return task.also(write(updated_->ref())); }
    Task& solve(Task& task, Index i) const {
        return updated_ && i >= first_waiting_ ? task.also(read(updated_->ref())) : task;
    }
    [[nodiscard]] TileRef token() const { return updated_->ref(); }

private:
    Index first_waiting_ = 0;
    std::optional<Token> updated_;
};

template <class T>
void factorise(Stream& s, const MatrixView<T>& A, const FactorOptions& options, const Marks& marks) {
    const Index nt = A.tile_rows();
    for (Index k = 0; k < nt; ++k) {
        if (options.diagonal_tile > 0 && A.rows(k) > options.diagonal_tile)
            TileInParts<T>(s, A(k, k), options.diagonal_tile).factorise(marks, k);
        else
            s.submit(marks.potrf(tasks::potrf(A(k, k), marks.first_row()), k));
        s.share_with_owners(A(k, k), {A.block({k + 1, k}, {nt, k + 1})}, marks.to_solves(k));
        const auto update_diagonal = [&](Index j) -> Task {
            return marks.syrk(tasks::syrk(-1, A(j, k), 1, A(j, j)), j, k);
        };
        const Lookahead<T> ahead(s, A, k, options.lookahead);
        for (Index i = k + 1; i < nt; ++i) {
            if (ahead.begins_at(i)) {
                s.submit(ahead.update(update_diagonal(k + 1)));
                s.share_with_owners(ahead.token(), {A.block({i, k}, {nt, k + 1})}, marks.to_solves(k));
            }
            s.submit(ahead.solve(marks.trsm(tasks::trsm(right_lower, A.transposed()(k, k), A(i, k)), i, k), i));
            // Row i and column i of what is left are updated with it.
            s.share_with_owners(A(i, k), {A.block({i, k + 1}, {i + 1, i + 1}), A.block({i, i}, {nt, i + 1})},
                                marks.to_products(i, k));
        }
        s.retire(A(k, k));
        for (Index j = k + 1; j < nt; ++j) {
            if (j > k + 1 || !ahead.any()) s.submit(update_diagonal(j));
            for (Index i = j + 1; i < nt; ++i)
                s.submit(marks.gemm(tasks::gemm(-1, A(i, k), A.transposed()(k, j), 1, A(i, j)), {i, j}, k));
        }
        for (Index i = k + 1; i < nt; ++i) s.retire(A(i, k));
    }
}

}  // namespace

template <class T>
void cholesky(Stream& s, const MatrixView<T>& A, const FactorOptions& options) {
    require_factorable(A, "Cholesky");
    require_not_negative(options.lookahead, "the lookahead");
    require_not_negative(options.diagonal_tile, "the rows of tiles within a diagonal tile");
    const auto phase = s.phase("cholesky");
    factorise(s, A, options, Marks(options.priorities, A.tile_rows()));
}

template <class T>
void inverse(Stream& s, const MatrixView<T>& L) {
    require_factorable(L, "the inverse");
    const auto phase = s.phase("inverse");
    invert_triangle(s, L);
    multiply_transposed(s, L);
}

// Column by column; A(i, k) gets half of its product with A(k, k) before the symmetric update of what is to the right
// and half after it, so that the update is one of rank 2 (LAPACK's dsygst does the same).
template <class T>
void congruence(Stream& s, const MatrixView<T>& L, const MatrixView<T>& A) {
    require_factorable(L, "a congruence");
    require_factorable(A, "a congruence");
    require_same_rows(L, A, "a congruence");
    const auto phase = s.phase("congruence");
    const Index nt = A.tile_rows();
    const MatrixView<T> Lt = L.transposed();
    const MatrixView<T> At = A.transposed();
    for (Index k = 0; k < nt; ++k) {
        const auto add_half_product = [&](Index i) {
            s.submit(tasks::gemm(-0.5, L(i, k), A(k, k).stored(), 1, A(i, k)).at(step(k), 0));
        };
        s.submit(tasks::trsm(left_lower, L(k, k), A(k, k)).at(step(k), 0));
        s.submit(tasks::trsm(right_lower, Lt(k, k), A(k, k)).at(step(k), 0));
        for (Index i = k + 1; i < nt; ++i) {
            s.submit(tasks::trsm(right_lower, Lt(k, k), A(i, k)).at(step(k), 0));
            add_half_product(i);
        }
        for (Index j = k + 1; j < nt; ++j)
            for (Index i = j; i < nt; ++i) {
                s.submit(tasks::gemm(-1, A(i, k), Lt(k, j), 1, A(i, j)).at(step(k), 0));
                s.submit(tasks::gemm(-1, L(i, k), At(k, j), 1, A(i, j)).at(step(k), 0));
            }
        for (Index i = k + 1; i < nt; ++i) add_half_product(i);
        for (Index j = k + 1; j < nt; ++j) {
            s.submit(tasks::trsm(left_lower, L(j, j), A(j, k)).at(step(k), 0));
            for (Index i = j + 1; i < nt; ++i) s.submit(tasks::gemm(-1, L(i, j), A(j, k), 1, A(i, k)).at(step(k), 0));
        }
        for (Index i = k; i < nt; ++i) s.retire(A(i, k));
    }
    for (Index k = 0; k < nt; ++k)
        for (Index i = k; i < nt; ++i) s.retire(L(i, k));
}

template void cholesky(Stream&, const MatrixView<float>&, const FactorOptions&);
template void cholesky(Stream&, const MatrixView<double>&, const FactorOptions&);
template void inverse(Stream&, const MatrixView<float>&);
template void inverse(Stream&, const MatrixView<double>&);
template void congruence(Stream&, const MatrixView<float>&, const MatrixView<float>&);
template void congruence(Stream&, const MatrixView<double>&, const MatrixView<double>&);

}  // namespace tesela
