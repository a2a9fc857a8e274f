#include "tesela/distribution/distribution.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/whole_number.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace tesela {
namespace {

constexpr const char* format_name = "tesela-distribution";
constexpr int format_version = 1;

/// As many as a platform may have: whoever measures a distribution makes room for every node.
constexpr Index most_nodes = 1'000'000;
constexpr Index most_columns_of_no_rows = 1'000'000;

Index integer_field(const nlohmann::json& json, const char* field) {
    const auto found = json.find(field);
    const auto number = found == json.end() ? std::nullopt : whole_number(*found);
    if (!number) throw Error("a distribution needs the whole number \"{}\"", field);
    return *number;
}

Index nodes_field(const nlohmann::json& json) {
    const Index nodes = integer_field(json, "nodes");
    if (nodes > most_nodes) throw Error("\"nodes\" must be at most {}; it is {}", most_nodes, nodes);
    return nodes;
}

/// Without rows there is nothing in the file that bears out the number of columns.
GridSize grid_fields(const nlohmann::json& json) {
    const GridSize grid{integer_field(json, "rows"), integer_field(json, "cols")};
    if (grid.rows == 0 && grid.cols > most_columns_of_no_rows)
        throw Error("\"cols\" must be at most {} where \"rows\" is 0; it is {}", most_columns_of_no_rows, grid.cols);
    return grid;
}

std::int32_t owner_among(Index nodes, const nlohmann::json& json) {
    const auto owner = whole_number(json);
    if (!owner) throw Error("\"owners\" holds something that is not a whole number");
    if (*owner < 0 || *owner >= nodes) throw Error("owner {} is not one of the {} nodes", *owner, nodes);
    return static_cast<std::int32_t>(*owner);
}

void check_header(const nlohmann::json& json) {
    if (!json.is_object() || !json.contains("format") || json.at("format") != format_name)
        throw Error("this is not a distribution: \"format\" must be \"{}\"", format_name);
    const Index version = integer_field(json, "version");
    if (version != format_version)
        throw Error("distribution version {} is not known; this program reads version {}", version, format_version);
}

}  // namespace

Distribution::Distribution(GridSize grid, Index nodes, std::vector<std::int32_t> owners)
    : grid_(grid),
      nodes_(nodes),
      owners_(std::move(owners)) {
    if (grid.rows < 0 || grid.cols < 0) throw Error("a grid of {}x{} tiles does not exist", grid.rows, grid.cols);
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    if (static_cast<Index>(owners_.size()) != grid.count())
        throw Error("a grid of {}x{} tiles needs {} owners; there are {}", grid.rows, grid.cols, grid.count(),
                    owners_.size());
    for (const auto owner : owners_)
        if (owner < 0 || owner >= nodes) throw Error("owner {} is not one of the {} nodes", owner, nodes);
}

void Distribution::set_owner(TileIndex tile, NodeId node) {
    if (node.number() < 0 || node.number() >= nodes_)
        throw Error("owner {} is not one of the {} nodes", node.number(), nodes_);
    owners_[position(tile)] = static_cast<std::int32_t>(node.number());
}

Distribution Distribution::transposed() const {
    Distribution result = *this;
    result.grid_ = {grid_.cols, grid_.rows};
    for (Index i = 0; i < grid_.rows; ++i)
        for (Index j = 0; j < grid_.cols; ++j) result.owners_[result.position({j, i})] = owners_[position({i, j})];
    return result;
}

void to_json(nlohmann::json& json, const Distribution& distribution) {
    auto rows = nlohmann::json::array();
    const GridSize grid = distribution.grid();
    for (Index i = 0; i < grid.rows; ++i) {
        auto row = nlohmann::json::array();
        for (Index j = 0; j < grid.cols; ++j) row.push_back(distribution.owner({i, j}).number());
        rows.push_back(std::move(row));
    }
    json = {{"format", format_name}, {"version", format_version},     {"rows", grid.rows},
            {"cols", grid.cols},     {"nodes", distribution.nodes()}, {"owners", std::move(rows)}};
}

void from_json(const nlohmann::json& json, Distribution& distribution) {
    check_header(json);
    const GridSize grid = grid_fields(json);
    const Index nodes = nodes_field(json);
    const auto rows = json.find("owners");
    if (rows == json.end() || !rows->is_array() || static_cast<Index>(rows->size()) != grid.rows)
        throw Error("\"owners\" must be a list of {} rows", grid.rows);
    std::vector<std::int32_t> owners;
    for (const auto& row : *rows) {
        if (!row.is_array() || static_cast<Index>(row.size()) != grid.cols)
            throw Error("each row of \"owners\" must have {} numbers", grid.cols);
        for (const auto& owner : row) owners.push_back(owner_among(nodes, owner));
    }
    distribution = Distribution(grid, nodes, std::move(owners));
}

}  // namespace tesela
