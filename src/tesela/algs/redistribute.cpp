#include "tesela/algs/redistribute.hpp"

#include "tesela/algs/internal/compressed_redistribution.hpp"
#include "tesela/base/error.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

namespace tesela {
namespace {

ElementIndex swapped(ElementIndex at) { return {at.j, at.i}; }

/// A submatrix of a view, as it stands in the view's matrix.
struct Place {
    ElementIndex first;
    Trapezoid region;
};

template <class T>
Place place(const MatrixView<T>& view, ElementIndex offset, ElementIndex size) {
    const ElementIndex first{view.row_begin(0) + offset.i, view.col_begin(0) + offset.j};
    // A triangle is that of the matrix: i - j >= 0 there is i - j >= first.j - first.i here.
    const Trapezoid region{size.i, size.j, view.part(), first.j - first.i};
    if (view.op() == Op::none) return {first, region};
    return {swapped(first), region.transposed()};
}

template <class T>
ElementIndex size_of(const MatrixView<T>& view) {
    ElementIndex size;
    for (Index i = 0; i < view.tile_rows(); ++i) size.i += view.rows(i);
    for (Index j = 0; j < view.tile_cols(); ++j) size.j += view.cols(j);
    return size;
}

template <class T>
void check_inside(const MatrixView<T>& view, ElementIndex offset, ElementIndex size) {
    const ElementIndex has = size_of(view);
    if (size.i >= 0 && size.j >= 0 && offset.i >= 0 && offset.j >= 0 && offset.i <= has.i - size.i &&
        offset.j <= has.j - size.j)
        return;
    throw Error("a submatrix of {} x {} elements at ({}, {}) is not inside {}, which has {} x {}", size.i, size.j,
                offset.i, offset.j, view.matrix().name(), has.i, has.j);
}

/// The part that both sides mean: a triangle on one side is enough.
Trapezoid common(const Trapezoid& from, const Trapezoid& to) {
    if (to.part == Part::all || from == to) return from;
    if (from.part == Part::all) return to;
    throw Error("the triangle of the source is not that of the target: redistribute one view as a whole");
}

void check_messages(const RedistributeOptions& options) {
    if (options.message_bytes < 1) throw Error("message_bytes is {}; it must be at least 1", options.message_bytes);
    if (options.batch < 0)
        throw Error("batch is {}; it must be at least 0, which means all messages at once", options.batch);
    if (options.whole_tile_bytes < 0)
        throw Error("whole_tile_bytes is {}; it must be at least 0, which means that all whole tiles travel alone",
                    options.whole_tile_bytes);
}

/// Tiles that get other owners, in the order in which they are added as far as there is room: no node ever has more
/// than the larger of what it has before and after, and one tile. There is always one that may go: if every node that
/// still gets tiles had more than in the end, these nodes would have more to give each other than they get.
class OrderedMoves {
public:
    explicit OrderedMoves(std::size_t nodes) : nodes_(nodes) {}

    void add(const TileRef& tile, NodeId to) {
        const std::size_t bytes = tile.matrix->bytes(tile.index);
        node(tile.owner()).now += bytes;
        node(tile.owner()).before += bytes;
        node(to).after += bytes;
        largest_ = std::max(largest_, bytes);
        if (tile.owner() == to) return;
        node(to).coming.push_back(moves_.size());
        moves_.push_back({tile, to, bytes});
    }

    template <class Function>
    void for_each(const Function& move) {
        for (Node& node : nodes_) look_at(node);
        while (!may_go_.empty()) {
            const Move& next = moves_[*may_go_.begin()];
            may_go_.erase(may_go_.begin());
            Node& from = node(next.tile.owner());
            Node& to = node(next.to);
            move(next.tile, next.to);
            from.now -= next.bytes;
            to.now += next.bytes;
            ++to.come;
            look_at(from);
            look_at(to);
        }
    }

private:
    struct Move {
        TileRef tile;
        NodeId to;
        std::size_t bytes = 0;
    };
    struct Node {
        std::size_t now = 0, before = 0, after = 0;  // bytes
        std::vector<std::size_t> coming;             // moves
        std::size_t come = 0;
    };
    [[nodiscard]] Node& node(NodeId id) { return nodes_[static_cast<std::size_t>(id.number())]; }
    void look_at(const Node& node) {
        if (node.come == node.coming.size()) return;
        const std::size_t next = node.coming[node.come];
        if (node.now + moves_[next].bytes <= std::max(node.before, node.after) + largest_) may_go_.insert(next);
    }

    std::vector<Node> nodes_;
    std::vector<Move> moves_;
    std::set<std::size_t> may_go_;
    std::size_t largest_ = 0;
};

}  // namespace

template <class T>
Overlay redistribution_overlay(const MatrixView<T>& from, const MatrixView<T>& to, const RedistributeOptions& options) {
    const ElementIndex has = size_of(from);
    const ElementIndex size{options.size.i < 0 ? has.i - options.from_offset.i : options.size.i,
                            options.size.j < 0 ? has.j - options.from_offset.j : options.size.j};
    check_inside(from, options.from_offset, size);
    check_inside(to, options.to_offset, size);
    Place source = place(from, options.from_offset, size);
    const Place target = place(to, options.to_offset, size);
    const Orientation orientation = from.op() == to.op() ? Orientation::same : Orientation::transposed;
    const Trapezoid wanted = orientation == Orientation::same ? target.region : target.region.transposed();
    source.region = common(source.region, wanted);
    return Overlay({.from = from.matrix().tiling(),
                    .to = to.matrix().tiling(),
                    .from_offset = source.first,
                    .to_offset = target.first,
                    .size = {source.region.rows, source.region.cols},
                    .part = source.region.part,
                    .diagonal = source.region.diagonal,
                    .orientation = orientation});
}

template <class T>
void redistribute(Stream& stream, const MatrixView<T>& from, const MatrixView<T>& to,
                  const RedistributeOptions& options) {
    check_messages(options);
    const auto phase = stream.phase("redistribution");
    const Exchange exchange{.from = &from.matrix(),
                            .to = &to.matrix(),
                            .overlay = std::make_shared<const Overlay>(redistribution_overlay(from, to, options)),
                            .options = {.message_bytes = options.message_bytes,
                                        .whole_tile_bytes = options.whole_tile_bytes,
                                        .in_flight = options.batch,
                                        .priority = options.priority}};
    if (!exchange.from->compression() && !exchange.to->compression()) return stream.exchange(exchange);
    check_exchange(exchange);
    CompressedRedistribution<T>(stream, exchange, {options.batch, options.priority}).submit();
}

template <class T>
void redistribute(Stream& stream, const MatrixView<T>& matrix, const Distribution& to) {
    const GridSize grid = to.grid();
    if (grid != GridSize{matrix.tile_rows(), matrix.tile_cols()})
        throw Error("matrix {} has {} x {} tiles, but the new distribution is for {} x {}", matrix.matrix().name(),
                    matrix.tile_rows(), matrix.tile_cols(), grid.rows, grid.cols);
    if (to.nodes() > stream.engine().node_count())
        throw Error("the new distribution of matrix {} has {} nodes; this run has {}", matrix.matrix().name(),
                    to.nodes(), stream.engine().node_count());
    const auto phase = stream.phase("redistribution");
    // Column by column, which is the order in which a factorisation needs them.
    OrderedMoves moves(static_cast<std::size_t>(stream.engine().node_count()));
    for (Index j = 0; j < grid.cols; ++j)
        for (Index i = 0; i < grid.rows; ++i)
            if (matrix.matrix().has(matrix(i, j).index)) moves.add(matrix(i, j), to.owner({i, j}));
    moves.for_each([&](const TileRef& tile, NodeId node) { stream.move(tile, node); });
}

template void redistribute(Stream&, const MatrixView<float>&, const MatrixView<float>&, const RedistributeOptions&);
template void redistribute(Stream&, const MatrixView<double>&, const MatrixView<double>&, const RedistributeOptions&);
template void redistribute(Stream&, const MatrixView<float>&, const Distribution&);
template void redistribute(Stream&, const MatrixView<double>&, const Distribution&);
template Overlay redistribution_overlay(const MatrixView<float>&, const MatrixView<float>&, const RedistributeOptions&);
template Overlay redistribution_overlay(const MatrixView<double>&, const MatrixView<double>&,
                                        const RedistributeOptions&);

}  // namespace tesela
