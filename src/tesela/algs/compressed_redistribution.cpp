#include "tesela/algs/internal/compressed_redistribution.hpp"

#include <limits>

namespace tesela {
namespace {

/// Numbers that a part of a tile takes: of U and V for each rank where the tile may be stored so, or all elements.
Index numbers(const TileShape& shape, bool compressible) {
    return compressible ? shape.rows + shape.cols : shape.rows * shape.cols;
}

Distribution only_on(Stream& stream, NodeId node) {
    return {{1, 1}, stream.engine().node_count(), {static_cast<std::int32_t>(node.number())}};
}

}  // namespace

template <class T>
CompressedRedistribution<T>::CompressedRedistribution(Stream& stream, const Exchange& exchange, Options options)
    : stream_(stream),
      exchange_(exchange),
      batch_(options.batch),
      priority_(options.priority) {}

template <class T>
void CompressedRedistribution<T>::submit() {
    decide_what_travels();
    for_each_target(*exchange_.overlay, [&](TileIndex target) {
        fill(target);
        if (priority_ > std::numeric_limits<std::int32_t>::min()) --priority_;
    });
}

/// A segment of a tile that has all its elements, on its way into one that need not, is compressed before it travels.
template <class T>
bool CompressedRedistribution<T>::shrinks_at_source(const Segment& segment) const {
    return !exchange_.from->compressible(segment.from) && exchange_.to->compressible(segment.to);
}

/// A tile of which a node needs several segments travels as a whole where these take as many numbers: each segment has
/// its rows of U and of V, so that cutting a tile in four doubles them.
template <class T>
void CompressedRedistribution<T>::decide_what_travels() {
    exchange_.overlay->for_each([&](const Segment& segment) {
        ++uses_left_[segment.from];
        if (shrinks_at_source(segment)) return;
        const auto node = static_cast<std::int32_t>(exchange_.to->owner(segment.to).number());
        given_[{segment.from, node}].in_pieces +=
            numbers({segment.shape.rows, segment.shape.cols}, exchange_.from->compressible(segment.from));
    });
    for (auto& [key, given] : given_)
        given.whole =
            given.in_pieces >= numbers(exchange_.from->shape(key.first), exchange_.from->compressible(key.first));
}

template <class T>
bool CompressedRedistribution<T>::travels_in_pieces(const Segment& segment) const {
    const NodeId node = exchange_.to->owner(segment.to);
    if (exchange_.from->owner(segment.from) == node) return false;
    if (shrinks_at_source(segment)) return true;
    return !given_.at({segment.from, static_cast<std::int32_t>(node.number())}).whole;
}

template <class T>
void CompressedRedistribution<T>::fill(TileIndex target) {
    std::vector<Segment> segments;
    exchange_.overlay->for_each_in(target, [&](const Segment& segment) { segments.push_back(segment); });
    const bool keeps = exchange_.to->written(target) && !exchange_.overlay->covers(target);
    const auto count = static_cast<Index>(segments.size());
    for (Index k = 0; k < count; ++k) {
        const Segment& segment = segments[static_cast<std::size_t>(k)];
        PlaceArguments args = arguments(segment);
        args.before = keeps ? BeforeSegment::values : k == 0 ? BeforeSegment::nothing : BeforeSegment::zeros;
        args.after = k + 1 < count ? AfterSegment::more : after_last(segment, count);
        if (travels_in_pieces(segment))
            place_piece(segment, args, count);
        else
            place(segment, args);
    }
}

template <class T>
PlaceArguments CompressedRedistribution<T>::arguments(const Segment& segment) const {
    return {.segment = segment_arguments(segment, exchange_.overlay->problem().orientation, sizeof(T))};
}

/// Whether a segment is all of its source and all of its target.
template <class T>
bool CompressedRedistribution<T>::is_whole_tile(const Segment& segment) const {
    const TileShape from = exchange_.from->shape(segment.from);
    const TileShape to = exchange_.to->shape(segment.to);
    const Trapezoid& shape = segment.shape;
    return shape.full() && shape.rows == to.rows && shape.cols == to.cols &&
           shape.rows * shape.cols == from.rows * from.cols;
}

template <class T>
AfterSegment CompressedRedistribution<T>::after_last(const Segment& segment, Index segments) const {
    if (segments > 1 || !is_whole_tile(segment)) return AfterSegment::compress;
    const auto& from = exchange_.from->compression();
    const auto& to = exchange_.to->compression();
    const bool stays = exchange_.from->compressible(segment.from) && to && to->accuracy <= from->accuracy;
    return stays || travels_in_pieces(segment) ? AfterSegment::as_it_is : AfterSegment::compress;
}

template <class T>
void CompressedRedistribution<T>::place(const Segment& segment, const PlaceArguments& args) {
    const AccessMode mode = args.before == BeforeSegment::nothing ? AccessMode::write : AccessMode::read_write;
    put(Task::unchecked(CompressedSegments<T>::place,
                        {{{exchange_.from, segment.from}, AccessMode::read}, {{exchange_.to, segment.to}, mode}},
                        args));
    used(segment);
}

/// Copies of a source tile on other nodes are in the way when all that is wanted of it has been taken.
template <class T>
void CompressedRedistribution<T>::used(const Segment& segment) {
    if (--uses_left_[segment.from] == 0) stream_.retire({exchange_.from, segment.from});
}

template <class T>
Attached CompressedRedistribution<T>::attach_piece(const Segment& segment, double accuracy) {
    const ElementIndex size{segment.shape.rows, segment.shape.cols};
    MatrixSpec spec{.name = exchange_.from->name() + " piece",
                    .tiling = Tiling::uniform(size, size),
                    .distribution = only_on(stream_, exchange_.from->owner(segment.from)),
                    .type = exchange_.from->type()};
    if (shrinks_at_source(segment) || exchange_.from->compressible(segment.from))
        spec.compression = Compression{.accuracy = accuracy, .dense_band = 0};
    return stream_.attach(std::move(spec));
}

/// The piece that must have arrived before the next one between the same two nodes is cut; nothing if there is none.
template <class T>
TileRef CompressedRedistribution<T>::place_before(std::vector<Attached>& arrived) const {
    const Index before = ended_before(static_cast<Index>(arrived.size()), batch_);
    if (before < 0) return {};
    if (before > 0) arrived[static_cast<std::size_t>(before) - 1].reset();
    return {arrived[static_cast<std::size_t>(before)].get(), {0, 0}};
}

/// Cut where the source is, and placed where the target is.
template <class T>
void CompressedRedistribution<T>::place_piece(const Segment& segment, PlaceArguments args, Index segments) {
    const NodeId from = exchange_.from->owner(segment.from);
    const NodeId to = exchange_.to->owner(segment.to);
    const double accuracy =
        args.after == AfterSegment::as_it_is ? target_accuracy() : segment_accuracy(target_accuracy(), segments);
    const Attached attached = attach_piece(segment, accuracy);
    const TileRef piece{attached.get(), {0, 0}};
    std::vector<Attached>& arrived = arrived_[{from.number(), to.number()}];
    const TileRef before = place_before(arrived);

    Task cut =
        Task::unchecked(CompressedSegments<T>::cut,
                        {{{exchange_.from, segment.from}, AccessMode::read}, {piece, AccessMode::write}}, args.segment);
    if (before.matrix != nullptr)
        cut.accesses[static_cast<std::size_t>(cut.access_count++)] = {before, AccessMode::read};
    put(cut);

    args.segment.op = Op::none;
    args.segment.from_i = args.segment.from_j = 0;
    const AccessMode mode = args.before == BeforeSegment::nothing ? AccessMode::write : AccessMode::read_write;
    Task place = Task::unchecked(CompressedSegments<T>::place,
                                 {{piece, AccessMode::read}, {{exchange_.to, segment.to}, mode}}, args);
    if (batch_ > 0) {
        arrived.push_back(stream_.attach({.name = "arrived",
                                          .tiling = Tiling::square(1, 1),
                                          .distribution = only_on(stream_, to),
                                          .type = ElementType::none}));
        place.accesses[static_cast<std::size_t>(place.access_count++)] = {{arrived.back().get(), {0, 0}},
                                                                          AccessMode::write};
    }
    put(place);
    stream_.retire(piece);
    used(segment);
}

template class CompressedRedistribution<float>;
template class CompressedRedistribution<double>;

}  // namespace tesela
