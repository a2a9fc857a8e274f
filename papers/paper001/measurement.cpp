#include "paper001/measurement.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/sim/allocation_metrics.hpp"

namespace tesela::bench {

DrawnMatrices::DrawnMatrices(Operation operation, Index tiles, const Seeds& seeds)
    : operation_(operation),
      tiles_(tiles),
      seeds_(seeds) {
    for (Index number = 0; number < seeds.count; ++number) {
        const auto seed = static_cast<std::uint64_t>(seeds.first + number);
        workloads_.push_back({.operation = operation, .density = synthetic_density(tiles, {.seed = seed})});
        if (operation != Operation::product) orders_.push_back(by_longest_path(workloads_.back()));
    }
}

DistributionRequest DrawnMatrices::request(Index number, Index nodes, const Family& family) const {
    return {.workload = workloads_[static_cast<std::size_t>(number)],
            .nodes = nodes,
            .alpha = family.alpha,
            .seed = static_cast<std::uint64_t>(seeds_.first + number)};
}

double DrawnMatrices::dependency_makespan(Index number, const Distribution& owners) const {
    const Workload& workload = workloads_[static_cast<std::size_t>(number)];
    const std::vector<NodeTimes> nodes = times_by_power(workload.costs, owners.nodes());
    if (operation_ == Operation::product) return step_makespan(owners, workload, nodes);
    return step_makespan(owners, workload, nodes, orders_[static_cast<std::size_t>(number)]);
}

Row DrawnMatrices::measure_one(Index number, Index nodes, const Family& family) const {
    const DistributionRequest asked = request(number, nodes, family);
    const Distribution owners = make_family(family.name, asked);
    const TileMap weights = tile_weights(asked.workload);
    const double ideal = weights.total() / static_cast<double>(nodes);
    const auto submit = [&](Stream& s, const Tiling& tiling) { run_operation(s, operation_, tiling, owners); };
    return {{"kernel", name_of(operation_)},
            {"tiles", tiles_},
            {"nodes", nodes},
            {"family", family.name},
            {"alpha", family.alpha},
            {"seed", seeds_.first + number},
            {"load", summarise_loads(node_loads(owners, weights)).max_over_ideal},
            {"dependencies", dependency_makespan(number, owners) / ideal},
            {"communications", communication_makespan(asked.workload, nodes, {}, submit) / ideal}};
}

std::vector<Row> DrawnMatrices::measure(Index nodes, const Family& family) const {
    std::vector<Row> rows;
    for (Index number = 0; number < seeds_.count; ++number) rows.push_back(measure_one(number, nodes, family));
    return rows;
}

std::vector<std::string> case_columns() { return {"kernel", "tiles", "nodes", "family", "alpha"}; }

std::vector<Row> case_means(const std::vector<Row>& rows) { return means_over_seeds(rows, case_columns()); }

std::string_view name_of(Operation operation) { return name_in(operation_names, operation); }

}  // namespace tesela::bench
