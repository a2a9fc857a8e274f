#include "distributions/ranking_bench.hpp"

#include "table.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/progress_line.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double least_tau = 0.8;

/// The same nodes on a network that takes no time.
Platform without_network(Platform platform) {
    for (NodeType& type : platform.node_types) {
        type.nic = {.bandwidth = 1e30, .latency = 0};
        type.subnet.clear();
    }
    platform.subnets.clear();
    return platform;
}

double makespan(const Platform& platform, const RankingOptions& options, const Distribution& owners) {
    SimulatedEngine engine(platform);
    {
        Stream s(engine);
        run_operation(s, options.operation, Tiling::square(options.tiles * options.tile, options.tile), owners);
        s.wait();
    }
    return engine.result().makespan;
}

std::vector<double> column(const Json& rows, const char* name) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(row.at(name).get<double>());
    return values;
}

}  // namespace

double kendall_tau(const std::vector<double>& a, const std::vector<double>& b) {
    double same = 0, pairs_a = 0, pairs_b = 0;
    const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = i + 1; j < a.size(); ++j) {
            const double in_a = sign(a[i] - a[j]), in_b = sign(b[i] - b[j]);
            same += in_a * in_b;
            pairs_a += in_a * in_a;
            pairs_b += in_b * in_b;
        }
    return pairs_a > 0 && pairs_b > 0 ? same / std::sqrt(pairs_a * pairs_b) : 0;
}

Json ranking_benchmark(const Platform& platform, const RankingOptions& options) {
    if (options.tiles < 1 || options.tile < 1) throw Error("--tiles and --tile must be at least 1");
    DistributionRequest request{
        .workload = {.operation = options.operation, .density = full_density({options.tiles, options.tiles})},
        .nodes = node_count(platform),
        .powers = update_powers(platform, options.tile)};
    if (options.operation == Operation::cholesky) request.steps = cholesky_constraint(platform, options.tile);
    const Platform free = without_network(platform);
    Json rows = Json::array();
    cli::ProgressLine progress;
    const auto families = families_for(request);
    for (const std::string& family : families) {
        const Distribution owners = make_family(family, request);
        const LoadSummary load = summarise_loads(node_loads(owners, tile_weights(request.workload)), request.powers);
        rows.push_back({{"family", family},
                        {"max_load", load.max_over_ideal},
                        {"steps", step_imbalance(owners, request.workload, request.powers)},
                        {"without_communication", makespan(free, options, owners)},
                        {"with_communication", makespan(platform, options, owners)}});
        progress.show("families", static_cast<Index>(rows.size()), static_cast<Index>(families.size()));
    }
    if (!options.table.empty()) write_table(options.table, {rows.begin(), rows.end()}, Digits::computed);
    Json result{{"rows", rows}};
    for (const char* figure : {"max_load", "steps"})
        for (const char* run : {"without_communication", "with_communication"})
            result[fmt::format("tau_of_{}_{}", figure, run)] = kendall_tau(column(rows, figure), column(rows, run));
    const double tau = result.at("tau_of_steps_without_communication").get<double>();
    result["checks"] = {{{"bar", "Kendall's tau of steps and makespans without communication, at least"},
                         {"value", tau},
                         {"limit", least_tau},
                         {"met", tau >= least_tau}}};
    return result;
}

}  // namespace tesela::bench
