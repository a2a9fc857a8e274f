#include "distributions/ranking_bench.hpp"

#include "table.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/progress_line.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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

/// One operation on some nodes: what all families have in common.
class RankedCase {
public:
    RankedCase(const Platform& platform, std::string nodes, Operation operation, const RankingOptions& options)
        : nodes_(std::move(nodes)),
          platform_(choose_nodes(platform, nodes_)),
          free_(without_network(platform_)),
          tiling_(Tiling::square(options.tiles * options.tile, options.tile)),
          recorded_(operation, {.tiles = options.tiles, .nodes = node_count(platform_), .tile = options.tile}),
          times_(platform_times(platform_, operation, options.tile)) {
        request_ = {.workload = {.operation = operation, .density = full_density({options.tiles, options.tiles})},
                    .nodes = node_count(platform_),
                    .powers = update_powers(platform_, options.tile)};
        if (operation == Operation::cholesky) request_.steps = cholesky_constraint(platform_, options.tile);
    }

    [[nodiscard]] std::vector<std::string> families() const { return families_for(request_); }
    [[nodiscard]] Row measure(const std::string& family) const {
        const Distribution owners = make_family(family, request_);
        const double ideal = ideal_time(request_.workload, times_);
        const double steps = step_makespan(owners, request_.workload, times_);
        return {{"kernel", kernel()},
                {"nodes", nodes_},
                {"tiles", tiling_.grid().rows},
                {"family", family},
                {"max_load", summarise_times(node_times(owners, request_.workload, times_), ideal).max_over_ideal},
                {"step_imbalance", step_imbalance(owners, request_.workload, request_.powers)},
                {"steps", steps / ideal},
                {"steps_seconds", steps},
                {"interface_seconds", interface_seconds(owners)},
                {"without_communication", makespan(free_, owners)},
                {"with_communication", makespan(platform_, owners)}};
    }
    [[nodiscard]] std::string_view kernel() const { return name_in(operation_names, request_.workload.operation); }
    [[nodiscard]] const std::string& nodes() const { return nodes_; }

private:
    [[nodiscard]] double makespan(const Platform& platform, const Distribution& owners) const {
        SimulatedEngine engine(platform);
        {
            Stream s(engine);
            run_operation(s, request_.workload.operation, tiling_, owners);
            require_done(s.wait());
        }
        return engine.result().makespan;
    }
    /// What the busiest interface takes for all that it sends or receives.
    [[nodiscard]] double interface_seconds(const Distribution& owners) const {
        const auto bytes = recorded_.transfers(owners).matrix;
        const auto count = static_cast<std::size_t>(request_.nodes);
        double longest = 0;
        for (std::size_t p = 0; p < count; ++p) {
            double sent = 0, received = 0;
            for (std::size_t q = 0; q < count; ++q) {
                sent += bytes[p * count + q];
                received += bytes[q * count + p];
            }
            const double bandwidth = node_type(platform_, NodeId{static_cast<Index>(p)}).nic.bandwidth;
            longest = std::max(longest, std::max(sent, received) / bandwidth);
        }
        return longest;
    }

    std::string nodes_;
    Platform platform_, free_;
    Tiling tiling_;
    RecordedOperation recorded_;
    std::vector<NodeTimes> times_;
    DistributionRequest request_;
};

std::vector<double> column(const std::vector<Row>& rows, const char* name) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(row.at(name).get<double>());
    return values;
}

Json taus(const RankedCase& ranked, const std::vector<Row>& rows) {
    const auto steps = column(rows, "steps_seconds"), interface = column(rows, "interface_seconds");
    const auto alone = column(rows, "without_communication"), with = column(rows, "with_communication");
    std::vector<double> both;
    for (std::size_t r = 0; r < rows.size(); ++r) both.push_back(steps[r] + interface[r]);
    return {{"kernel", ranked.kernel()},
            {"nodes", ranked.nodes()},
            {"tau_of_max_load", kendall_tau(column(rows, "max_load"), alone)},
            {"tau_of_step_imbalance", kendall_tau(column(rows, "step_imbalance"), alone)},
            {"tau_of_steps", kendall_tau(steps, alone)},
            {"tau_of_steps_with_communication", kendall_tau(steps, with)},
            {"tau_of_steps_and_interface_with_communication", kendall_tau(both, with)}};
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
    if (options.nodes.empty() || options.operations.empty()) throw Error("--nodes and --kernel must not be empty");
    std::vector<Row> rows;
    Json cases = Json::array(), checks = Json::array();
    cli::ProgressLine progress;
    for (const std::string& nodes : options.nodes)
        for (const Operation operation : options.operations) {
            const RankedCase ranked(platform, nodes, operation, options);
            std::vector<Row> here;
            for (const std::string& family : ranked.families()) {
                progress.show([&] { return fmt::format("{} on {}: {}", ranked.kernel(), nodes, family); });
                here.push_back(ranked.measure(family));
            }
            rows.insert(rows.end(), here.begin(), here.end());
            const Json& tau = cases.emplace_back(taus(ranked, here));
            if (nodes != options.nodes.front()) continue;
            const auto value = tau.at("tau_of_steps").get<double>();
            checks.push_back({{"bar", fmt::format("{} on {}: Kendall's tau of steps and makespans without "
                                                  "communication, at least",
                                                  ranked.kernel(), nodes)},
                              {"value", value},
                              {"limit", least_tau},
                              {"met", value >= least_tau}});
        }
    if (!options.table.empty()) write_table(options.table, rows, Digits::computed);
    return {{"rows", rows}, {"cases", cases}, {"checks", checks}};
}

std::vector<ComputedTable> ranking_tables() {
    const auto remake = [](const Row& row) {
        const RankingOptions options{.tiles = row.at("tiles").get<Index>()};
        const Operation operation = parse_name(operation_names, row.at("kernel").get<std::string>(), "kernel");
        const RankedCase ranked(cli::read_platform(ranked_platform, ""), row.at("nodes").get<std::string>(), operation,
                                options);
        return ranked.measure(row.at("family").get<std::string>());
    };
    const auto quick = [](const Row& row) {
        return row.at("family").get<std::string>().starts_with("block_cyclic") && row.at("kernel") == "cholesky";
    };
    return {{.file = "ranking.csv", .remake = remake, .quick = quick}};
}

}  // namespace tesela::bench
