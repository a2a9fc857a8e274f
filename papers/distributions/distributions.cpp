#include "distributions/dot_plot.hpp"
#include "distributions/repeated_pattern.hpp"
#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/output_folder.hpp"

#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/band.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/extended_block_cyclic.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/step_schedule.hpp"
#include "tesela/pictures/owner_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>

namespace tesela::bench {
namespace {

const std::vector<std::string> load_case_columns{"kernel", "tiles", "nodes", "alpha", "deviation", "family"};

/// What is collected on the way: files written and bars checked.
struct DistributionFiles {
    OutputFolder folder;
    std::vector<Check> checks{};

    void table(const std::string& name, const std::vector<Row>& rows) {
        folder.table(name + ".csv", rows, Digits::computed);
    }
    /// A row per seed, and beside it NAME_means.csv.
    void table_of_seeds(const std::string& name, const std::vector<Row>& rows) {
        table(name, rows);
        table(name + "_means", means_over_seeds(rows, load_case_columns));
    }
};

std::string_view kernel_name(Operation operation) { return name_in(operation_names, operation); }

struct LoadCase {
    Operation operation = Operation::product;
    Index tiles = 0;
    Index nodes = 0;
    double alpha = 1;
    double deviation = 0.05;
    std::string family;
};

/// One case over all seeds: means, and for the load the extremes.
struct LoadOutcome {
    double least_load = 1e300, mean_load = 0, most_load = 0;
    double steps = 0;
};

/// The makespan without communication, over the ideal.
double steps_over_ideal(const Distribution& d, const Workload& workload) {
    const auto nodes = times_by_power(workload.costs, d.nodes());
    return step_makespan(d, workload, nodes) / ideal_time(workload, nodes);
}

Row load_row(const LoadCase& c, Index seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const DistributionRequest request{
        .workload = {.operation = c.operation,
                     .density = synthetic_density(c.tiles, {.deviation = c.deviation, .seed = number})},
        .nodes = c.nodes,
        .alpha = c.alpha,
        .seed = number};
    const TileMap weights = tile_weights(request.workload);
    const Distribution d = make_family(c.family, request);
    const LoadSummary load = summarise_loads(node_loads(d, weights));
    const auto pattern = repeated_pattern(c.family, weights, c.nodes, c.alpha);
    return {{"kernel", kernel_name(c.operation)},
            {"tiles", c.tiles},
            {"nodes", c.nodes},
            {"alpha", c.alpha},
            {"deviation", c.deviation},
            {"family", c.family},
            {"seed", seed},
            {"max_load", load.max_over_ideal},
            {"steps", steps_over_ideal(d, request.workload)},
            {"step_imbalance", step_imbalance(d, request.workload)},
            {"dispersion", load.dispersion},
            // of the cells of the pattern, for the families that have one
            {"virtual_dispersion", pattern ? Row(dispersion(pattern_loads(weights, pattern->grid()))) : Row()},
            {"nodes_per_line", std::max(std::ranges::max(nodes_per_row(d)), std::ranges::max(nodes_per_column(d)))}};
}

Row load_row_again(const Row& row) {
    const LoadCase c{.operation = parse_name(operation_names, row.at("kernel").get<std::string>(), "kernel"),
                     .tiles = row.at("tiles").get<Index>(),
                     .nodes = row.at("nodes").get<Index>(),
                     .alpha = row.at("alpha").get<double>(),
                     .deviation = row.at("deviation").get<double>(),
                     .family = row.at("family").get<std::string>()};
    return load_row(c, row.at("seed").get<Index>());
}

/// Adds a row for each seed to the table.
LoadOutcome load_over_seeds(const LoadCase& c, Index seeds, std::vector<Row>& table) {
    LoadOutcome outcome;
    for (Index seed = 0; seed < seeds; ++seed) {
        const Row& row = table.emplace_back(load_row(c, seed));
        const auto load = row.at("max_load").get<double>();
        outcome.least_load = std::min(outcome.least_load, load);
        outcome.most_load = std::max(outcome.most_load, load);
        outcome.mean_load += load / static_cast<double>(seeds);
        outcome.steps += row.at("steps").get<double>() / static_cast<double>(seeds);
    }
    return outcome;
}

constexpr std::array<Index, 3> load_sizes{30, 60, 90};
constexpr std::array<Index, 3> load_node_counts{12, 30, 90};
constexpr std::array<double, 3> load_alphas{1, 2, 3};
const std::vector<std::string> load_families{"block_cyclic:rule", "bce", "rs", "hybrid"};

/// Figures 4 to 7 of paper 001, for both readings of its N(0, 1/20): deviation 0.05, and variance (0.2236).
void paper001_loads(DistributionFiles& files, Index seeds) {
    std::vector<Row> rows;
    double worst_rs = 0, worst_bce = 0;
    for (const auto operation : {Operation::product, Operation::lu}) {
        DotPlot plot{.title = fmt::format(
                         "Paper 001, {}: largest load over ideal, mean of the seeds (hollow: above the picture)",
                         kernel_name(operation)),
                     .y_label = "max load / ideal",
                     .series = load_families,
                     .places = {"N = 30", "N = 60", "N = 90"},
                     .panels = {}};
        for (const Index nodes : load_node_counts)
            for (const double alpha : load_alphas) {
                DotPanel panel{.title = fmt::format("P = {}, alpha = {}", nodes, alpha), .dots = {}};
                for (int n = 0; n < static_cast<int>(load_sizes.size()); ++n)
                    for (int f = 0; f < static_cast<int>(load_families.size()); ++f)
                        for (const double deviation : {0.05, 0.2236}) {
                            const LoadCase c{.operation = operation,
                                             .tiles = load_sizes[static_cast<std::size_t>(n)],
                                             .nodes = nodes,
                                             .alpha = alpha,
                                             .deviation = deviation,
                                             .family = load_families[static_cast<std::size_t>(f)]};
                            const LoadOutcome o = load_over_seeds(c, seeds, rows);
                            if (deviation != 0.05) continue;
                            panel.dots.push_back({n, f, o.mean_load});
                            const bool large = c.tiles * c.tiles >= 100 * nodes;
                            if (operation == Operation::product && c.family == "rs" && alpha == 3 && large)
                                worst_rs = std::max(worst_rs, o.most_load);
                            if (operation == Operation::lu && c.family == "bce" && alpha == 3)
                                worst_bce = std::max(worst_bce, o.most_load);
                        }
                plot.panels.push_back(std::move(panel));
            }
        files.folder.picture(fmt::format("paper001_loads_{}.svg", kernel_name(operation)), draw_dots(plot));
    }
    files.table_of_seeds("paper001_loads", rows);
    files.checks.push_back(at_most("rs, product, alpha = 3, N^2/P >= 100: worst load over ideal", worst_rs, 1.001));
    files.checks.push_back(at_most("bce, LU, alpha = 3: worst load over ideal", worst_bce, 1.015));
}

void paper001_figure8(DistributionFiles& files, Index seeds) {
    std::vector<Row> rows;
    double worst_rs = 0, best_bce = 1e300;
    for (const auto operation : {Operation::product, Operation::lu})
        for (const Index tiles : load_sizes)
            for (const auto* family : {"bce:10x12", "bce:12x11/33", "bce:12x11", "bce:12x12", "bce", "rs", "hybrid"}) {
                const LoadCase c{.operation = operation, .tiles = tiles, .nodes = 34, .alpha = 2, .family = family};
                const LoadOutcome o = load_over_seeds(c, seeds, rows);
                if (c.family == "rs") worst_rs = std::max(worst_rs, o.most_load);
                if (c.family.starts_with("bce")) best_bce = std::min(best_bce, o.least_load);
            }
    files.table_of_seeds("paper001_figure8", rows);
    files.checks.push_back(at_most("34 nodes, alpha = 2: worst load of rs over ideal", worst_rs, 1.01));
    files.checks.push_back(above("34 nodes, alpha = 2: best load of bce with any pattern over ideal", best_bce, 1.01));
}

/// Numbers of nodes that are not c(c-1) and have no squarish grid.
void hybrid_table(DistributionFiles& files, Index seeds) {
    const std::vector<std::string> three{"bce", "rs", "hybrid"};
    const std::vector<std::pair<std::string, Index>> counts{{"34", 34}, {"37", 37}, {"41", 41}, {"53", 53}};
    std::vector<Row> rows;
    DotPlot plot{.title = "LU on numbers of nodes that fit no grid: load (upper row) and steps (lower row)",
                 .y_label = "over ideal",
                 .series = three,
                 .places = {"P = 34", "P = 37", "P = 41", "P = 53"},
                 .panels = {},
                 .columns = 4,
                 .top = 1.06};
    std::vector<DotPanel> loads, steps;
    double excess_load = -1, excess_steps = -1;
    for (const Index tiles : {60, 90})
        for (const double alpha : {2.0, 3.0}) {
            DotPanel load{.title = fmt::format("N = {}, alpha = {}: load", tiles, alpha), .dots = {}};
            DotPanel step{.title = fmt::format("N = {}, alpha = {}: steps", tiles, alpha), .dots = {}};
            for (int place = 0; place < 4; ++place) {
                std::array<LoadOutcome, 3> outcomes;
                for (int f = 0; f < 3; ++f) {
                    const LoadCase c{.operation = Operation::lu,
                                     .tiles = tiles,
                                     .nodes = counts[static_cast<std::size_t>(place)].second,
                                     .alpha = alpha,
                                     .family = three[static_cast<std::size_t>(f)]};
                    auto& o = outcomes[static_cast<std::size_t>(f)] = load_over_seeds(c, seeds, rows);
                    load.dots.push_back({place, f, o.mean_load});
                    step.dots.push_back({place, f, o.steps});
                }
                excess_load = std::max(excess_load, outcomes[2].most_load - outcomes[1].most_load);
                excess_steps =
                    std::max(excess_steps, outcomes[2].steps - std::min(outcomes[0].steps, outcomes[1].steps));
            }
            loads.push_back(std::move(load));
            steps.push_back(std::move(step));
        }
    plot.panels = std::move(loads);
    plot.panels.insert(plot.panels.end(), steps.begin(), steps.end());
    files.folder.picture("hybrid.svg", draw_dots(plot));
    files.table_of_seeds("hybrid", rows);
    files.checks.push_back(at_most("hybrid, LU, alpha >= 2: worst load above that of rs", excess_load, 0.005));
    files.checks.push_back(
        at_most("hybrid, LU, alpha >= 2: mean of steps above the better of bce and rs", excess_steps, 0.002));
}

/// Cholesky of 60 x 60 tiles.
class SymmetricCase {
public:
    explicit SymmetricCase(Index nodes)
        : cholesky_(Operation::cholesky, {.tiles = 60, .nodes = nodes}),
          request_{.workload = {.operation = Operation::cholesky, .density = full_density({60, 60})}, .nodes = nodes} {}
    [[nodiscard]] std::vector<std::string> families() const { return families_for(request_); }
    [[nodiscard]] Row row(const std::string& family) const {
        const Distribution d = make_family(family, request_);
        return {{"nodes", request_.nodes},
                {"family", family},
                {"transfers", cholesky_.transfers(d).messages},
                {"max_load", summarise_loads(node_loads(d, tile_weights(request_.workload))).max_over_ideal}};
    }

private:
    RecordedOperation cholesky_;
    DistributionRequest request_;
};

void sbc_transfers(DistributionFiles& files, Index) {
    std::vector<Row> rows;
    double worst = 0;
    for (const Index nodes : {15, 21, 28}) {
        const SymmetricCase cholesky(nodes);
        double of_sbc = 0, of_grid = 0;
        for (const auto& family : cholesky.families()) {
            const Row& row = rows.emplace_back(cholesky.row(family));
            if (family == "sbc") of_sbc = row.at("transfers").get<double>();
            if (family == "block_cyclic") of_grid = row.at("transfers").get<double>();
        }
        worst = std::max(worst, of_sbc / of_grid);
    }
    files.table("sbc_transfers", rows);
    files.checks.push_back(
        at_most("sbc, Cholesky, N = 60, P = 15, 21, 28: transfers over the squarest grid's", worst, 0.999));
}

/// Mean memory of the diagonal tiles, over the nodes that hold any, in 10^9 bytes.
double diagonal_gigabytes(const Distribution& distribution, const Tiling& tiling) {
    const GridSize grid = tiling.grid();
    std::vector<Index> ranks(static_cast<std::size_t>(grid.count()));
    for (Index i = 0; i < grid.rows; ++i) ranks[static_cast<std::size_t>(i * grid.cols + i)] = -1;
    double sum = 0, holders = 0;
    for (const double bytes : node_memory(distribution, {.tiling = tiling, .ranks = ranks, .stored = Stored::lower})) {
        sum += bytes;
        holders += bytes > 0 ? 1 : 0;
    }
    return sum / holders / 1e9;
}

/// What the band saves; the paper's number is copied.
Row band_row(Index nodes, Index size, double paper) {
    const Tiling tiling = Tiling::square(size, 2700);
    const double saved = diagonal_gigabytes(squarest_block_cyclic(tiling.grid(), nodes), tiling) -
                         diagonal_gigabytes(band_hybrid(tiling.grid(), nodes), tiling);
    return {{"nodes", nodes}, {"matrix", size}, {"saved_gb", saved}, {"paper_gb", paper}};
}

void band_memory(DistributionFiles& files, Index) {
    const std::vector<Row> rows{band_row(16, 1080000, 4.374),  band_row(16, 2160000, 8.748),
                                band_row(16, 4320000, 17.496), band_row(64, 2160000, 5.103),
                                band_row(64, 4320000, 10.206), band_row(64, 6480000, 20.412)};
    double worst = 0;
    for (const Row& row : rows)
        if (row.at("matrix") != 6480000)
            worst = std::max(worst, std::abs(row.at("saved_gb").get<double>() - row.at("paper_gb").get<double>()));
    files.table("band_memory", rows);
    files.checks.push_back(
        at_most("band, table I of paper 004, first five rows: largest difference in GB", worst, 0.0005));
}

/// LU of 500 x 500 tiles on 200 nodes.
Row time_row(double alpha, const std::string& family, const DistributionRequest& request) {
    const std::clock_t before = std::clock();  // of one thread: what else the machine does is no matter
    const Distribution d = make_family(family, request);
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    return {{"kernel", "lu"},
            {"alpha", alpha},
            {"family", family},
            {"seconds_to_make", seconds},
            {"max_load", summarise_loads(node_loads(d, tile_weights(request.workload))).max_over_ideal}};
}

DistributionRequest large_request(double alpha) {
    return {
        .workload = {.operation = Operation::lu, .density = synthetic_density(500, {})}, .nodes = 200, .alpha = alpha};
}

void times_to_make(DistributionFiles& files, Index) {
    std::vector<Row> rows;
    double slowest = 0;
    for (const double alpha : {1.5, 3.0}) {
        const DistributionRequest request = large_request(alpha);
        for (const auto& family : families_for(request)) {
            const Row& row = rows.emplace_back(time_row(alpha, family, request));
            slowest = std::max(slowest, row.at("seconds_to_make").get<double>());
        }
    }
    files.table("distribution_times", rows);
    files.checks.push_back(at_most("N = 500, P = 200: seconds of the slowest family", slowest, 10));
}

void one_d_one_d_maps(DistributionFiles& files, Index) {
    const std::vector<double> powers{1, 1, 2, 4, 4, 6};
    for (const auto& [name, shuffle] : {std::pair{"blocks", Shuffle::none}, std::pair{"shuffled", Shuffle::cyclic}}) {
        OwnerMap map{.title = fmt::format("1D-1D for powers 1, 1, 2, 4, 4, 6: {}", name),
                     .distribution = one_d_one_d({18, 18}, powers, shuffle)};
        const auto counts = tile_counts(map.distribution, Stored::full);
        map.loads.assign(counts.begin(), counts.end());
        for (const double power : powers) map.ideal.push_back(18 * power);
        files.folder.picture(fmt::format("figure3_{}.svg", name), draw_owner_map(map));
    }
}

/// What can be made alone.
struct DistributionPart {
    std::string name;
    void (*make)(DistributionFiles& files, Index seeds);
};
const std::vector<DistributionPart> distribution_parts{
    {"figure3", one_d_one_d_maps}, {"band_memory", band_memory},  {"sbc_transfers", sbc_transfers},
    {"times", times_to_make},      {"figure8", paper001_figure8}, {"hybrid", hybrid_table},
    {"loads", paper001_loads},
};

struct DistributionsOptions {
    Index seeds = 20;
    std::string folder = "docs/tables";
    std::vector<std::string> only;
};

void add_distributions_options(CLI::App& command, DistributionsOptions& options) {
    command.add_option("--seeds", options.seeds, "Matrices drawn for each case")->capture_default_str();
    command.add_option("--folder", options.folder, "Where the files go")->capture_default_str();
    for (const DistributionPart& part : distribution_parts) options.only.push_back(part.name);
    comma_separated(command.add_option("--only", options.only, "Some of them"))->check(CLI::IsMember(options.only));
}

Report make_distribution_files(const DistributionsOptions& options) {
    if (options.seeds < 1) throw Error("--seeds must be at least 1; it is {}", options.seeds);
    DistributionFiles files{.folder = OutputFolder(options.folder)};
    for (const DistributionPart& part : distribution_parts)
        if (std::ranges::find(options.only, part.name) != options.only.end()) part.make(files, options.seeds);
    return {.figures = {{"files", files.folder.files()}}, .checks = files.checks};
}

}  // namespace

Experiment distributions() {
    return experiment("distributions",
                      "Tables and pictures of docs/tables about distributions; exit code 1 if a bar of "
                      "docs/distributions.md is missed",
                      add_distributions_options, make_distribution_files);
}

std::vector<ComputedTable> distribution_tables() {
    const auto text = [](const Row& row, const char* column) { return row.at(column).get<std::string>(); };
    const auto smallest = [](Index tiles) {
        return [tiles](const Row& row) { return row.at("tiles").get<Index>() == tiles; };
    };
    return {
        {.file = "paper001_loads.csv", .remake = load_row_again, .quick = smallest(30), .cases = load_case_columns},
        {.file = "paper001_figure8.csv", .remake = load_row_again, .quick = smallest(30), .cases = load_case_columns},
        {.file = "hybrid.csv", .remake = load_row_again, .quick = smallest(60), .cases = load_case_columns},
        {.file = "sbc_transfers.csv",
         .remake = [=](const Row& row) { return SymmetricCase(row.at("nodes").get<Index>()).row(text(row, "family")); },
         .quick = [](const Row& row) { return row.at("nodes") == 15; }},
        {.file = "band_memory.csv",
         .remake =
             [](const Row& row) {
                 return band_row(row.at("nodes").get<Index>(), row.at("matrix").get<Index>(),
                                 row.at("paper_gb").get<double>());
             },
         .quick = [](const Row&) { return true; }},
        {.file = "distribution_times.csv",
         .remake =
             [=](const Row& row) {
                 const auto alpha = row.at("alpha").get<double>();
                 return time_row(alpha, text(row, "family"), large_request(alpha));
             },
         .quick = [=](const Row& row) { return text(row, "family") != "hybrid"; },
         .times = {"seconds_to_make"}},
    };
}

}  // namespace tesela::bench
