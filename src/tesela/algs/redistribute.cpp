#include "tesela/algs/redistribute.hpp"

#include "tesela/algs/internal/compressed_redistribution.hpp"
#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
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

void check_switches(const RedistributeOptions& options) {
    if (options.message_bytes < 1) throw Error("message_bytes is {}; it must be at least 1", options.message_bytes);
    if (options.batch < 0)
        throw Error("batch is {}; it must be at least 0, which means all messages at once", options.batch);
    if (options.batch_columns < 0)
        throw Error("batch_columns is {}; it must be at least 0, which means all columns at once",
                    options.batch_columns);
    if (options.whole_tile_bytes < 0)
        throw Error("whole_tile_bytes is {}; it must be at least 0, which means that all whole tiles travel alone",
                    options.whole_tile_bytes);
    if (options.path == RedistributionPath::tasks || (options.isolate_segments && options.dynamic_volume)) return;
    throw Error(
        "isolate_segments and dynamic_volume can be turned off only where a redistribution is made of tasks "
        "(path: tasks)");
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
        const Parcels parcels = make_parcels(*exchange_.overlay, owners, dense_bytes(sizeof(T)),
                                             {.bytes = options_.message_bytes,
                                              .whole_tile_bytes = options_.message_bytes,
                                              .batch_columns = options_.batch_columns});
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
    Attached attach_buffer(NodeId owner, Index elements) {
        return stream_.attach({.name = "parcel",
                               .tiling = Tiling::uniform({elements, 1}, {elements, 1}),
                               .distribution = Distribution({1, 1}, stream_.engine().node_count(),
                                                            {static_cast<std::int32_t>(owner.number())}),
                               .type = element_type<T>});
    }
    void put(const Kernel& kernel, std::initializer_list<Access> accesses, const SegmentArguments& args = {}) {
        stream_.submit(Task::unchecked(kernel, accesses, args).at(0, options_.priority));
    }
    /// Something that can be waited for from the beginning.
    Token make_token(const char* name, NodeId owner) {
        Token token(stream_, owner, name);
        open(token.ref());
        return token;
    }
    [[nodiscard]] SegmentArguments arguments(const Segment& segment) const {
        return segment_arguments(segment, exchange_.overlay->problem().orientation, sizeof(T));
    }
    // Tiles of any element, which only an unchecked task takes.
    void open(const TileRef& whole) { whole_tile(SegmentKernels::open, {whole, AccessMode::write}); }
    void close(const TileRef& whole) { whole_tile(SegmentKernels::close, {whole, AccessMode::read_write}); }
    void whole_tile(const KernelOf<NoArguments, void>& kernel, const Access& access) {
        stream_.submit(Task::unchecked(kernel, {access}).at(0, options_.priority));
    }

    /// Makes the target ready for its first segment and says how segments access it.
    Access begin_target(const Segment& segment) {
        const TileRef target{exchange_.to, segment.to};
        const bool first = begun_.try_emplace(segment.to, true).second;
        if (first && !target.matrix->written(target.index)) {
            if (exchange_.overlay->covers(segment.to))
                open(target);
            else
                stream_.submit(Task(Dense<T>::laset, {}, write(TileOf<T>{target})).at(0, options_.priority));
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
        const Attached buffer = attach_buffer(parcel.from, parcel.bytes / static_cast<Index>(sizeof(T)));
        const TileRef packed{buffer.get(), {0, 0}};
        pack(parcel, packed);
        unpack(parcel, packed);
        stream_.retire(packed);
    }

    void pack(const Parcel& parcel, const TileRef& packed) {
        open(packed);
        Index at = 0;
        const std::array before{acknowledged(parcel), batch_before(parcel)};  // tokens, or null
        for (const Segment& segment : parcel.segments) {
            SegmentArguments args = arguments(segment);
            args.packed_at = std::exchange(at, at + segment.shape.count());
            const Access source{{exchange_.from, segment.from}, AccessMode::read};
            Task task = Task::unchecked(SegmentKernels::pack, {source, {packed, AccessMode::disjoint}}, args);
            for (const Token* token : before)
                if (token != nullptr) task.also(read(token->ref()));
            stream_.submit(task.at(0, options_.priority));
        }
        close(packed);
    }

    void unpack(const Parcel& parcel, const TileRef& packed) {
        std::optional<Token>& token = acknowledgements_[{parcel.from.number(), parcel.to.number()}].emplace_back();
        if (options_.batch > 0 || options_.batch_columns > 0) token = make_token("arrived", parcel.to);
        Index at = 0;
        for (const Segment& segment : parcel.segments) {
            SegmentArguments args = arguments(segment);
            args.packed_at = std::exchange(at, at + segment.shape.count());
            const Access target = begin_target(segment);
            if (token)
                put(SegmentKernels::unpack, {{packed, AccessMode::read}, target, {token->ref(), AccessMode::disjoint}},
                    args);
            else
                put(SegmentKernels::unpack, {{packed, AccessMode::read}, target}, args);
            end_target(segment);
        }
        if (!token) return;
        close(token->ref());
        if (options_.batch_columns > 0) note_in_batch(parcel, *token);
    }

    /// The token of a node's batch gets its value when all messages of the batch have arrived, one after the other.
    void note_in_batch(const Parcel& parcel, const Token& arrived) {
        Batch& batch = batches_[parcel.from.number()];
        if (!batch.token || batch.number != parcel.batch) {
            batch.before = std::move(batch.token);
            batch.token = make_token("batch", parcel.from);
            batch.number = parcel.batch;
        }
        put(SegmentKernels::close, {{batch.token->ref(), AccessMode::read_write}, {arrived.ref(), AccessMode::read}});
    }

    /// What says that all messages of the sender's batch before this parcel's have arrived: 002's control dependency
    /// between Finish and the next batch of Send.
    const Token* batch_before(const Parcel& parcel) {
        if (options_.batch_columns == 0) return nullptr;
        const Batch& batch = batches_[parcel.from.number()];
        const std::optional<Token>& token = batch.number == parcel.batch ? batch.before : batch.token;
        return token ? &*token : nullptr;
    }

    /// What must have arrived before a parcel is packed: the one that is `batch` before it between the same nodes.
    const Token* acknowledged(const Parcel& parcel) {
        if (options_.batch <= 0 || parcel.sequence < options_.batch) return nullptr;
        auto& tokens = acknowledgements_[{parcel.from.number(), parcel.to.number()}];
        const auto before = static_cast<std::size_t>(parcel.sequence - options_.batch);
        if (before > 0) tokens[before - 1].reset();
        return &*tokens[before];
    }

    Stream& stream_;
    const Exchange& exchange_;
    const RedistributeOptions& options_;
    std::map<TileIndex, Index> left_;
    std::map<TileIndex, bool> begun_;
    std::map<std::pair<Index, Index>, std::vector<std::optional<Token>>> acknowledgements_;
    struct Batch {
        Index number = -1;
        std::optional<Token> token, before;  // of this batch, and of the one before it that had messages
    };
    std::map<Index, Batch> batches_;  // by the node that sends
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
                                        .whole_tile_bytes = options.whole_tile_bytes,
                                        .in_flight = options.batch,
                                        .batch_columns = options.batch_columns,
                                        .sending = options.multiple_send ? Sending::by_workers : Sending::by_one_thread,
                                        .priority = options.priority}};
    const bool compressed = exchange.from->compression() || exchange.to->compression();
    if (options.path == RedistributionPath::exchange && !compressed) {
        stream.exchange(exchange);
        return;
    }
    check_exchange(exchange);
    if (compressed) return CompressedRedistribution<T>(stream, exchange, {options.batch, options.priority}).submit();
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
