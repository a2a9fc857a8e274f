#include "tesela/kernels/segment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tesela::segment_test {
namespace {

template <class T>
struct Elements {
    Elements(Index tile_rows, Index tile_cols, Index padding)
        : rows(tile_rows),
          cols(tile_cols),
          ld(tile_rows + padding),
          values(static_cast<std::size_t>(ld * tile_cols)) {
        std::iota(values.begin(), values.end(), T{1});
    }
    [[nodiscard]] Tile tile() { return {values.data(), {rows, cols}, ld}; }
    [[nodiscard]] T& at(Index i, Index j) { return values[static_cast<std::size_t>(i + j * ld)]; }
    Index rows, cols, ld;
    std::vector<T> values;
};

template <class T>
void check_any_segment() {
    const auto number = [](std::int32_t low, std::int32_t high) { return *rc::gen::inRange(low, high); };
    const SegmentArguments args{.element_bytes = sizeof(T),
                                .op = *rc::gen::element(Op::none, Op::transpose),
                                .part = *rc::gen::element(Part::all, Part::lower, Part::upper),
                                .rows = number(0, 20),
                                .cols = number(0, 20),
                                .from_i = number(0, 5),
                                .from_j = number(0, 5),
                                .to_i = number(0, 5),
                                .to_j = number(0, 5),
                                .diagonal = number(-12, 12),
                                .packed_at = number(0, 9)};
    Elements<T> from(25, 25, number(0, 3));
    Elements<T> to(25, 25, number(0, 3));
    std::fill(to.values.begin(), to.values.end(), T{0});
    Elements<T> expected = to;
    for (Index j = 0; j < args.cols; ++j)
        for (Index i = 0; i < args.rows; ++i) {
            if (args.part == Part::lower && i - j < args.diagonal) continue;
            if (args.part == Part::upper && i - j > args.diagonal) continue;
            expected.at(args.to_i + i, args.to_j + j) = args.op == Op::none ? from.at(args.from_i + i, args.from_j + j)
                                                                            : from.at(args.from_i + j, args.from_j + i);
        }
    Elements<T> copied = to;
    const std::array<Tile, 2> tiles{from.tile(), copied.tile()};
    SegmentKernels::copy.cpu({tiles, &args});
    RC_ASSERT(copied.values == expected.values);

    const Index count = args.shape().count();
    Elements<T> buffer(count + args.packed_at + 4, 1, 0);
    const Elements<T> untouched = buffer;
    auto* const packed = static_cast<std::byte*>(buffer.tile().data) + args.packed_at * args.element_bytes;
    pack_segment(from.tile(), packed, args);
    for (Index k = 0; k < buffer.rows; ++k)  // nothing beside the packed elements is touched
        if (k < args.packed_at || k >= args.packed_at + count)
            RC_ASSERT(buffer.values[static_cast<std::size_t>(k)] == untouched.values[static_cast<std::size_t>(k)]);
    Elements<T> unpacked = to;
    unpack_segment(packed, unpacked.tile(), args);
    RC_ASSERT(unpacked.values == expected.values);
}

RC_GTEST_PROP(Segment, CopiedOrPackedAndUnpackedIsTheSameAndRight, ()) {
    check_any_segment<double>();
    check_any_segment<float>();
}

/// Tiles of odd and even sizes, with and without a gap between columns; the source's and the target's of a segment are
/// as large as it, or larger.
template <class T>
struct AnyMessage {
    AnyMessage() {
        const auto number = [](Index low, Index high) { return *rc::gen::inRange(low, high); };
        const auto count = static_cast<std::size_t>(number(1, 8));
        for (std::size_t k = 0; k < count; ++k) {
            sources.emplace_back(number(1, 30), number(1, 30), number(0, 2));
            targets.emplace_back(number(1, 30), number(1, 30), number(0, 2));
            std::fill(targets.back().values.begin(), targets.back().values.end(), T{0});
        }
        const Op op = *rc::gen::element(Op::none, Op::transpose);
        for (Index k = number(0, 12); k > 0; --k) segments.push_back(any_segment(op));
    }
    PlacedSegment any_segment(Op op) {
        const auto place = [](Index end) { return static_cast<std::int32_t>(*rc::gen::inRange<Index>(0, end)); };
        PlacedSegment placed{.source = static_cast<std::uint32_t>(place(static_cast<Index>(sources.size()))),
                             .target = static_cast<std::uint32_t>(place(static_cast<Index>(targets.size())))};
        const Elements<T>& from = sources[placed.source];
        const Elements<T>& to = targets[placed.target];
        SegmentArguments& args = placed.args;
        args = {.element_bytes = sizeof(T), .op = op, .packed_at = packed};
        args.part = *rc::gen::element(Part::all, Part::lower, Part::upper);
        args.diagonal = place(40) - 20;
        const bool same = op == Op::none;
        args.rows = place(std::min(same ? from.rows : from.cols, to.rows) + 1);
        args.cols = place(std::min(same ? from.cols : from.rows, to.cols) + 1);
        args.from_i = place(from.rows - (same ? args.rows : args.cols) + 1);
        args.from_j = place(from.cols - (same ? args.cols : args.rows) + 1);
        args.to_i = place(to.rows - args.rows + 1);
        args.to_j = place(to.cols - args.cols + 1);
        packed += args.shape().count();
        return placed;
    }
    static std::vector<Tile> tiles(std::vector<Elements<T>>& of) {
        std::vector<Tile> all;
        for (Elements<T>& elements : of) all.push_back(elements.tile());
        return all;
    }
    static std::vector<std::vector<T>> values(const std::vector<Elements<T>>& of) {
        std::vector<std::vector<T>> all;
        for (const Elements<T>& elements : of) all.push_back(elements.values);
        return all;
    }

    std::vector<Elements<T>> sources, targets;
    std::vector<PlacedSegment> segments;
    Index packed = 0;  // elements
};

template <class T>
void check_any_message() {
    AnyMessage<T> message;
    const std::vector<Tile> from = message.tiles(message.sources);
    const auto bytes = static_cast<std::size_t>(message.packed) * sizeof(T);
    std::vector<std::byte> packed(bytes), packed_singly(bytes);
    std::vector<Elements<T>> copied = message.targets, unpacked = message.targets, singly = message.targets;
    for (const PlacedSegment& s : message.segments) {
        const std::size_t at = static_cast<std::size_t>(s.args.packed_at) * sizeof(T);
        pack_segment(from[s.source], packed_singly.data() + at, s.args);
        unpack_segment(packed_singly.data() + at, singly[s.target].tile(), s.args);
    }
    copy_segments(message.segments, from, message.tiles(copied));
    pack_segments(message.segments, from, packed.data());
    unpack_segments(message.segments, packed.data(), message.tiles(unpacked));
    RC_ASSERT(packed == packed_singly);
    RC_ASSERT(message.values(unpacked) == message.values(singly));
    RC_ASSERT(message.values(copied) == message.values(singly));
}

RC_GTEST_PROP(Segment, AllOfAMessageAreTheSameAsOneByOne, ()) {
    check_any_message<double>();
    check_any_message<float>();
}

TEST(Segment, CostsItsBytesReadAndWritten) {
    const SegmentArguments args{.part = Part::lower, .rows = 4, .cols = 4};
    EXPECT_EQ(SegmentKernels::copy.cost({}, &args).bytes, 2 * 10 * 8);
}

}  // namespace
}  // namespace tesela::segment_test
