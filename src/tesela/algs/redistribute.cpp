#include "tesela/algs/redistribute.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/redistribution.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tesela {
namespace {

ElementIndex swapped(ElementIndex at) { return {at.j, at.i}; }

Trapezoid::Part part_of(Part part) {
    return part == Part::all     ? Trapezoid::Part::all
           : part == Part::lower ? Trapezoid::Part::lower
                                 : Trapezoid::Part::upper;
}

/// A submatrix of a view, as it stands in the view's matrix.
struct Place {
    ElementIndex first;
    Trapezoid region;
};

template <class T>
Place place(const MatrixView<T>& view, ElementIndex offset, ElementIndex size) {
    const ElementIndex first{view.row_begin(0) + offset.i, view.col_begin(0) + offset.j};
    // A triangle is that of the matrix: i - j >= 0 there is i - j >= first.j - first.i here.
    const Trapezoid region{size.i, size.j, part_of(view.part()), first.j - first.i};
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
    if (to.part == Trapezoid::Part::all || from == to) return from;
    if (from.part == Trapezoid::Part::all) return to;
    throw Error("the triangle of the source is not that of the target: redistribute one view as a whole");
}

void check_switches(const RedistributeOptions& options) {
    if (options.message_bytes < 1)
        throw Error("messages of {} bytes cannot be; give at least 1", options.message_bytes);
    if (options.batch < 0) throw Error("a batch of {} messages cannot be; 0 means all at once", options.batch);
    if (options.path == RedistributionPath::tasks || (options.isolate_segments && options.dynamic_volume)) return;
    throw Error("segments can only be left together, or whole tiles sent, where a redistribution is made of tasks");
}

/// The redistribution as tasks, 002 figure 4: pack where the source is, unpack where the target is.
template <class T>
class SegmentTasks {
public:
    SegmentTasks(Stream& stream, const Exchange& exchange, const RedistributeOptions& options)
        : stream_(stream),
          exchange_(exchange),
          options_(options) {}

    void submit() {
        const Owners owners{exchange_.from->distribution(), exchange_.to->distribution()};
        const Parcels parcels =
            make_parcels(*exchange_.overlay, owners, dense_bytes(sizeof(T)), {.bytes = options_.message_bytes});
        for (const Parcel& parcel : parcels.parcels)
            for (const Segment& segment : parcel.segments) ++left_[segment.to];
        for (const Parcel& parcel : parcels.parcels) {
            if (parcel.from == parcel.to || !options_.dynamic_volume)
                for (const Segment& segment : parcel.segments) copy(segment);
            else
                ship(parcel);
        }
    }

private:
    using Piece = Attached;

    Piece attach(const char* name, NodeId owner, Index elements, ElementType type) {
        return stream_.attach({.name = name,
                               .tiling = Tiling::uniform({elements, 1}, {elements, 1}),
                               .distribution = Distribution({1, 1}, stream_.engine().node_count(),
                                                            {static_cast<std::int32_t>(owner.number())}),
                               .type = type});
    }
    void put(const Kernel& kernel, std::initializer_list<Access> accesses, const SegmentArguments& args = {}) {
        stream_.submit(Task(kernel, accesses, args).at(0, options_.priority));
    }
    [[nodiscard]] SegmentArguments arguments(const Segment& segment) const {
        return segment_arguments(segment, exchange_.overlay->problem().orientation, sizeof(T));
    }
    void open(const TileRef& whole) { put(SegmentKernels::open, {{whole, AccessMode::write}}); }
    void close(const TileRef& whole) { put(SegmentKernels::close, {{whole, AccessMode::read_write}}); }

    /// Makes the target ready for its first segment and says how segments access it.
    Access begin_target(const Segment& segment) {
        const TileRef target{exchange_.to, segment.to};
        const bool first = begun_.try_emplace(segment.to, true).second;
        if (first && !target.matrix->written(target.index)) {
            if (exchange_.overlay->covers(segment.to))
                open(target);
            else
                stream_.submit(
                    Task(Dense<T>::laset, {{target, AccessMode::write}}, LasetArguments{}).at(0, options_.priority));
        } else if (first && options_.isolate_segments) {
            close(target);  // what was there before must have ended
        }
        return {target, options_.isolate_segments ? AccessMode::disjoint : AccessMode::read_write};
    }
    void end_target(const Segment& segment) {
        if (--left_[segment.to] == 0 && options_.isolate_segments) close({exchange_.to, segment.to});
    }

    void copy(const Segment& segment) {
        const TileRef source{exchange_.from, segment.from};
        const Access target = begin_target(segment);
        put(SegmentKernels::copy, {{source, AccessMode::read}, target}, arguments(segment));
        end_target(segment);
        if (!options_.dynamic_volume) stream_.retire(source);
    }

    void ship(const Parcel& parcel) {
        const Piece buffer =
            attach("parcel", parcel.from, parcel.bytes / static_cast<Index>(sizeof(T)), element_type<T>);
        const TileRef packed{buffer.get(), {0, 0}};
        pack(parcel, packed);
        unpack(parcel, packed);
        stream_.retire(packed);
    }

    void pack(const Parcel& parcel, const TileRef& packed) {
        open(packed);
        Index at = 0;
        const TileRef arrived = acknowledged(parcel);
        for (const Segment& segment : parcel.segments) {
            SegmentArguments args = arguments(segment);
            args.packed_at = std::exchange(at, at + segment.shape.count());
            const Access source{{exchange_.from, segment.from}, AccessMode::read};
            if (arrived.matrix == nullptr)
                put(SegmentKernels::pack, {source, {packed, AccessMode::disjoint}}, args);
            else
                put(SegmentKernels::pack, {source, {packed, AccessMode::disjoint}, {arrived, AccessMode::read}}, args);
        }
        close(packed);
    }

    void unpack(const Parcel& parcel, const TileRef& packed) {
        Piece& token = acknowledgements_[{parcel.from.number(), parcel.to.number()}].emplace_back();
        if (options_.batch > 0) {
            token = attach("arrived", parcel.to, 1, ElementType::none);
            open({token.get(), {0, 0}});
        }
        Index at = 0;
        for (const Segment& segment : parcel.segments) {
            SegmentArguments args = arguments(segment);
            args.packed_at = std::exchange(at, at + segment.shape.count());
            const Access target = begin_target(segment);
            if (token)
                put(SegmentKernels::unpack,
                    {{packed, AccessMode::read}, target, {{token.get(), {0, 0}}, AccessMode::disjoint}}, args);
            else
                put(SegmentKernels::unpack, {{packed, AccessMode::read}, target}, args);
            end_target(segment);
        }
        if (token) close({token.get(), {0, 0}});
    }

    /// What must have arrived before a parcel is packed: the one that is `batch` before it between the same nodes.
    TileRef acknowledged(const Parcel& parcel) {
        if (options_.batch <= 0 || parcel.sequence < options_.batch) return {};
        auto& tokens = acknowledgements_[{parcel.from.number(), parcel.to.number()}];
        const auto before = static_cast<std::size_t>(parcel.sequence - options_.batch);
        if (before > 0) tokens[before - 1].reset();
        return {tokens[before].get(), {0, 0}};
    }

    Stream& stream_;
    const Exchange& exchange_;
    const RedistributeOptions& options_;
    std::map<TileIndex, Index> left_;
    std::map<TileIndex, bool> begun_;
    std::map<std::pair<Index, Index>, std::vector<Piece>> acknowledgements_;
};

/// Moves of tiles, put off while the node they go to has more than it will have in the end and had at the beginning,
/// and an eighth: so that tiles leave it first, and it never needs much more memory than for its share.
class MovesInRoom {
public:
    explicit MovesInRoom(Index nodes) : nodes_(static_cast<std::size_t>(nodes)) {}

    void add(TileRef tile, NodeId to) {
        const auto bytes = static_cast<double>(tile.matrix->bytes(tile.index));
        const auto from = static_cast<std::size_t>(tile.owner().number());
        if (from >= nodes_.size()) nodes_.resize(from + 1);
        nodes_[from].holds += bytes;
        node(to).will_hold += bytes;
        if (tile.owner() != to) moves_.push_back({tile, to, bytes});
    }

    void submit(Stream& stream) {
        for (Node& node : nodes_) node.room = std::max(node.holds, node.will_hold) * 9 / 8;
        for (const Move& move : moves_) {
            if (node(move.to).holds + move.bytes > node(move.to).room)
                node(move.to).waiting.push_back(move);
            else
                make(stream, move);
        }
        // What is left would not fit in any order: nodes that wait for each other in a circle.
        for (std::size_t n = 0; n < nodes_.size(); ++n)
            while (!nodes_[n].waiting.empty()) make(stream, take_first(nodes_[n]));
    }

private:
    struct Move {
        TileRef tile;
        NodeId to;
        double bytes = 0;
    };
    struct Node {
        double holds = 0;
        double will_hold = 0;
        double room = 0;
        std::deque<Move> waiting{};
    };
    Node& node(NodeId id) { return nodes_[static_cast<std::size_t>(id.number())]; }
    static Move take_first(Node& node) {
        const Move move = node.waiting.front();
        node.waiting.pop_front();
        return move;
    }
    /// Makes a move, and those that wait for the room it leaves.
    void make(Stream& stream, Move move) {
        while (true) {
            Node& left = node(move.tile.owner());
            left.holds -= move.bytes;
            node(move.to).holds += move.bytes;
            stream.move(move.tile, move.to);
            if (left.waiting.empty() || left.holds + left.waiting.front().bytes > left.room) return;
            move = take_first(left);
        }
    }

    std::vector<Node> nodes_;
    std::vector<Move> moves_;
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
    check_switches(options);
    const auto phase = stream.phase("redistribution");
    const Exchange exchange{.from = &from.matrix(),
                            .to = &to.matrix(),
                            .overlay = std::make_shared<const Overlay>(redistribution_overlay(from, to, options)),
                            .options = {.message_bytes = options.message_bytes,
                                        .in_flight = options.batch,
                                        .sending = options.multiple_send ? Sending::by_workers : Sending::by_one_thread,
                                        .priority = options.priority}};
    if (options.path == RedistributionPath::exchange) {
        stream.exchange(exchange);
        return;
    }
    check_exchange(exchange);
    SegmentTasks<T>(stream, exchange, options).submit();
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
    MovesInRoom moves(to.nodes());
    // Column by column, which is the order in which a factorisation needs them.
    for (Index j = 0; j < grid.cols; ++j)
        for (Index i = 0; i < grid.rows; ++i)
            if (matrix.matrix().has(matrix(i, j).index)) moves.add(matrix(i, j), to.owner({i, j}));
    moves.submit(stream);
}

template void redistribute(Stream&, const MatrixView<float>&, const MatrixView<float>&, const RedistributeOptions&);
template void redistribute(Stream&, const MatrixView<double>&, const MatrixView<double>&, const RedistributeOptions&);
template void redistribute(Stream&, const MatrixView<float>&, const Distribution&);
template void redistribute(Stream&, const MatrixView<double>&, const Distribution&);
template Overlay redistribution_overlay(const MatrixView<float>&, const MatrixView<float>&, const RedistributeOptions&);
template Overlay redistribution_overlay(const MatrixView<double>&, const MatrixView<double>&,
                                        const RedistributeOptions&);

}  // namespace tesela
