#include "tesela/algs/qr.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/kernels/segment.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace tesela {
namespace {

using tasks::step;

template <class T>
Index panels_of(const MatrixView<T>& A) {
    return std::min(A.tile_rows(), A.tile_cols());
}
/// Rows of R in tile row k, which are columns of Q.
template <class T>
Index order_of(const MatrixView<T>& A, Index k) {
    return std::min(A.rows(k), A.cols(k));
}

template <class T>
void require_panels(const MatrixView<T>& A) {
    require_whole(A, "QR");
    if (A.op() != Op::none) throw Error("QR takes a matrix as it is, not a transposed view of {}", A.matrix().name());
    for (Index k = 0; k < panels_of(A); ++k) {
        const bool more_rows = k + 1 < A.tile_rows();
        const bool more_cols = k + 1 < A.tile_cols();
        if ((more_rows && A.rows(k) < A.cols(k)) || (more_cols && A.rows(k) > A.cols(k)))
            throw Error("QR needs square tiles on the diagonal but for the last; tile ({}, {}) of {} is {}x{}", k, k,
                        A.matrix().name(), A.rows(k), A.cols(k));
    }
}

/// Where pieces of these sizes begin and end.
template <class Size>
std::vector<Index> cuts(Index count, const Size& size) {
    std::vector<Index> result{0};
    for (Index k = 0; k < count; ++k) result.push_back(result.back() + size(k));
    return result;
}

/// The tiles of a panel's columns, with `rows` rows of tiles of `height` each.
template <class T>
Tiling beside_panels(const MatrixView<T>& A, Index rows, Index height) {
    return Tiling::from_cuts(cuts(rows, [&](Index) { return height; }),
                             cuts(panels_of(A), [&](Index k) { return A.cols(k); }));
}

template <class T>
Index widest_panel(const MatrixView<T>& A) {
    Index widest = 1;
    for (Index k = 0; k < panels_of(A); ++k) widest = std::max(widest, A.cols(k));
    return widest;
}

Index most_domains(const std::vector<ReductionTree>& trees) {
    std::size_t most = 1;
    for (const ReductionTree& tree : trees) most = std::max(most, tree.domains.size());
    return static_cast<Index>(most);
}

/// Tiles among those with positions from k to `count` that the owner of the diagonal has.
template <class OwnerAt>
Index owned_with_first(Index k, Index count, const OwnerAt& owner_at) {
    Index owned = 0;
    for (Index i = k; i < count; ++i) owned += owner_at(i) == owner_at(k) ? 1 : 0;
    return owned;
}

/// How many domains a node needs so that its workers have something to do in panel k: each updates the node's columns
/// that are left, tile after tile, so that many columns are enough. More domains are more work.
template <class T>
Index domains_per_node(const Engine& engine, const MatrixView<T>& A, Index k) {
    constexpr Index tasks_per_worker = 2;
    const Index workers = std::max<Index>(1, engine.total_workers() / engine.node_count());
    if (workers == 1) return 1;
    const Index rows = owned_with_first(k, A.tile_rows(), [&](Index i) { return A(i, k).owner(); });
    const Index columns = owned_with_first(k, A.tile_cols(), [&](Index j) { return A(k, j).owner(); });
    return std::min(rows, ceil_div(tasks_per_worker * workers, columns));
}

template <class T>
ReductionTree tree_of_panel(const Engine& engine, const MatrixView<T>& A, Index k, const QrOptions& options) {
    std::vector<PanelTile> tiles;
    for (Index i = k; i < A.tile_rows(); ++i)
        tiles.push_back({.row = i,
                         .owner = A(i, k).owner(),
                         .height = A.rows(i) < A.cols(k) ? PanelTile::Height::less : PanelTile::Height::full});
    return reduction_tree(
        tiles,
        {.reduction = options.reduction, .domain = options.domain, .domains_per_node = domains_per_node(engine, A, k)});
}

/// Owners of something per domain and panel, that of domain d of panel k being owner_of(tree, d, k); what a panel does
/// not have is nobody's concern, and never written.
template <class OwnerOf>
Distribution by_domain(Index nodes, const std::vector<ReductionTree>& trees, Index first, const OwnerOf& owner_of) {
    const GridSize grid{most_domains(trees) - first, static_cast<Index>(trees.size())};
    return tabulate(grid, nodes, [&](Index d, Index k) {
        const ReductionTree& tree = trees[static_cast<std::size_t>(k)];
        const bool there = d + first < static_cast<Index>(tree.domains.size());
        return owner_of(tree, there ? d + first : 0, k).number();
    });
}

/// The domain that a domain's triangle goes into.
Index merged_into(const ReductionTree& tree, Index from) {
    const auto merge = std::ranges::find(tree.merges, from, &ReductionTree::Merge::from);
    return merge == tree.merges.end() ? from : merge->into;
}

template <class T>
QrFactors<T> make_factors(Stream& s, const MatrixView<T>& A, const QrOptions& options) {
    std::vector<ReductionTree> trees;
    for (Index k = 0; k < panels_of(A); ++k) trees.push_back(tree_of_panel(s.engine(), A, k, options));
    const Index nodes = s.engine().node_count();
    const Index width = widest_panel(A);
    const Index height = reflectors_at_once(width);
    const Index merges = most_domains(trees) - 1;
    const Distribution beside =
        tabulate({A.tile_rows(), panels_of(A)}, nodes, [&](Index i, Index k) { return A(i, k).owner().number(); });
    const Distribution at_merges = by_domain(nodes, trees, 1, [&](const ReductionTree& tree, Index d, Index k) {
        return A(tree.head(merged_into(tree, d)), k).owner();
    });
    const std::string name = A.matrix().name();
    return {.A = A,
            .trees = std::move(trees),
            .block_triangles = Matrix<T>(s, beside_panels(A, A.tile_rows(), height), beside, {.name = name + ".T"}),
            .merge_vectors = Matrix<T>(s, beside_panels(A, merges, width), at_merges, {.name = name + ".merge"}),
            .merge_triangles = Matrix<T>(s, beside_panels(A, merges, height), at_merges, {.name = name + ".merge_T"}),
            .options = options};
}

/// A part of a tile that becomes a part of another, both from their first row and column on.
template <class T>
Task copy_part(const TileOf<T>& from, const TileOf<T>& to, const Trapezoid& shape, AccessMode mode) {
    const SegmentArguments args{.element_bytes = sizeof(T),
                                .part = shape.part,
                                .rows = static_cast<std::int32_t>(shape.rows),
                                .cols = static_cast<std::int32_t>(shape.cols)};
    return Task::unchecked(SegmentKernels::copy, {{from, AccessMode::read}, {to, mode}}, args);
}

/// Columns [first, last) of tiles of C, and how Q is applied to them.
struct Application {
    Op op = Op::transpose;
    Index first = 0, last = 0;
    /// Of the column, if any, of which only an upper triangle on top of zeros is there.
    std::optional<Index> triangle{};

    [[nodiscard]] QArguments arguments(Index j) const {
        return {.op = op, .columns = j == triangle ? QColumns::from_diagonal : QColumns::all};
    }
};

/// Applies the reflectors of one panel.
template <class T>
class PanelReflectors {
public:
    PanelReflectors(Stream& s, const QrFactors<T>& factors, Index k)
        : stream_(s),
          f_(factors),
          tree_(factors.trees[static_cast<std::size_t>(k)]),
          k_(k) {}

    /// C := op(Q)·C, where `priority(j, depth)` is that of the tasks of column j.
    template <class Priority>
    void apply(const MatrixView<T>& C, const Application& how, const Priority& priority) {
        if (how.first >= how.last) return;
        share(C, how, priority(how.first, 0));
        const Matrix<T> tops = make_tops(C, how);
        for (Index j = how.first; j < how.last; ++j) {
            const auto at = [&](Task&& task, Index depth) -> Task& { return task.at(step(k_), priority(j, depth)); };
            if (how.op == Op::transpose) {
                apply_domains(C, how, j, at);
                apply_merges(C, tops, how, j, at);
            } else {
                apply_merges(C, tops, how, j, at);
                apply_domains(C, how, j, at);
            }
        }
        retire();
    }

private:
    using Merge = ReductionTree::Merge;

    /// Whether heads have rows beneath the triangle: then these do not travel when two are merged.
    [[nodiscard]] bool has_tops(const MatrixView<T>& C) const {
        if (tree_.merges.empty()) return false;
        return std::ranges::any_of(tree_.domains,
                                   [&](const auto& rows) { return C.rows(rows.front()) > f_.A.cols(k_); });
    }
    Matrix<T> make_tops(const MatrixView<T>& C, const Application& how) {
        const Index rows = has_tops(C) ? static_cast<Index>(tree_.domains.size()) : 0;
        const Tiling tiling =
            Tiling::from_cuts(cuts(rows, [&](Index) { return f_.A.cols(k_); }),
                              cuts(how.last - how.first, [&](Index j) { return C.cols(how.first + j); }));
        return Matrix<T>(stream_, tiling,
                         tabulate(tiling.grid(), stream_.engine().node_count(),
                                  [&](Index d, Index j) { return C(tree_.head(d), how.first + j).owner().number(); }),
                         {.name = C.matrix().name() + ".top"});
    }

    template <class At>
    void apply_domains(const MatrixView<T>& C, const Application& how, Index j, const At& at) {
        const QArguments args = how.arguments(j);
        for (const auto& rows : tree_.domains) {
            const Index head = rows.front();
            const auto apply_head = [&] {
                stream_.submit(at(tasks::gemqrt(args, f_.A(head, k_), f_.block_triangles(head, k_), C(head, j)), 0));
            };
            const std::size_t count = rows.size();
            if (how.op == Op::transpose) apply_head();
            for (std::size_t p = 1; p < count; ++p) {
                const Index i = rows[how.op == Op::transpose ? p : count - p];
                stream_.submit(at(tasks::tsmqr<T>(args, {f_.A(i, k_), f_.block_triangles(i, k_)}, C(head, j), C(i, j)),
                                  static_cast<Index>(p)));
            }
            if (how.op == Op::none) apply_head();
        }
    }

    template <class At>
    void apply_merges(const MatrixView<T>& C, const MatrixView<T>& tops, const Application& how, Index j,
                      const At& at) {
        const Index after = how.op == Op::transpose ? tree_.longest_domain() : 0;
        const auto top = [&](Index d) { return tops.tile_rows() > 0 ? tops(d, j - how.first) : C(tree_.head(d), j); };
        const auto for_each_top = [&](const auto& function) {
            if (tops.tile_rows() == 0) return;
            for (Index d = 0; d < tops.tile_rows(); ++d) function(C(tree_.head(d), j), top(d));
        };
        const Trapezoid shape{.rows = f_.A.cols(k_), .cols = C.cols(j)};
        for_each_top([&](const TileOf<T>& c, const TileOf<T>& t) {
            stream_.submit(at(copy_part(c, t, shape, AccessMode::write), after));
        });
        const auto merge = [&](const Merge& m) {
            stream_.submit(at(tasks::ttmqr<T>(how.arguments(j),
                                              {f_.merge_vectors(m.from - 1, k_), f_.merge_triangles(m.from - 1, k_)},
                                              top(m.into), top(m.from)),
                              after + (how.op == Op::transpose ? m.level : 0)));
        };
        if (how.op == Op::transpose)
            std::ranges::for_each(tree_.merges, merge);
        else
            std::for_each(tree_.merges.rbegin(), tree_.merges.rend(), merge);
        for_each_top([&](const TileOf<T>& c, const TileOf<T>& t) {
            stream_.submit(at(copy_part(t, c, shape, AccessMode::read_write), after));
        });
    }

    /// Where tiles of C are updated with them.
    void share(const MatrixView<T>& C, const Application& how, std::int32_t priority) {
        const auto with_row = [&](Index i, const TileOf<T>& v, const TileOf<T>& t) {
            const TileBlock row = C.block({i, how.first}, {i + 1, how.last});
            stream_.share_with_owners(v, {row}, priority);
            stream_.share_with_owners(t, {row}, priority);
        };
        for (const auto& rows : tree_.domains)
            for (const Index i : rows) with_row(i, f_.A(i, k_), f_.block_triangles(i, k_));
        for (const Merge& m : tree_.merges)
            with_row(tree_.head(m.into), f_.merge_vectors(m.from - 1, k_), f_.merge_triangles(m.from - 1, k_));
    }
    void retire() {
        for (const auto& rows : tree_.domains)
            for (const Index i : rows) {
                stream_.retire(f_.A(i, k_));
                stream_.retire(f_.block_triangles(i, k_));
            }
        for (const Merge& m : tree_.merges) {
            stream_.retire(f_.merge_vectors(m.from - 1, k_));
            stream_.retire(f_.merge_triangles(m.from - 1, k_));
        }
    }

    Stream& stream_;
    const QrFactors<T>& f_;
    const ReductionTree& tree_;
    Index k_;
};

/// Makes one panel triangular: blocks of its own for the triangle of each domain, so that what only needs the vectors
/// does not wait for those that still change the triangle, nor the other way round.
template <class T>
void factor_panel(Stream& s, const QrFactors<T>& f, const MatrixView<T>& triangles, Index k) {
    const QrPriorities priority(f.options.priorities, f.panels());
    const ReductionTree& tree = f.trees[static_cast<std::size_t>(k)];
    const auto submit = [&](Task&& task, Index depth) {
        s.submit(task.at(step(k), priority.panel(k, depth)).critical());
    };
    for (Index d = 0; d < static_cast<Index>(tree.domains.size()); ++d) {
        const auto& rows = tree.domains[static_cast<std::size_t>(d)];
        submit(tasks::geqrt(f.A(rows.front(), k), triangles(d, k), f.block_triangles(rows.front(), k)), 0);
        for (std::size_t p = 1; p < rows.size(); ++p)
            submit(tasks::tsqrt(triangles(d, k), f.A(rows[p], k), f.block_triangles(rows[p], k)),
                   static_cast<Index>(p));
    }
    for (const auto& merge : tree.merges) {
        submit(tasks::ttqrt(triangles(merge.from, k), triangles(merge.into, k), f.merge_vectors(merge.from - 1, k),
                            f.merge_triangles(merge.from - 1, k)),
               tree.longest_domain() + merge.level);
        s.retire(triangles(merge.from, k));
    }
}

/// Throws Error unless rows or columns are cut as the diagonal of A is.
template <class T, class Size>
void require_cut_as_diagonal(const MatrixView<T>& A, Index count, const Size& size, std::string_view what) {
    bool fits = count <= panels_of(A);
    for (Index k = 0; fits && k < count; ++k) fits = size(k) == order_of(A, k);
    if (!fits) throw Error("{} are not cut into tiles as the diagonal of {} is", what, A.matrix().name());
}

}  // namespace

template <class T>
QrFactors<T> qr(Stream& s, const MatrixView<T>& A, const QrOptions& options) {
    require_panels(A);
    const auto phase = s.phase("qr");
    QrFactors<T> f = make_factors(s, A, options);
    const QrPriorities priority(options.priorities, f.panels());
    const Matrix<T> triangles(
        s, beside_panels(A, most_domains(f.trees), widest_panel(A)),
        by_domain(s.engine().node_count(), f.trees, 0,
                  [&](const ReductionTree& tree, Index d, Index k) { return A(tree.head(d), k).owner(); }),
        {.name = A.matrix().name() + ".triangles"});
    for (Index k = 0; k < f.panels(); ++k) {
        factor_panel(s, f, triangles, k);
        PanelReflectors<T>(s, f, k).apply(A, {.op = Op::transpose, .first = k + 1, .last = A.tile_cols()},
                                          [&](Index j, Index depth) { return priority.update(k, j, depth); });
        const Trapezoid upper{.rows = order_of(A, k), .cols = A.cols(k), .part = Part::upper};
        s.submit(copy_part(triangles(0, k), A(k, k), upper, AccessMode::read_write).at(step(k), 0));
    }
    return f;
}

template <class T>
void multiply_q(Stream& s, const QrFactors<T>& f, Op op, const MatrixView<T>& C) {
    require_whole(C, "a product with Q");
    if (C.op() != Op::none) throw Error("a product with Q takes {} as it is, not transposed", C.matrix().name());
    require_same_rows(f.A, C, "a product with Q");
    const auto phase = s.phase("multiply_q");
    const QrPriorities priority(f.options.priorities, f.panels());
    for (Index p = 0; p < f.panels(); ++p)
        PanelReflectors<T>(s, f, op == Op::transpose ? p : f.panels() - 1 - p)
            .apply(C, {.op = op, .first = 0, .last = C.tile_cols()},
                   [&](Index, Index depth) { return priority.panel(p, depth); });
}

template <class T>
void form_q(Stream& s, const QrFactors<T>& f, const MatrixView<T>& Q) {
    require_whole(Q, "Q");
    if (Q.op() != Op::none) throw Error("Q goes into {} as it is, not transposed", Q.matrix().name());
    require_same_rows(f.A, Q, "Q");
    require_cut_as_diagonal(
        f.A, Q.tile_cols(), [&](Index j) { return Q.cols(j); }, "the columns of Q");
    const auto phase = s.phase("form_q");
    const QrPriorities priority(f.options.priorities, f.panels());
    fill(s, Q, {.off_diagonal = 0, .diagonal = 1});
    // Columns before k are those of the identity still, and their rows are above what panel k changes.
    for (Index k = Q.tile_cols() - 1; k >= 0; --k)
        PanelReflectors<T>(s, f, k).apply(
            Q, {.op = Op::none, .first = k, .last = Q.tile_cols(), .triangle = k},
            [&](Index, Index depth) { return priority.panel(f.panels() - 1 - k, depth); });
}

template <class T>
void copy_r(Stream& s, const QrFactors<T>& f, const MatrixView<T>& R) {
    require_whole(R, "R");
    if (R.op() != Op::none) throw Error("R goes into {} as it is, not transposed", R.matrix().name());
    require_same_rows(f.A.transposed(), R.transposed(), "R");
    require_cut_as_diagonal(
        f.A, R.tile_rows(), [&](Index k) { return R.rows(k); }, "the rows of R");
    const auto phase = s.phase("copy_r");
    for (Index k = 0; k < R.tile_rows(); ++k)
        for (Index j = 0; j < R.tile_cols(); ++j) {
            if (j <= k) s.submit(tasks::laset(LasetArguments{}, R(k, j)));
            if (j < k) continue;
            const Trapezoid shape{.rows = R.rows(k), .cols = R.cols(j), .part = j == k ? Part::upper : Part::all};
            s.submit(copy_part(f.A(k, j), R(k, j), shape, j == k ? AccessMode::read_write : AccessMode::write));
            s.retire(f.A(k, j));
        }
}

template <class T>
Tiling tiling_of_r(const MatrixView<T>& A) {
    return Tiling::from_cuts(cuts(panels_of(A), [&](Index k) { return order_of(A, k); }),
                             cuts(A.tile_cols(), [&](Index j) { return A.cols(j); }));
}

template <class T>
Matrix<T> orthonormalise(Stream& s, const MatrixView<T>& Y, const QrOptions& options) {
    require_panels(Y);
    const auto rows = cuts(Y.tile_rows(), [&](Index i) { return Y.rows(i); });
    const auto cols = cuts(Y.tile_cols(), [&](Index j) { return Y.cols(j); });
    if (rows.back() < cols.back())
        throw Error("{} has {} rows and cannot have {} orthonormal columns", Y.matrix().name(), rows.back(),
                    cols.back());
    const auto owner = [&](Index i, Index j) { return Y(i, j).owner().number(); };
    const Index nodes = s.engine().node_count();
    const Matrix<T> A(s, Tiling::from_cuts(rows, cols), tabulate({Y.tile_rows(), Y.tile_cols()}, nodes, owner),
                      {.name = Y.matrix().name() + ".factors"});
    copy(s, Y, A.view());
    const QrFactors<T> factors = qr(s, A.view(), options);
    Matrix<T> R(s, tiling_of_r(Y), tabulate({Y.tile_cols(), Y.tile_cols()}, nodes, owner), {.name = "R"});
    copy_r(s, factors, R.view());
    form_q(s, factors, Y);
    return R;
}

#define TESELA_INSTANTIATE_QR(T)                                                      \
    template QrFactors<T> qr(Stream&, const MatrixView<T>&, const QrOptions&);        \
    template void multiply_q(Stream&, const QrFactors<T>&, Op, const MatrixView<T>&); \
    template void form_q(Stream&, const QrFactors<T>&, const MatrixView<T>&);         \
    template void copy_r(Stream&, const QrFactors<T>&, const MatrixView<T>&);         \
    template Tiling tiling_of_r(const MatrixView<T>&);                                \
    template Matrix<T> orthonormalise(Stream&, const MatrixView<T>&, const QrOptions&)
TESELA_INSTANTIATE_QR(float);
TESELA_INSTANTIATE_QR(double);
#undef TESELA_INSTANTIATE_QR

}  // namespace tesela
