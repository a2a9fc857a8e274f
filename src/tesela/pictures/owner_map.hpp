#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tesela {

/// A distribution to be drawn: which node owns each tile, and how the load is shared.
struct OwnerMap {
    std::string title;
    Distribution distribution;
    Stored stored = Stored::full;      ///< tiles that are not stored stay blank
    std::vector<double> loads;         ///< of each node, for the bars
    std::vector<double> ideal;         ///< what each node should have, a mark on its bar; none: no marks
    std::vector<std::string> names{};  ///< of the nodes, for the legend; none: their numbers
};

/// An SVG picture: tiles in colours that can be told apart with any colour vision (and, where they are large enough,
/// with the node's number in them, since with many nodes colours repeat), and a bar per node that is legend and load
/// at once. Throws Error where loads, ideal or names do not fit the nodes.
[[nodiscard]] std::string draw_owner_map(const OwnerMap& map);

/// How a terminal is written to.
struct TerminalStyle {
    enum class Colours : std::uint8_t { none, true_colour };
    Colours colours = Colours::true_colour;
    Index columns = 80;
};

/// The same as text: a block of two characters per tile, or of half a character where the map is wide, every k-th tile
/// where it is wider still; without colours the numbers of the nodes.
[[nodiscard]] std::string print_owner_map(const OwnerMap& map, const TerminalStyle& style);

}  // namespace tesela
