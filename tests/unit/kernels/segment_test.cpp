#include "tesela/kernels/segment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

namespace tesela {
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
    const SegmentArguments args{
        .element_bytes = sizeof(T),
        .op = *rc::gen::element(Op::none, Op::transpose),
        .part = *rc::gen::element(Trapezoid::Part::all, Trapezoid::Part::lower, Trapezoid::Part::upper),
        .rows = number(0, 12),
        .cols = number(0, 12),
        .from_i = number(0, 5),
        .from_j = number(0, 5),
        .to_i = number(0, 5),
        .to_j = number(0, 5),
        .diagonal = number(-6, 6),
        .packed_at = number(0, 9)};
    Elements<T> from(24, 24, number(0, 3));
    Elements<T> to(20, 20, number(0, 3));
    std::fill(to.values.begin(), to.values.end(), T{0});
    Elements<T> expected = to;
    for (Index j = 0; j < args.cols; ++j)
        for (Index i = 0; i < args.rows; ++i) {
            if (args.part == Trapezoid::Part::lower && i - j < args.diagonal) continue;
            if (args.part == Trapezoid::Part::upper && i - j > args.diagonal) continue;
            expected.at(args.to_i + i, args.to_j + j) = args.op == Op::none ? from.at(args.from_i + i, args.from_j + j)
                                                                            : from.at(args.from_i + j, args.from_j + i);
        }
    const auto run = [&](const Kernel& kernel, std::initializer_list<Tile> tiles) {
        kernel.cpu({{tiles.begin(), tiles.size()}, &args});
    };
    Elements<T> copied = to;
    run(SegmentKernels::copy, {from.tile(), copied.tile()});
    RC_ASSERT(copied.values == expected.values);

    const Index count = args.shape().count();
    Elements<T> buffer(count + args.packed_at + 4, 1, 0);
    const Elements<T> untouched = buffer;
    run(SegmentKernels::pack, {from.tile(), buffer.tile()});
    for (Index k = 0; k < buffer.rows; ++k)  // nothing beside the packed elements is touched
        if (k < args.packed_at || k >= args.packed_at + count)
            RC_ASSERT(buffer.values[static_cast<std::size_t>(k)] == untouched.values[static_cast<std::size_t>(k)]);
    Elements<T> unpacked = to;
    run(SegmentKernels::unpack, {buffer.tile(), unpacked.tile()});
    RC_ASSERT(unpacked.values == expected.values);
}

RC_GTEST_PROP(Segment, CopiedOrPackedAndUnpackedIsTheSameAndRight, ()) {
    check_any_segment<double>();
    check_any_segment<float>();
}

TEST(Segment, CostsItsBytesReadAndWritten) {
    const SegmentArguments args{.part = Trapezoid::Part::lower, .rows = 4, .cols = 4};
    EXPECT_EQ(SegmentKernels::copy.cost({}, &args).bytes, 2 * 10 * 8);
}

}  // namespace
}  // namespace tesela
