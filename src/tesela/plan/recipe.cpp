#include "tesela/plan/recipe.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/generation.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tesela::plan {
namespace {

template <class T>
std::vector<T> at(const std::vector<T>& values, const std::vector<Index>& positions) {
    std::vector<T> result;
    for (const Index position : positions) result.push_back(values[static_cast<std::size_t>(position)]);
    return result;
}

std::vector<Index> nodes_with_power(const std::vector<double>& powers) {
    std::vector<Index> nodes;
    for (std::size_t n = 0; n < powers.size(); ++n)
        if (powers[n] > 0) nodes.push_back(static_cast<Index>(n));
    return nodes;
}

/// The critical paths are the nodes' own; their powers those of the recipe, which add up to the same.
StepConstraint constraint_of(const std::vector<double>& powers, const std::vector<Index>& nodes,
                             const PlannedMatrix& matrix, const Platform& platform) {
    const StepConstraint own = cholesky_constraint(platform, matrix.tile, matrix.ratios);
    StepConstraint result{.step_seconds = at(own.step_seconds, nodes), .powers = powers};
    const std::vector<double> updates = at(own.powers, nodes);
    const double all = std::accumulate(updates.begin(), updates.end(), 0.0);
    const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
    for (double& power : result.powers) power *= all / sum;
    return result;
}

/// Tiles of each node in the first phase.
std::vector<Index> first_counts(const Recipe& recipe, const PlannedMatrix& matrix, const Distribution& second) {
    if (recipe.owners == FirstOwners::shares_of_rows)
        return tile_counts(one_dimensional(matrix.tiles, recipe.first), matrix.stored());
    const std::vector<Index> before = tile_counts(second, matrix.stored());
    return whole_parts(std::accumulate(before.begin(), before.end(), Index{0}), recipe.first);
}

Distribution first_owners(const Recipe& recipe, const PlannedMatrix& matrix, const Distribution& second) {
    if (recipe.owners == FirstOwners::rows_by_turns) return block_cyclic(matrix.tiles, {.p = second.nodes(), .q = 1});
    if (recipe.first.empty()) return second;
    return generation_distribution(second, first_counts(recipe, matrix, second), matrix.stored(), recipe.hand_over);
}

}  // namespace

Distribution on_nodes(const Distribution& distribution, const std::vector<Index>& nodes, Index all) {
    return tabulate(distribution.grid(), all, [&](Index i, Index j) {
        return nodes[static_cast<std::size_t>(distribution.owner({i, j}).number())];
    });
}

PhaseDistributions distributions_of(const Recipe& recipe, const PlannedMatrix& matrix, const Platform& platform) {
    const Index all = node_count(platform);
    if (static_cast<Index>(recipe.second.size()) != all)
        throw Error("a recipe has powers of {} nodes for a platform of {}", recipe.second.size(), all);
    const std::vector<Index> nodes = nodes_with_power(recipe.second);
    DistributionRequest request;
    request.workload.operation = matrix.operation;
    request.workload.density = matrix.density.grid() == matrix.tiles ? matrix.density : full_density(matrix.tiles);
    request.nodes = static_cast<Index>(nodes.size());
    request.powers = at(recipe.second, nodes);
    if (recipe.family == "1d1d_constrained") request.steps = constraint_of(request.powers, nodes, matrix, platform);
    if (recipe.rows) {
        request.rows = recipe.rows;
        request.rows->chain_seconds = at(recipe.rows->chain_seconds, nodes);
    }
    Distribution second = on_nodes(make_family(recipe.family, request), nodes, all);
    Distribution first = first_owners(recipe, matrix, second);
    return {.first = std::move(first), .second = std::move(second)};
}

std::vector<Index> fast_nodes(const Platform& platform, Index tile) {
    const std::vector<double> powers = update_powers(platform, tile);
    struct Partition {
        double power = 0;
        std::vector<Index> nodes;
    };
    std::vector<Partition> partitions;
    Index node = 0;
    for (const NodeType& type : platform.node_types) {
        Partition& partition = partitions.emplace_back();
        for (Index n = 0; n < type.count; ++n, ++node) {
            partition.power += powers[static_cast<std::size_t>(node)];
            partition.nodes.push_back(node);
        }
    }
    std::ranges::stable_sort(partitions, std::greater<>{}, &Partition::power);
    const bool single = partitions.front().nodes.size() == 1 && partitions.size() > 1;
    return partitions[single ? 1 : 0].nodes;
}

}  // namespace tesela::plan
