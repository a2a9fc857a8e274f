#pragma once

#include <compare>
#include <cstdint>

namespace tesela {

/// A count or a coordinate: always global, always 64-bit.
using Index = std::int64_t;

/// Row and column of a tile in the tile grid of a matrix.
struct TileIndex {
    Index i = 0;
    Index j = 0;
    friend auto operator<=>(const TileIndex&, const TileIndex&) = default;
};

/// Row and column of an element of a matrix. A different type from TileIndex, so that the two cannot be mixed up.
struct ElementIndex {
    Index i = 0;
    Index j = 0;
    friend auto operator<=>(const ElementIndex&, const ElementIndex&) = default;
};

/// A node: a machine, or one of the processes of a parallel run, that owns tiles. Numbered from 0.
class NodeId {
public:
    constexpr NodeId() = default;
    constexpr explicit NodeId(Index number) : number_(number) {}
    [[nodiscard]] constexpr Index number() const { return number_; }
    friend auto operator<=>(const NodeId&, const NodeId&) = default;

private:
    Index number_ = 0;
};

/// Rows and columns of a grid (of tiles or of nodes).
struct GridSize {
    Index rows = 0;
    Index cols = 0;
    [[nodiscard]] constexpr Index count() const { return rows * cols; }
    friend auto operator<=>(const GridSize&, const GridSize&) = default;
};

/// The least integer q with q * divisor >= value; both positive.
[[nodiscard]] constexpr Index ceil_div(Index value, Index divisor) { return (value + divisor - 1) / divisor; }

}  // namespace tesela
