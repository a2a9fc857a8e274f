#pragma once

#include "tesela/base/index.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tesela {

/// How the tiles of a panel of QR become one triangle. `flat`: one after the other into the first, which is least work.
/// `binary`: each by itself, then by pairs, which is the shortest path. `domains`: some after each other, then by
/// pairs. `automatic`: domains of tiles that a node owns, as many as keep its workers busy, first by pairs within a
/// node and then by pairs of nodes, so that messages on the path are as many as a tree of the nodes is high.
enum class Reduction : std::uint8_t { automatic, flat, binary, domains };

/// A tile of a panel as far as its reduction depends on it.
struct PanelTile {
    Index row = 0;
    NodeId owner{};
    /// Whether a triangle of the panel's columns fits into it; otherwise it is added to another's.
    enum class Height : std::uint8_t { full, less } height = Height::full;
};

struct ReductionRule {
    Reduction reduction = Reduction::automatic;
    Index domain = 4;            ///< tiles of a domain, for `domains`
    Index domains_per_node = 1;  ///< for `automatic`
};

/// The reduction of one panel: rows of tiles by domains, of which the first of each holds the domain's triangle, and
/// then pairs of domains, whose triangles become that of `into`. The last is that of the first domain and row.
struct ReductionTree {
    struct Merge {
        Index into = 0, from = 0;
        Index level = 0;  ///< merges of one level do not depend on each other
        friend bool operator==(const Merge&, const Merge&) = default;
    };
    std::vector<std::vector<Index>> domains;
    std::vector<Merge> merges;

    [[nodiscard]] Index head(Index domain) const { return domains[static_cast<std::size_t>(domain)].front(); }
    /// The most tiles of a domain.
    [[nodiscard]] Index longest_domain() const;
    friend bool operator==(const ReductionTree&, const ReductionTree&) = default;
};

/// The tree for the tiles of a panel from the diagonal on. Throws Error for a domain of no tiles.
[[nodiscard]] ReductionTree reduction_tree(std::span<const PanelTile> tiles, const ReductionRule& rule);

}  // namespace tesela
