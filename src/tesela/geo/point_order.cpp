#include "tesela/geo/point_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace tesela::geo {
namespace {

/// A cell of the cube, which is cut into 2^bits along each side.
template <std::size_t dimensions>
using Cell = std::array<std::uint64_t, dimensions>;

/// 31 in two dimensions and 21 in three, so that a key, which has those of all axes, is below 2⁶³.
template <std::size_t dimensions>
constexpr unsigned bits = 63 / dimensions;

using Axis = std::span<const double>;

/// From the lowest corner of the points' box, as long along every side as the box along its longest, which is not 0.
template <std::size_t dimensions>
struct Cube {
    explicit Cube(std::span<const Axis, dimensions> axes) {
        for (std::size_t d = 0; d < dimensions; ++d) {
            const auto [lowest, highest] = std::ranges::minmax(axes[d]);
            low[d] = lowest;
            side = std::max(side, highest - lowest);
        }
    }

    /// Every step is exact or rounded alike everywhere: no sum of a product that a machine might fuse.
    [[nodiscard]] std::uint64_t cell_along(std::size_t d, double x) const {
        constexpr std::uint64_t cells = std::uint64_t{1} << bits<dimensions>;
        const double fraction = (x - low[d]) / side;
        return std::min(static_cast<std::uint64_t>(fraction * static_cast<double>(cells)), cells - 1);
    }

    std::array<double, dimensions> low{};
    double side = 0;
};

/// Halving a cube along every side makes smaller cubes, each with a smaller copy of the curve that is mirrored or has
/// two axes exchanged, so that its ends meet those of its neighbours. From the largest cubes to the smallest, this
/// turns what is in a cube back: the bits of all axes, interleaved, are then the Gray code of the cell's number on the
/// curve (Skilling, AIP Conference Proceedings 707 (2004) 381).
template <std::size_t dimensions>
void turn_back(Cell<dimensions>& cell) {
    for (unsigned bit = bits<dimensions> - 1; bit > 0; --bit) {
        const std::uint64_t inside = (std::uint64_t{1} << bit) - 1;
        for (std::uint64_t& along : cell) {
            // Masks, since a branch would be guessed wrongly every other time.
            const std::uint64_t upper_half = -((along >> bit) & 1);
            const std::uint64_t exchanged = (cell[0] ^ along) & inside & ~upper_half;
            cell[0] ^= exchanged | (inside & upper_half);
            along ^= exchanged;
        }
    }
}

/// The highest bit of each axis, then the next of each, and so on.
template <std::size_t dimensions>
std::uint64_t interleaved(const Cell<dimensions>& cell) {
    std::uint64_t result = 0;
    for (unsigned bit = bits<dimensions>; bit-- > 0;)
        for (const std::uint64_t along : cell) result = (result << 1) | ((along >> bit) & 1);
    return result;
}

/// The number with this Gray code: each of its bits is the parity of the code's bits from there upwards.
std::uint64_t number_of_gray_code(std::uint64_t code) {
    for (unsigned shift = 1; shift < 64; shift *= 2) code ^= code >> shift;
    return code;
}

/// How many cells the curve passes through before it comes to each point's.
template <std::size_t dimensions>
std::vector<std::uint64_t> hilbert_keys(std::span<const Axis, dimensions> axes) {
    const Cube<dimensions> cube(axes);
    std::vector<std::uint64_t> keys(axes[0].size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        Cell<dimensions> cell;
        for (std::size_t d = 0; d < dimensions; ++d) cell[d] = cube.cell_along(d, axes[d][i]);
        turn_back(cell);
        keys[i] = number_of_gray_code(interleaved(cell));
    }
    return keys;
}

/// The coordinates in which the points differ: points of a plane in space have the curve of the plane.
std::vector<Axis> axes_with_extent(const PointSet& points) {
    std::vector<Axis> axes;
    for (Index d = 0; d < points.dimensions(); ++d) {
        const Axis axis = points.coordinate(d);
        if (std::ranges::any_of(axis, [&](double x) { return x != axis.front(); })) axes.push_back(axis);
    }
    return axes;
}

/// 0, …, n−1 from the lowest key to the highest, equal ones by number.
template <class Key>
std::vector<Index> numbers_by(std::span<const Key> keys) {
    std::vector<std::pair<Key, Index>> sorted;  // keys beside numbers: sorting numbers alone would jump about in memory
    sorted.reserve(keys.size());
    for (const Key key : keys) sorted.emplace_back(key, static_cast<Index>(sorted.size()));
    std::ranges::sort(sorted);
    std::vector<Index> numbers(sorted.size());
    std::ranges::transform(sorted, numbers.begin(), [](const auto& entry) { return entry.second; });
    return numbers;
}

}  // namespace

std::vector<Index> hilbert_order(const PointSet& points) {
    const auto axes = axes_with_extent(points);
    switch (axes.size()) {
        case 0: return numbers_by(points.coordinate(0));
        case 1: return numbers_by(axes[0]);
        case 2: return numbers_by<std::uint64_t>(hilbert_keys(std::span<const Axis, 2>(axes)));
        default: return numbers_by<std::uint64_t>(hilbert_keys(std::span<const Axis, 3>(axes)));
    }
}

}  // namespace tesela::geo
