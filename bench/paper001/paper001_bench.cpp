#include "paper001/paper001_bench.hpp"

#include "distributions/dot_plot.hpp"
#include "table.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/progress_line.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/sim/allocation_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Family {
    std::string name;
    double alpha = 1;
};

/// 𝔅, 𝔇 and ℭ over the ideal; means over the seeds.
struct Metrics {
    double load = 0;
    double dependencies = 0;
    double without_preemption = 0;
    double communications = 0;
};

struct Question {
    Operation operation = Operation::lu;
    Index tiles = 0;
    Index nodes = 0;
};

std::string_view name_of(Operation operation) { return name_in(operation_names, operation); }

Row measure(const Question& q, const Family& family, const Recording& recording, Index seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const DistributionRequest request{
        .workload = {.operation = q.operation, .density = synthetic_density(q.tiles, {.seed = number})},
        .nodes = q.nodes,
        .alpha = family.alpha,
        .seed = number};
    const Distribution owners = make_family(family.name, request);
    const AllocationMetrics metrics(recording, request.workload);
    const double ideal = metrics.ideal(q.nodes);
    const auto submit = [&](Stream& s, const Tiling& tiling) { run_operation(s, q.operation, tiling, owners); };
    return {{"kernel", name_of(q.operation)},
            {"tiles", q.tiles},
            {"nodes", q.nodes},
            {"family", family.name},
            {"alpha", family.alpha},
            {"seed", seed},
            {"load", metrics.load(owners) / ideal},
            {"dependencies", metrics.dependency_makespan(owners, Preemption::allowed) / ideal},
            {"dependencies_without_preemption", metrics.dependency_makespan(owners, Preemption::none) / ideal},
            {"communications", communication_makespan(request.workload, q.nodes, {}, submit) / ideal}};
}

Metrics metrics_of(const Row& mean) {
    return {.load = mean.at("load").get<double>(),
            .dependencies = mean.at("dependencies").get<double>(),
            .without_preemption = mean.at("dependencies_without_preemption").get<double>(),
            .communications = mean.at("communications").get<double>()};
}

/// Tables, pictures and progress of one run.
class Report {
public:
    explicit Report(const Paper001Options& options) : options_(options) {}

    Metrics add(const Question& q, const Family& family, const Recording& recording) {
        std::vector<Row> rows;
        for (Index seed = 0; seed < options_.seeds; ++seed) rows.push_back(measure(q, family, recording, seed));
        rows_.insert(rows_.end(), rows.begin(), rows.end());
        progress_.show([&] {
            return fmt::format("{} N = {} P = {} {} alpha = {}", name_of(q.operation), q.tiles, q.nodes, family.name,
                               family.alpha);
        });
        return metrics_of(means(rows).front());
    }
    /// A row per seed, and beside it NAME_means.csv.
    void table(const std::string& name) {
        const auto rows = std::exchange(rows_, {});
        write_table(file(name + ".csv"), rows, Digits::computed);
        write_table(file(name + "_means.csv"), means(rows), Digits::computed);
    }
    void picture(const std::string& name, const DotPlot& plot) { write_file(file(name), draw_dots(plot)); }
    void at_most(const std::string& bar, double value, double limit) {
        checks_.push_back({{"bar", bar}, {"value", value}, {"limit", limit}, {"met", value <= limit}});
    }
    [[nodiscard]] Json result() const { return {{"checks", checks_}, {"files", files_}}; }

private:
    static std::vector<Row> means(const std::vector<Row>& rows) {
        return means_over_seeds(rows, {"kernel", "tiles", "nodes", "family", "alpha"});
    }
    std::string file(const std::string& name) {
        return files_.emplace_back(options_.folder + "/" + name).get<std::string>();
    }
    cli::ProgressLine progress_;
    const Paper001Options& options_;
    std::vector<Row> rows_;
    Json checks_ = Json::array();
    Json files_ = Json::array();
};

/// B, D and C are the paper's metrics: load, dependencies, communications.
const std::vector<std::string> series{"block-cyclic B", "block-cyclic D", "block-cyclic C", "bce B", "bce D",
                                      "bce C",          "rs B",           "rs D",           "rs C"};

void add_dots(DotPanel& panel, int place, int family, const Metrics& m) {
    panel.dots.push_back({place, 3 * family, m.load});
    panel.dots.push_back({place, 3 * family + 1, m.dependencies});
    panel.dots.push_back({place, 3 * family + 2, m.communications});
}

std::vector<Index> sizes(const Paper001Options& options) {
    std::vector<Index> result;
    for (const Index tiles : {30, 60, 90})
        if (tiles <= options.largest) result.push_back(tiles);
    return result;
}

/// Figures 4 (product) and 5 (LU): P = c(c - 1), so that every strategy can use all nodes.
void figures4and5(Report& report, const Paper001Options& options) {
    const std::vector<Index> all_sizes = sizes(options);
    constexpr std::array<Index, 3> node_counts{12, 30, 90};
    constexpr std::array<double, 3> alphas{1, 2, 3};
    double product_gap = 0;
    for (const Operation operation : {Operation::product, Operation::lu}) {
        std::array<std::array<DotPanel, 3>, 3> panels;
        for (std::size_t n = 0; n < all_sizes.size(); ++n) {
            const Index tiles = all_sizes[n];
            const RecordedOperation recorded(operation, {.tiles = tiles, .nodes = 90, .tile = 960});
            for (std::size_t p = 0; p < 3; ++p) {
                const Question q{operation, tiles, node_counts[p]};
                const Metrics bc = report.add(q, {"block_cyclic:rule", 1}, recorded.recording());
                for (std::size_t a = 0; a < 3; ++a) {
                    const Metrics bce = report.add(q, {"bce", alphas[a]}, recorded.recording());
                    const Metrics rs = report.add(q, {"rs", alphas[a]}, recorded.recording());
                    DotPanel& panel = panels[p][a];
                    panel.title = fmt::format("P = {}, alpha = {}", node_counts[p], alphas[a]);
                    for (int family = 0; family < 3; ++family)
                        add_dots(panel, static_cast<int>(n), family, family == 0 ? bc : family == 1 ? bce : rs);
                    if (operation == Operation::product)
                        product_gap = std::max({product_gap, bce.dependencies - bce.load, rs.dependencies - rs.load});
                }
            }
        }
        DotPlot plot{.title = fmt::format(
                         "Paper 001, figure {}: {} over ideal: load B, with dependencies D, with communications C",
                         operation == Operation::lu ? 5 : 4, name_of(operation)),
                     .y_label = "over ideal",
                     .series = series,
                     .group = 3,
                     .places = {},
                     .panels = {},
                     .top = 1.4};
        for (const Index tiles : all_sizes) plot.places.push_back(fmt::format("N = {}", tiles));
        for (auto& row : panels)
            for (DotPanel& panel : row) plot.panels.push_back(std::move(panel));
        report.picture(fmt::format("paper001_makespans_{}.svg", name_of(operation)), plot);
    }
    report.table("paper001_makespans");
    report.at_most("product: dependencies over load, largest difference of all cases", product_gap, 1e-6);
}

/// Figure 8: 34 nodes, which fit no grid.
void figure8(Report& report, const Paper001Options& options) {
    // 132 cells are four for each of 33 nodes: the paper leaves one idle. On all 34 they are uneven.
    const std::vector<Family> families{
        {"block_cyclic:rule", 1}, {"bce:10x12", 2}, {"bce:12x11/33", 2}, {"bce:12x11", 2},
        {"bce:12x12", 2},         {"rs", 2},        {"hybrid", 2}};
    DotPlot plot{.title = "Paper 001, figure 8: 34 nodes. bce: a 10x12, b 12x11 on 33 nodes, c 12x11, d 12x12",
                 .y_label = "over ideal",
                 .series = {"load B", "with dependencies D", "with communications C"},
                 .places = {"bc", "a", "b", "c", "d", "rs", "hybrid"},
                 .panels = {},
                 .top = 1.3};
    for (const Operation operation : {Operation::product, Operation::lu})
        for (const Index tiles : sizes(options)) {
            const RecordedOperation recorded(operation, {.tiles = tiles, .nodes = 34, .tile = 960});
            DotPanel panel{.title = fmt::format("{}, N = {}", name_of(operation), tiles), .dots = {}};
            for (int f = 0; f < static_cast<int>(families.size()); ++f)
                add_dots(
                    panel, f, 0,
                    report.add({operation, tiles, 34}, families[static_cast<std::size_t>(f)], recorded.recording()));
            plot.panels.push_back(std::move(panel));
        }
    report.picture("paper001_makespans34.svg", plot);
    report.table("paper001_makespans34");
}

}  // namespace

Json paper001_benchmark(const Paper001Options& options) {
    if (options.seeds < 1) throw Error("--seeds must be at least 1; it is {}", options.seeds);
    if (options.largest < 30)
        throw Error("the smallest of the paper's sizes is 30 tiles; --largest is {}", options.largest);
    const auto wanted = [&](int figure) { return std::ranges::find(options.figures, figure) != options.figures.end(); };
    for (const int figure : options.figures)
        if (figure != 4 && figure != 5 && figure != 8) throw Error("figures 4, 5 and 8 can be made, not {}", figure);
    Report report(options);
    if (wanted(4) || wanted(5)) figures4and5(report, options);
    if (wanted(8)) figure8(report, options);
    return report.result();
}

}  // namespace tesela::bench
