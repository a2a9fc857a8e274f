#include "tesela/kernels/segment.hpp"

#include <cstring>

namespace tesela {
namespace {

std::byte* at(const Tile& tile, Index i, Index j, std::int32_t element_bytes) {
    return static_cast<std::byte*>(tile.data) +
           static_cast<std::size_t>(i + j * tile.ld) * static_cast<std::size_t>(element_bytes);
}

/// `count` elements that are `stride` apart become neighbours.
template <class Element>
void gather(const std::byte* from, Index stride, Index count, std::byte* to) noexcept {
    for (Index k = 0; k < count; ++k) {
        Element element;
        std::memcpy(&element, from + static_cast<std::size_t>(k * stride) * sizeof element, sizeof element);
        std::memcpy(to + static_cast<std::size_t>(k) * sizeof element, &element, sizeof element);
    }
}

/// Where rows [begin, end) of a column of the segment stand in the source, written to `to` one after the other.
void copy_column(const Tile& from, const SegmentArguments& args, Index j, std::byte* to) noexcept {
    const Trapezoid shape = args.shape();
    const Index begin = shape.begin(j);
    const Index count = shape.end(j) - begin;
    if (args.op == Op::none) {
        std::memcpy(to, at(from, args.from_i + begin, args.from_j + j, args.element_bytes),
                    static_cast<std::size_t>(count) * static_cast<std::size_t>(args.element_bytes));
        return;
    }
    const std::byte* first = at(from, args.from_i + j, args.from_j + begin, args.element_bytes);
    if (args.element_bytes == 8)
        gather<std::uint64_t>(first, from.ld, count, to);
    else
        gather<std::uint32_t>(first, from.ld, count, to);
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
KernelResult run_pack(const KernelCall& call) noexcept {
    const auto& args = call.args<SegmentArguments>();
    pack_segment(call.tiles[0], at(call.tiles[1], args.packed_at, 0, args.element_bytes), args);
    return {};
}
KernelResult run_unpack(const KernelCall& call) noexcept {
    const auto& args = call.args<SegmentArguments>();
    unpack_segment(at(call.tiles[0], args.packed_at, 0, args.element_bytes), call.tiles[1], args);
    return {};
}
KernelResult run_nothing(const KernelCall&) noexcept { return {}; }

}  // namespace

void copy_segment(const Tile& from, const Tile& to, const SegmentArguments& args) noexcept {
    const Trapezoid shape = args.shape();
    for (Index j = 0; j < shape.cols; ++j)
        if (shape.end(j) > shape.begin(j))
            copy_column(from, args, j, at(to, args.to_i + shape.begin(j), args.to_j + j, args.element_bytes));
}

void pack_segment(const Tile& from, std::byte* packed, const SegmentArguments& args) noexcept {
    const Trapezoid shape = args.shape();
    for (Index j = 0; j < shape.cols; ++j) {
        const Index count = shape.end(j) - shape.begin(j);
        if (count <= 0) continue;
        copy_column(from, args, j, packed);
        packed += static_cast<std::size_t>(count) * static_cast<std::size_t>(args.element_bytes);
    }
}

void unpack_segment(const std::byte* packed, const Tile& to, const SegmentArguments& args) noexcept {
    const Trapezoid shape = args.shape();
    for (Index j = 0; j < shape.cols; ++j) {
        const Index count = shape.end(j) - shape.begin(j);
        if (count <= 0) continue;
        const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(args.element_bytes);
        std::memcpy(at(to, args.to_i + shape.begin(j), args.to_j + j, args.element_bytes), packed, bytes);
        packed += bytes;
    }
}

const Kernel SegmentKernels::copy{"copy_segment", copy_cost, run_copy};
const Kernel SegmentKernels::pack{"pack_segment", copy_cost, run_pack};
const Kernel SegmentKernels::unpack{"unpack_segment", copy_cost, run_unpack};
const Kernel SegmentKernels::open{"open_tile", no_cost, run_nothing};
const Kernel SegmentKernels::close{"close_tile", no_cost, run_nothing};

}  // namespace tesela
