#pragma once

#include "tesela/base/index.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace tesela {

/// Which node owns each tile of a grid: a plain value, comparable, the same on every node. Families of distributions
/// are pure functions that return one (distribution/families.hpp).
class Distribution {
public:
    /// No tiles, no nodes.
    Distribution() = default;
    /// Owners row by row. Throws Error unless there are grid.count() of them, each in [0, nodes).
    Distribution(GridSize grid, Index nodes, std::vector<std::int32_t> owners);

    [[nodiscard]] GridSize grid() const { return grid_; }
    [[nodiscard]] Index nodes() const { return nodes_; }
    [[nodiscard]] NodeId owner(TileIndex tile) const { return NodeId{owners_[position(tile)]}; }
    [[nodiscard]] const std::vector<std::int32_t>& owners() const { return owners_; }

    /// The same distribution with one tile given to another node.
    void set_owner(TileIndex tile, NodeId node);
    [[nodiscard]] Distribution transposed() const;

    friend bool operator==(const Distribution&, const Distribution&) = default;

private:
    [[nodiscard]] std::size_t position(TileIndex tile) const {
        return static_cast<std::size_t>(tile.i * grid_.cols + tile.j);
    }
    GridSize grid_{};
    Index nodes_ = 0;
    std::vector<std::int32_t> owners_;
};

/// {"format": "tesela-distribution", "version": 1, "rows", "cols", "nodes", "owners": [[…], …]}
void to_json(nlohmann::json& json, const Distribution& distribution);
/// Throws Error naming the field that is missing or wrong.
void from_json(const nlohmann::json& json, Distribution& distribution);

/// The distribution in which owner_of(i, j) is the number of the node that owns tile (i, j).
template <class OwnerOf>
[[nodiscard]] Distribution tabulate(GridSize tiles, Index nodes, OwnerOf owner_of) {
    std::vector<std::int32_t> owners;
    owners.reserve(static_cast<std::size_t>(tiles.count()));
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j) owners.push_back(static_cast<std::int32_t>(owner_of(i, j)));
    return {tiles, nodes, std::move(owners)};
}

}  // namespace tesela
