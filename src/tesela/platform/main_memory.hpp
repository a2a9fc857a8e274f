#pragma once

#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// Bytes of main memory that a platform does not give: nodes of the type are not bounded by it.
inline constexpr double unknown_memory = 0;

/// What a node needs memory for: the tiles that it owns, or, at the peak of a run, copies of others' too.
enum class NeededFor : std::uint8_t { tiles, tiles_and_copies };

/// A node that needs more main memory than it has.
struct MemoryShortage {
    Index node = 0;
    std::string type;
    double needed = 0;
    double available = 0;
    NeededFor what = NeededFor::tiles;

    /// How many times as much as there is would be needed.
    [[nodiscard]] double ratio() const { return needed / available; }
};
/// "node 1 (slow) needs 7.84 GiB for its tiles and has 4.00 GiB"
[[nodiscard]] std::string describe(const MemoryShortage& shortage);

/// The nodes that these bytes do not fit into, in the order of their numbers.
[[nodiscard]] std::vector<MemoryShortage> memory_shortages(const Platform& platform, std::span<const double> needed,
                                                           NeededFor what);

/// Bytes of all nodes together; infinity where one of them is not bounded.
[[nodiscard]] double total_memory(const Platform& platform);

}  // namespace tesela
