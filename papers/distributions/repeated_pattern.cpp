#include "distributions/repeated_pattern.hpp"

#include "tesela/distribution/extended_block_cyclic.hpp"
#include "tesela/distribution/families.hpp"

#include <algorithm>

namespace tesela::bench {

std::optional<Distribution> repeated_pattern(std::string_view family, const TileMap& weights, Index nodes,
                                             double alpha) {
    if (family == "block_cyclic:rule") {
        Index cols = 1;
        while (cols * (cols + 1) <= nodes) ++cols;
        return rule_block_cyclic({std::max<Index>(cols - 1, 1), cols}, nodes);
    }
    if (family == "bce") return extended_pattern(weights, {.nodes = nodes, .alpha = alpha});
    return std::nullopt;
}

}  // namespace tesela::bench
