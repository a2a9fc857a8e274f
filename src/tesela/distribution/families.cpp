#include "tesela/distribution/families.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"

#include <utility>

namespace tesela {
namespace {

Index squarest_divisor(Index nodes) {
    Index p = 1;
    for (Index d = 1; d * d <= nodes; ++d)
        if (nodes % d == 0) p = d;
    return p;
}

}  // namespace

Distribution block_cyclic(GridSize tiles, const BlockCyclic& grid) {
    if (grid.p < 1 || grid.q < 1) throw Error("a grid of {}x{} nodes does not exist", grid.p, grid.q);
    if (grid.super_rows < 1 || grid.super_cols < 1)
        throw Error("super-tiles of {}x{} tiles do not exist", grid.super_rows, grid.super_cols);
    return tabulate(tiles, grid.p * grid.q, [&](Index i, Index j) {
        return (i / grid.super_rows % grid.p) * grid.q + j / grid.super_cols % grid.q;
    });
}

Distribution squarest_block_cyclic(GridSize tiles, Index nodes) {
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    const Index p = squarest_divisor(nodes);
    return block_cyclic(tiles, {.p = p, .q = nodes / p});
}

Distribution random_distribution(GridSize tiles, Index nodes, std::uint64_t seed) {
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    const Random random(seed);
    return tabulate(tiles, nodes, [&](Index i, Index j) {
        return random.below(static_cast<std::uint64_t>(nodes),
                            {static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
    });
}

Distribution along_diagonal(const Distribution& matrix, Index cols) {
    const GridSize grid = matrix.grid();
    if (grid.rows != grid.cols)
        throw Error("a grid of {}x{} tiles has no diagonal to follow: it must be square", grid.rows, grid.cols);
    return tabulate({grid.rows, cols}, matrix.nodes(), [&](Index i, Index) { return matrix.owner({i, i}).number(); });
}

}  // namespace tesela
