#include "tesela/distribution/scalapack_layout.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>

namespace tesela {
namespace {

/// Elements of `n` in blocks of `block` that process `p` of `count` has, when process `first` has the first block.
Index numroc(Index n, Index block, Index p, Index first, Index count) {
    const Index distance = (p - first + count) % count;
    const Index blocks = n / block;
    Index elements = blocks / count * block;
    if (distance < blocks % count) elements += block;
    if (distance == blocks % count) elements += n % block;
    return elements;
}

}  // namespace

TileIndex ScalapackLayout::process(NodeId node) const {
    const Index n = node.number();
    if (order == GridOrder::row_major) return {n / grid.cols, n % grid.cols};
    return {n % grid.rows, n / grid.rows};
}

ElementIndex ScalapackLayout::local_size(NodeId node) const {
    if (node.number() >= grid.count()) return {};
    const TileIndex at = process(node);
    return {numroc(size().i, block().i, at.i, first_process().i, grid.rows),
            numroc(size().j, block().j, at.j, first_process().j, grid.cols)};
}

Index ScalapackLayout::local_position(TileIndex b) const {
    return b.i / grid.rows * block().i + b.j / grid.cols * block().j * ld();
}

Tiling ScalapackLayout::tiling() const { return Tiling::uniform(size(), block()); }

Distribution ScalapackLayout::distribution() const {
    const GridSize blocks = tiling().grid();
    std::vector<std::int32_t> owners;
    owners.reserve(static_cast<std::size_t>(blocks.count()));
    for (Index i = 0; i < blocks.rows; ++i)
        for (Index j = 0; j < blocks.cols; ++j) {
            const Index p = (i + first_process().i) % grid.rows;
            const Index q = (j + first_process().j) % grid.cols;
            const Index node = order == GridOrder::row_major ? p * grid.cols + q : p + q * grid.rows;
            owners.push_back(static_cast<std::int32_t>(node));
        }
    return {blocks, grid.count(), std::move(owners)};
}

void check_layout(const ScalapackLayout& layout, NodeId me) {
    const auto& d = layout.descriptor;
    constexpr int block_cyclic_2d = 1;
    if (layout.grid.rows < 1 || layout.grid.cols < 1)
        throw Error("a process grid of {} x {} cannot be", layout.grid.rows, layout.grid.cols);
    if (d[0] != block_cyclic_2d)
        throw Error("descriptor entry 1 (DTYPE) is {}; only 1, dense block-cyclic, is known", d[0]);
    if (d[2] < 0 || d[3] < 0) throw Error("descriptor entries 3 and 4 (M, N) are {} and {}: less than 0", d[2], d[3]);
    if (d[4] < 1 || d[5] < 1) throw Error("descriptor entries 5 and 6 (MB, NB) are {} and {}: less than 1", d[4], d[5]);
    if (d[6] < 0 || d[6] >= layout.grid.rows || d[7] < 0 || d[7] >= layout.grid.cols)
        throw Error("descriptor entries 7 and 8 (RSRC, CSRC) are {} and {}: outside the {} x {} grid", d[6], d[7],
                    layout.grid.rows, layout.grid.cols);
    const Index rows = layout.local_size(me).i;
    if (d[8] < std::max<Index>(1, rows))
        throw Error("descriptor entry 9 (LLD) is {}: less than the {} rows of the local array", d[8], rows);
}

}  // namespace tesela
