#include "tesela/distribution/symmetric_block_cyclic.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace tesela {
namespace {

enum class Diagonal : std::uint8_t { extended, basic };

struct Shape {
    Index r = 0;
    Diagonal diagonal = Diagonal::extended;
};

std::optional<Shape> shape_of(Index nodes) {
    for (Index r = 2; r * (r - 1) / 2 <= nodes; ++r) {
        if (r * (r - 1) / 2 == nodes) return Shape{r, Diagonal::extended};
        if (r % 2 == 0 && r * r / 2 == nodes) return Shape{r, Diagonal::basic};
    }
    return std::nullopt;
}

/// Number of the pair {a, b}, a ≠ b, among the pairs of 0 … r-1.
Index pair_number(Index a, Index b) {
    const Index high = std::max(a, b), low = std::min(a, b);
    return high * (high - 1) / 2 + low;
}

/// Extended: cell a of the diagonal goes to {a, a + t}. For r odd the t up to (r-1)/2 meet every pair once, for r even
/// those up to r - 1 meet every pair twice; repetitions of the pattern take the t in turn, by rows of the lower part.
Index extended_owner(const Shape& shape, TileIndex tile) {
    const Index turns = shape.r % 2 == 1 ? (shape.r - 1) / 2 : shape.r - 1;
    const Index row = std::max(tile.i, tile.j) / shape.r, col = std::min(tile.i, tile.j) / shape.r;
    const Index t = 1 + (row * (row + 1) / 2 + col) % turns;
    const Index a = tile.i % shape.r;
    return pair_number(a, (a + t) % shape.r);
}

Index owner_of(const Shape& shape, TileIndex tile) {
    const Index a = tile.i % shape.r, b = tile.j % shape.r;
    if (a != b) return pair_number(a, b);
    if (shape.diagonal == Diagonal::extended) return extended_owner(shape, tile);
    return shape.r * (shape.r - 1) / 2 + a / 2;
}

Index nearest(Index nodes, Index step) {
    Index at = nodes + step;
    while (at > 0 && !shape_of(at)) at += step;
    return at;
}

}  // namespace

bool fits_symmetric_block_cyclic(Index nodes) { return shape_of(nodes).has_value(); }

Distribution symmetric_block_cyclic(GridSize tiles, Index nodes) {
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    const auto shape = shape_of(nodes);
    if (!shape)
        throw Error("symmetric block-cyclic needs r(r-1)/2 nodes, or r*r/2 with r even, not {}; {} and {} would fit",
                    nodes, nearest(nodes, -1), nearest(nodes, 1));
    std::vector<std::int32_t> owners;
    owners.reserve(static_cast<std::size_t>(tiles.count()));
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j) owners.push_back(static_cast<std::int32_t>(owner_of(*shape, {i, j})));
    return {tiles, nodes, std::move(owners)};
}

}  // namespace tesela
