#include "experiments.hpp"
#include "harness/choice.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::bench {
namespace {

struct RankingOptions {
    Index tiles = 60;
    std::vector<std::string> kernels{"cholesky", "lu", "gemm"};
    std::string platform = "grid5000-lille";
    std::vector<std::string> nodes{"6che+6chi+2cho", "4che+4chi", "2chi+1cho"};  ///< of the platform
    std::string table;
};

void add_ranking_options(CLI::App& command, RankingOptions& options) {
    comma_separated(command.add_option("--kernel", options.kernels, "Operations"))
        ->check(CLI::IsMember(options.kernels));
    command.add_option("--platform", options.platform, "A platform file, or the name of a ready-made platform")
        ->capture_default_str();
    comma_separated(command.add_option("--nodes", options.nodes,
                                       "Nodes of the platform to use, by number and type: one choice or more"));
    command.add_option("--tiles", options.tiles, "Tile rows (and columns) of the matrix")->capture_default_str();
    command.add_option("--table", options.table, "CSV file to write the rows to");
}

constexpr Index ranked_tile = 960;
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
    RankedCase(const Platform& platform, std::string nodes, Operation operation, Index tiles)
        : nodes_(std::move(nodes)),
          platform_(choose_nodes(platform, nodes_)),
          free_(without_network(platform_)),
          tiling_(Tiling::square(tiles * ranked_tile, ranked_tile)),
          recorded_(operation, {.tiles = tiles, .nodes = node_count(platform_), .tile = ranked_tile}),
          times_(platform_times(platform_, operation, ranked_tile)) {
        request_ = {.workload = {.operation = operation, .density = full_density({tiles, tiles})},
                    .nodes = node_count(platform_),
                    .powers = update_powers(platform_, ranked_tile)};
        if (operation == Operation::cholesky) request_.steps = cholesky_constraint(platform_, ranked_tile);
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

std::vector<double> ranked_column(const std::vector<Row>& rows, const char* name) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(row.at(name).get<double>());
    return values;
}

/// Kendall's τ-b of two lists of the same length: 1 where they order alike, -1 where one is the other's reverse.
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

Row taus_of(const RankedCase& ranked, const std::vector<Row>& rows) {
    const auto steps = ranked_column(rows, "steps_seconds"), interface = ranked_column(rows, "interface_seconds");
    const auto alone = ranked_column(rows, "without_communication"), with = ranked_column(rows, "with_communication");
    std::vector<double> both;
    for (std::size_t r = 0; r < rows.size(); ++r) both.push_back(steps[r] + interface[r]);
    return {{"kernel", ranked.kernel()},
            {"nodes", ranked.nodes()},
            {"tau_of_max_load", kendall_tau(ranked_column(rows, "max_load"), alone)},
            {"tau_of_step_imbalance", kendall_tau(ranked_column(rows, "step_imbalance"), alone)},
            {"tau_of_steps", kendall_tau(steps, alone)},
            {"tau_of_steps_with_communication", kendall_tau(steps, with)},
            {"tau_of_steps_and_interface_with_communication", kendall_tau(both, with)}};
}

/// For each operation and choice of nodes a row per family: its figures, and makespans simulated without and with
/// communication; and in "cases" τ of max_load, of step_imbalance (each step waits for the one before) and of steps
/// with the makespans without communication; of steps, and of steps with the time of the busiest interface added, with
/// those with communication. The bar is τ ≥ 0.8 of steps without communication on the first choice of nodes.
Report rank_families(const RankingOptions& options) {
    if (options.tiles < 1) throw Error("--tiles must be at least 1");
    if (options.nodes.empty() || options.kernels.empty()) throw Error("--nodes and --kernel must not be empty");
    const Platform platform = read_platform(options.platform, "");
    Report report;
    Row cases = Row::array();
    ProgressLine progress;
    for (const std::string& nodes : options.nodes)
        for (const std::string& kernel : options.kernels) {
            const RankedCase ranked(platform, nodes, parse_name(operation_names, kernel, "--kernel"), options.tiles);
            std::vector<Row> here;
            for (const std::string& family : ranked.families()) {
                progress.show([&] { return fmt::format("{} on {}: {}", kernel, nodes, family); });
                here.push_back(ranked.measure(family));
            }
            report.rows.insert(report.rows.end(), here.begin(), here.end());
            const Row& tau = cases.emplace_back(taus_of(ranked, here));
            if (nodes == options.nodes.front())
                report.checks.push_back(at_least(
                    fmt::format("{} on {}: Kendall's tau of steps and makespans without communication, at least",
                                kernel, nodes),
                    tau.at("tau_of_steps").get<double>(), least_tau));
        }
    report.figures["cases"] = cases;
    if (!options.table.empty()) write_table(options.table, report.rows, Digits::computed);
    return report;
}

}  // namespace

Experiment ranking() {
    return experiment("ranking",
                      "Whether the figures of tesela dist compare order the families of distributions as simulated "
                      "runs do; exit code 1 if steps does not on the first of --nodes",
                      add_ranking_options, rank_families);
}

/// ranking.csv, made with the defaults.
std::vector<ComputedTable> ranking_tables() {
    const auto remake = [](const Row& row) {
        const Operation operation = parse_name(operation_names, row.at("kernel").get<std::string>(), "kernel");
        const RankedCase ranked(read_platform(RankingOptions().platform, ""), row.at("nodes").get<std::string>(),
                                operation, row.at("tiles").get<Index>());
        return ranked.measure(row.at("family").get<std::string>());
    };
    const auto quick = [](const Row& row) {
        return row.at("family").get<std::string>().starts_with("block_cyclic") && row.at("kernel") == "cholesky";
    };
    return {{.file = "ranking.csv", .remake = remake, .quick = quick}};
}

}  // namespace tesela::bench
