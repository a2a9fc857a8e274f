#include "tesela/kernels/segment.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tesela {
namespace {

std::byte* at(const Tile& tile, Index i, Index j, std::int32_t element_bytes) {
    return static_cast<std::byte*>(tile.data) +
           static_cast<std::size_t>(i + j * tile.ld) * static_cast<std::size_t>(element_bytes);
}

std::size_t size_of(Index elements, const SegmentArguments& args) {
    return static_cast<std::size_t>(elements) * static_cast<std::size_t>(args.element_bytes);
}

/// A segment in its source tile: the first element, and elements from a column to the next.
struct Source {
    const std::byte* first;
    Index ld;

    Source(const Tile& from, const SegmentArguments& args)
        : first(at(from, args.from_i, args.from_j, args.element_bytes)),
          ld(from.ld) {}
};

/// Where the columns of a segment go in a tile.
class TileColumns {
public:
    TileColumns(const Tile& to, const SegmentArguments& args)
        : first_(at(to, args.to_i, args.to_j, args.element_bytes)),
          stride_(size_of(to.ld, args)),
          element_(size_of(1, args)),
          shape_(args.shape()) {}
    /// Where column j begins, with its first row that is in the shape.
    [[nodiscard]] std::byte* column(Index j) const {
        return first_ + static_cast<std::size_t>(shape_.begin(j)) * element_ + static_cast<std::size_t>(j) * stride_;
    }
    [[nodiscard]] std::size_t stride() const { return stride_; }

private:
    std::byte* first_;
    std::size_t stride_;
    std::size_t element_;
    Trapezoid shape_;
};

/// Where they go in a buffer, one after the other: columns are asked for in their order.
class PackedColumns {
public:
    PackedColumns(std::byte* packed, const SegmentArguments& args)
        : next_(packed),
          element_(size_of(1, args)),
          shape_(args.shape()) {}
    [[nodiscard]] std::byte* column(Index j) {
        std::byte* column = next_;
        next_ += static_cast<std::size_t>(shape_.end(j) - shape_.begin(j)) * element_;
        return column;
    }
    [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(shape_.rows) * element_; }

private:
    std::byte* next_;
    std::size_t element_;
    Trapezoid shape_;
};

/// Whether the columns of a segment follow each other without gaps where they are `stride` bytes apart.
bool gapless(const SegmentArguments& args, std::size_t stride) {
    return args.part == Part::all && stride == size_of(args.rows, args);
}

template <class Target>
void copy_columns(const Source& source, Target target, const SegmentArguments& args) noexcept {
    const Trapezoid shape = args.shape();
    if (shape.empty()) return;
    if (gapless(args, size_of(source.ld, args)) && gapless(args, target.stride())) {
        std::memcpy(target.column(0), source.first, size_of(shape.count(), args));
        return;
    }
    const std::size_t element = size_of(1, args);  // what is copied might be arguments, for all the compiler knows
    for (Index j = 0; j < shape.cols; ++j) {
        const Index begin = shape.begin(j);
        const std::size_t bytes = static_cast<std::size_t>(shape.end(j) - begin) * element;
        if (bytes == 0) continue;
        std::memcpy(target.column(j), source.first + static_cast<std::size_t>(begin + j * source.ld) * element, bytes);
    }
}

/// Columns that are written at the same time where rows become columns: their elements are neighbours in the source,
/// and eight of the larger ones are a line of the cache.
constexpr Index together = 8;

/// Rows [begin, end) of column j.
struct Stretch {
    Index j, begin, end;
};

/// Element by element, each from another column of the source.
template <class Element>
void transpose_stretch(const Source& source, const Stretch& stretch, std::byte* to) noexcept {
    for (Index i = stretch.begin; i < stretch.end; ++i, to += sizeof(Element))
        std::memcpy(to, source.first + static_cast<std::size_t>(stretch.j + i * source.ld) * sizeof(Element),
                    sizeof(Element));
}

/// Rows of `together` columns, an even number of them: two and two, which vector instructions exchange.
template <class Element>
void transpose_pairs(const Source& source, Index rows, const std::array<std::byte*, together>& to) noexcept {
    using Pair = std::array<Element, 2>;
    const std::size_t next = static_cast<std::size_t>(source.ld) * sizeof(Element);
    const std::byte* from = source.first;
    for (std::size_t at = 0; at < static_cast<std::size_t>(rows) * sizeof(Element);
         at += sizeof(Pair), from += 2 * next)
        for (std::size_t c = 0; c < to.size(); c += 2) {
            Pair a, b;
            std::memcpy(&a, from + c * sizeof(Element), sizeof a);
            std::memcpy(&b, from + c * sizeof(Element) + next, sizeof b);
            const Pair left{a[0], b[0]};
            const Pair right{a[1], b[1]};
            std::memcpy(to[c] + at, &left, sizeof left);
            std::memcpy(to[c + 1] + at, &right, sizeof right);
        }
}

/// The columns [first, first + together): pairs of rows that all of them have, single elements beside these.
template <class Element, class Target>
void transpose_group(const Source& source, Target& target, const Trapezoid& shape, Index first) noexcept {
    const Index last = first + together - 1;
    const Index begin = std::max(shape.begin(first), shape.begin(last));
    const Index rows = std::max<Index>(0, std::min(shape.end(first), shape.end(last)) - begin) / 2 * 2;
    std::array<std::byte*, together> to{};
    for (Index j = first; j <= last; ++j) {
        std::byte*& column = to[static_cast<std::size_t>(j - first)];
        column = target.column(j);
        const Index before = rows > 0 ? begin : shape.end(j);
        transpose_stretch<Element>(source, {j, shape.begin(j), before}, column);
        column += static_cast<std::size_t>(before - shape.begin(j)) * sizeof(Element);
        transpose_stretch<Element>(source, {j, before + rows, shape.end(j)},
                                   column + static_cast<std::size_t>(rows) * sizeof(Element));
    }
    Source common = source;
    common.first += static_cast<std::size_t>(first + begin * source.ld) * sizeof(Element);
    transpose_pairs<Element>(common, rows, to);
}

template <class Element, class Target>
void transpose_columns(const Source& source, Target target, const Trapezoid& shape) noexcept {
    Index j = 0;
    for (; j + together <= shape.cols; j += together) transpose_group<Element>(source, target, shape, j);
    for (; j < shape.cols; ++j) transpose_stretch<Element>(source, {j, shape.begin(j), shape.end(j)}, target.column(j));
}

template <class Target>
void move_columns(const Source& source, Target target, const SegmentArguments& args) noexcept {
    if (args.op == Op::none)
        copy_columns(source, target, args);
    else if (args.element_bytes == 8)
        transpose_columns<std::uint64_t>(source, target, args.shape());
    else
        transpose_columns<std::uint32_t>(source, target, args.shape());
}

KernelCost copy_cost(std::span<const TileShape>, const void* arguments) noexcept {
    const auto& args = *static_cast<const SegmentArguments*>(arguments);
    return {0, 2.0 * static_cast<double>(args.shape().count()) * args.element_bytes};
}
KernelCost no_cost(std::span<const TileShape>, const void*) noexcept { return {}; }

KernelResult run_copy(const KernelCall& call) noexcept {
    copy_segment(call.tiles[0], call.tiles[1], call.args<SegmentArguments>());
    return {};
}
KernelResult run_nothing(const KernelCall&) noexcept { return {}; }

}  // namespace

void copy_segment(const Tile& from, const Tile& to, const SegmentArguments& args) noexcept {
    move_columns({from, args}, TileColumns(to, args), args);
}

void pack_segment(const Tile& from, std::byte* packed, const SegmentArguments& args) noexcept {
    move_columns({from, args}, PackedColumns(packed, args), args);
}

void unpack_segment(const std::byte* packed, const Tile& to, const SegmentArguments& args) noexcept {
    const Trapezoid shape = args.shape();
    if (shape.empty()) return;
    const TileColumns target(to, args);
    if (gapless(args, target.stride())) {
        std::memcpy(target.column(0), packed, size_of(shape.count(), args));
        return;
    }
    const std::size_t element = size_of(1, args);
    for (Index j = 0; j < shape.cols; ++j) {
        const std::size_t bytes = static_cast<std::size_t>(shape.end(j) - shape.begin(j)) * element;
        if (bytes > 0) std::memcpy(target.column(j), packed, bytes);
        packed += bytes;
    }
}

void copy_segments(std::span<const PlacedSegment> segments, std::span<const Tile> from,
                   std::span<const Tile> to) noexcept {
    for (const PlacedSegment& segment : segments) copy_segment(from[segment.source], to[segment.target], segment.args);
}

void pack_segments(std::span<const PlacedSegment> segments, std::span<const Tile> from, std::byte* packed) noexcept {
    for (const PlacedSegment& segment : segments)
        pack_segment(from[segment.source], packed + size_of(segment.args.packed_at, segment.args), segment.args);
}

void unpack_segments(std::span<const PlacedSegment> segments, const std::byte* packed,
                     std::span<const Tile> to) noexcept {
    for (const PlacedSegment& segment : segments)
        unpack_segment(packed + size_of(segment.args.packed_at, segment.args), to[segment.target], segment.args);
}

const KernelOf<SegmentArguments, const void, void> SegmentKernels::copy{"copy_segment", copy_cost, run_copy};
const KernelOf<NoArguments, void> SegmentKernels::open{"open_tile", no_cost, run_nothing};
const KernelOf<NoArguments, void> SegmentKernels::close{"close_tile", no_cost, run_nothing};

}  // namespace tesela
