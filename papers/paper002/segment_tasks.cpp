#include "paper002/segment_tasks.hpp"

#include "tesela/algs/redistribute.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/kernels/segment.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tesela::bench {
namespace {

constexpr std::int32_t urgent = std::numeric_limits<std::int32_t>::max() - 1;

std::byte* packed_in(const Tile& buffer, const SegmentArguments& args) {
    return static_cast<std::byte*>(buffer.data) + args.packed_at * args.element_bytes;
}
KernelResult run_pack(const KernelCall& call) noexcept {
    const auto& args = call.args<SegmentArguments>();
    pack_segment(call.tiles[0], packed_in(call.tiles[1], args), args);
    return {};
}
KernelResult run_unpack(const KernelCall& call) noexcept {
    const auto& args = call.args<SegmentArguments>();
    unpack_segment(packed_in(call.tiles[0], args), call.tiles[1], args);
    return {};
}
KernelCost cost_of(std::span<const TileShape>, const void* arguments) noexcept {
    const auto& args = *static_cast<const SegmentArguments*>(arguments);
    return {0, 2.0 * static_cast<double>(args.shape().count()) * args.element_bytes};
}
const KernelOf<SegmentArguments, const void, void> pack_kernel{"pack_segment", cost_of, run_pack};
const KernelOf<SegmentArguments, const void, void> unpack_kernel{"unpack_segment", cost_of, run_unpack};

/// What of an overlay comes from the source's tile columns first … last - 1.
Overlay source_columns(const Overlay& whole, Index first, Index last) {
    OverlayProblem part = whole.problem();
    const std::vector<Index>& cuts = part.from.col_cuts();
    const Index begin = std::max(cuts[static_cast<std::size_t>(first)], part.from_offset.j);
    const Index end = std::min(cuts[static_cast<std::size_t>(last)], part.from_offset.j + part.size.j);
    const Index before = begin - part.from_offset.j;
    part.from_offset.j = begin;
    (part.orientation == Orientation::same ? part.to_offset.j : part.to_offset.i) += before;
    part.size.j = end - begin;
    part.diagonal += before;  // as in Trapezoid::columns
    return Overlay(std::move(part));
}

/// The messages and copies of each batch of source columns; no message has segments of two batches.
std::vector<Parcels> batches_of(const Exchange& exchange, Index batch_columns) {
    const Overlay& overlay = *exchange.overlay;
    const Owners owners{exchange.from->distribution(), exchange.to->distribution()};
    const auto parcels = [&](const Overlay& part) {
        return make_parcels(
            part, owners, dense_bytes(sizeof(double)),
            {.bytes = exchange.options.message_bytes, .whole_tile_bytes = exchange.options.message_bytes});
    };
    if (batch_columns == 0 || overlay.empty()) return {parcels(overlay)};
    std::vector<Parcels> batches;
    const Overlay::TileRange tiles = overlay.source_tiles();
    for (Index first = tiles.first.j; first < tiles.last.j; first += batch_columns)
        batches.push_back(parcels(source_columns(overlay, first, std::min(first + batch_columns, tiles.last.j))));
    return batches;
}

class SegmentTasks {
public:
    SegmentTasks(Stream& stream, const Exchange& exchange, const SegmentTasksOptions& options)
        : stream_(stream),
          exchange_(exchange),
          options_(options) {}

    void submit() {
        const std::vector<Parcels> batches = batches_of(exchange_, options_.batch_columns);
        for (const Parcels& batch : batches)
            for (const Parcel& parcel : batch.parcels)
                for (const Segment& segment : parcel.segments) ++left_[segment.to];
        for (const Parcels& batch : batches) {
            ++batch_;
            for (const Parcel& parcel : batch.parcels) submit(parcel);
        }
    }

private:
    void submit(const Parcel& parcel) {
        if (parcel.from != parcel.to && options_.dynamic_volume) return ship(parcel);
        for (const Segment& segment : parcel.segments) copy(segment);
    }
    void put(const Kernel& kernel, std::initializer_list<Access> accesses, const SegmentArguments& args) {
        stream_.submit(Task::unchecked(kernel, accesses, args).at(0, urgent));
    }
    void put(const Kernel& kernel, std::initializer_list<Access> accesses) {
        stream_.submit(Task::unchecked(kernel, accesses).at(0, urgent));
    }
    // Between these, tasks write parts of a tile at the same time.
    void open(const TileRef& whole) { put(SegmentKernels::open, {{whole, AccessMode::write}}); }
    void close(const TileRef& whole) { put(SegmentKernels::close, {{whole, AccessMode::read_write}}); }
    /// Something that can be waited for from the beginning.
    Token make_token(const char* name, NodeId owner) {
        Token token(stream_, owner, name);
        open(token.ref());
        return token;
    }
    [[nodiscard]] SegmentArguments arguments(const Segment& segment, Index packed_at = 0) const {
        SegmentArguments args = segment_arguments(segment, exchange_.overlay->problem().orientation, sizeof(double));
        args.packed_at = packed_at;
        return args;
    }

    /// Makes the target ready for its first segment and says how segments access it.
    Access begin_target(const Segment& segment) {
        const TileRef target{exchange_.to, segment.to};
        const bool first = begun_.insert(segment.to).second;
        if (first && !target.matrix->written(target.index)) {
            if (exchange_.overlay->covers(segment.to))
                open(target);
            else
                stream_.submit(Task(Dense<double>::laset, {}, write(TileOf<double>{target})).at(0, urgent));
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
        const Index elements = parcel.bytes / static_cast<Index>(sizeof(double));
        const Matrix<double> buffer(
            stream_, Tiling::uniform({elements, 1}, {elements, 1}),
            Distribution({1, 1}, stream_.engine().node_count(), {static_cast<std::int32_t>(parcel.from.number())}),
            {.name = "parcel"});
        pack(parcel, buffer(0, 0));
        unpack(parcel, buffer(0, 0));
        stream_.retire(buffer(0, 0));
    }

    void pack(const Parcel& parcel, const TileRef& packed) {
        open(packed);
        Index at = 0;
        const std::array before{acknowledged(parcel), batch_before(parcel)};  // tokens, or null
        for (const Segment& segment : parcel.segments) {
            const SegmentArguments args = arguments(segment, std::exchange(at, at + segment.shape.count()));
            const Access source{{exchange_.from, segment.from}, AccessMode::read};
            Task task = Task::unchecked(pack_kernel, {source, {packed, AccessMode::disjoint}}, args);
            for (const Token* token : before)
                if (token != nullptr) task.also(read(token->ref()));
            stream_.submit(task.at(0, urgent));
        }
        close(packed);
    }

    void unpack(const Parcel& parcel, const TileRef& packed) {
        std::optional<Token>& token = arrived_[{parcel.from, parcel.to}].emplace_back();
        if (options_.batch > 0 || options_.batch_columns > 0) token = make_token("arrived", parcel.to);
        Index at = 0;
        for (const Segment& segment : parcel.segments) {
            const SegmentArguments args = arguments(segment, std::exchange(at, at + segment.shape.count()));
            const Access target = begin_target(segment);
            Task task = Task::unchecked(unpack_kernel, {{packed, AccessMode::read}, target}, args);
            if (token)
                task.accesses[static_cast<std::size_t>(task.access_count++)] = {token->ref(), AccessMode::disjoint};
            stream_.submit(task.at(0, urgent));
            end_target(segment);
        }
        if (!token) return;
        close(token->ref());
        if (options_.batch_columns > 0) note_in_batch(parcel, *token);
    }

    /// The token of a node's batch gets its value when all messages of the batch have arrived, one after the other.
    void note_in_batch(const Parcel& parcel, const Token& arrived) {
        Batch& batch = batches_[parcel.from];
        if (!batch.token || batch.number != batch_) {
            batch.before = std::move(batch.token);
            batch.token = make_token("batch", parcel.from);
            batch.number = batch_;
        }
        put(SegmentKernels::close, {{batch.token->ref(), AccessMode::read_write}, {arrived.ref(), AccessMode::read}});
    }

    /// What says that all messages of the sender's batch before this parcel's have arrived: the paper's control
    /// dependency between Finish and the next batch of Send.
    const Token* batch_before(const Parcel& parcel) {
        if (options_.batch_columns == 0) return nullptr;
        const Batch& batch = batches_[parcel.from];
        const std::optional<Token>& token = batch.number == batch_ ? batch.before : batch.token;
        return token ? &*token : nullptr;
    }

    /// What says that the parcel between the same nodes has arrived that must have before this one is packed.
    const Token* acknowledged(const Parcel& parcel) {
        auto& tokens = arrived_[{parcel.from, parcel.to}];
        const Index before = ended_before(static_cast<Index>(tokens.size()), options_.batch);
        if (before < 0) return nullptr;
        if (before > 0) tokens[static_cast<std::size_t>(before) - 1].reset();
        return &*tokens[static_cast<std::size_t>(before)];
    }

    struct Batch {
        Index number = 0;
        std::optional<Token> token, before;  // of this batch, and of the one before it that had messages
    };

    Stream& stream_;
    const Exchange& exchange_;
    const SegmentTasksOptions& options_;
    Index batch_ = 0;  // that is being submitted, from 1 on
    std::map<TileIndex, Index> left_;
    std::set<TileIndex> begun_;
    std::map<std::pair<NodeId, NodeId>, std::vector<std::optional<Token>>> arrived_;  // by sender and receiver
    std::map<NodeId, Batch> batches_;                                                 // by sender
};

}  // namespace

void redistribute_by_tasks(Stream& stream, const MatrixView<double>& from, const MatrixView<double>& to,
                           const SegmentTasksOptions& options) {
    const auto phase = stream.phase("redistribution");
    const Exchange exchange{.from = &from.matrix(),
                            .to = &to.matrix(),
                            .overlay = std::make_shared<const Overlay>(redistribution_overlay(from, to)),
                            .options = {.message_bytes = options.message_bytes}};
    check_exchange(exchange);
    SegmentTasks(stream, exchange, options).submit();
}

}  // namespace tesela::bench
