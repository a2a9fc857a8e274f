#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/output_folder.hpp"
#include "panel_plot.hpp"
#include "paper004/simulated_cholesky.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/io/platform_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {
namespace {

struct Paper004Options {
    /// ranks: those that all others are simulated with, sampled anew; switches: what each gains.
    std::vector<std::string> figures{"switches", "1", "I", "3", "4a", "4b"};
    std::string folder = "docs/tables";
};

void add_paper004_options(CLI::App& command, Paper004Options& options) {
    comma_separated(
        command.add_option("--figures", options.figures, "Some of ranks (sampled anew), switches, 1, I, 3, 4a, 4b"));
    command.add_option("--folder", options.folder, "Where the files go, and the ranks are")->capture_default_str();
}

constexpr Index shaheen_cores = 30;      // of shaheen2
constexpr Index papers_lookahead = 5;    // figure 3
constexpr Index part_of_diagonal = 300;  // the default of the authors' program
constexpr Index largest_quick_tiles = 100;

/// The ranks of matrices of several sizes, read and worked out once.
class RanksBySize {
public:
    explicit RanksBySize(std::string folder) : folder_(std::move(folder)) {}
    const SampledRanks& of(Index tiles) {
        if (sample_.empty()) sample_ = read_table(folder_ + "/paper004_ranks.csv").rows;
        return known_.try_emplace(tiles, sample_, tiles).first->second;
    }

private:
    std::string folder_;
    std::vector<Row> sample_;
    std::map<Index, SampledRanks> known_;
};

/// A table that is simulated: what its rows are of, how one is made, which a test has time for.
struct SimulatedTable {
    std::string name;  ///< of its files
    std::vector<Row> cases;
    std::function<Row(const Row& of, RanksBySize& ranks)> make;
    std::function<bool(const Row&)> quick = [](const Row& row) {
        return row.at("tiles").get<Index>() <= largest_quick_tiles;
    };
};

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// --- what each switch gains -------------------------------------------------------------------------------------

/// The four optimisations in the order of the paper, each with those before it.
std::vector<SimulatedCase> switch_steps(Index tiles, Index nodes, Priorities priorities) {
    SimulatedCase now{.tiles = tiles, .nodes = nodes, .factor = {.priorities = priorities}};
    std::vector<SimulatedCase> all{now};
    now.distribution = "band:1";
    all.push_back(now);
    now.messages = MessageRanks::exact;
    all.push_back(now);
    now.factor.lookahead = papers_lookahead;
    all.push_back(now);
    now.factor.diagonal_tile = part_of_diagonal;
    all.push_back(now);
    return all;
}
const std::vector<std::string> switch_names{"none", "+ band", "+ exact messages", "+ lookahead", "+ diagonal in parts"};

Row made_switches(const Row& of, RanksBySize& ranks) {
    const SimulatedCase what = case_of(of);
    const SimulationResult r = simulate(what, ranks.of(what.tiles));
    Row row = columns_of_case(what);
    row["makespan"] = r.makespan;
    row["critical_path"] = r.critical_path;
    row["area_bound"] = r.area_bound;
    row["utilisation"] = r.utilisation;
    row["busiest_over_mean"] = std::ranges::max(r.node_utilisation) / mean_of(r.node_utilisation);
    row["gbytes_sent"] = r.bytes / 1e9;
    row["peak_gbytes"] = std::ranges::max(r.memory_peak) / 1e9;
    return row;
}

SimulatedTable switches_table() {
    SimulatedTable table{.name = "paper004_switches", .cases = {}, .make = made_switches};
    for (const auto& [tiles, nodes] : {std::pair<Index, Index>{100, 9}, {200, 9}, {200, 16}})
        for (const Priorities priorities : {Priorities::critical_path, Priorities::none})
            for (const SimulatedCase& one : switch_steps(tiles, nodes, priorities))
                table.cases.push_back(columns_of_case(one));
    return table;
}

// --- figure 1 and table I -----------------------------------------------------------------------------------------

Row made_figure1(const Row& of, RanksBySize& ranks) {
    const SimulatedCase what = case_of(of);
    const SimulationResult r = simulate(what, ranks.of(what.tiles));
    const Distribution owners =
        make_distribution(what.distribution, {what.tiles, what.tiles}, what.nodes, Operation::cholesky);
    std::set<Index> diagonal;
    for (Index k = 0; k < what.tiles; ++k) diagonal.insert(owners.owner({k, k}).number());
    Row row = columns_of_case(what);
    row["makespan"] = r.makespan;
    row["nodes_with_diagonal"] = diagonal.size();
    row["peak_gbytes"] = std::ranges::max(r.memory_peak) / 1e9;
    for (std::size_t node = 0; node < r.node_utilisation.size(); ++node)
        row[fmt::format("core_seconds_{}", node)] = r.node_utilisation[node] * r.makespan * shaheen_cores;
    return row;
}

SimulatedTable figure1_table() {
    SimulatedTable table{.name = "paper004_figure1", .cases = {}, .make = made_figure1};
    for (const Index tiles : {100, 400})
        for (const char* distribution : {"block_cyclic", "band:1"})
            table.cases.push_back(columns_of_case(
                {.tiles = tiles, .nodes = 16, .distribution = distribution, .messages = MessageRanks::exact}));
    return table;
}

std::vector<double> core_seconds(const Row& row) {
    std::vector<double> seconds;
    for (Index node = 0; node < row.at("nodes").get<Index>(); ++node)
        seconds.push_back(row.at(fmt::format("core_seconds_{}", node)).get<double>());
    return seconds;
}

// --- figure 3 -------------------------------------------------------------------------------------------------------

constexpr Index shown_distances = 20;

Row made_figure3(const Row& of, RanksBySize& ranks) {
    const SimulatedCase what = case_of(of);
    SolveWaits observed;
    const SimulationResult r = simulate(what, ranks.of(what.tiles), {&observed});
    std::vector<double> sum(shown_distances + 1, 0), count(shown_distances + 1, 0);
    double near = 0, near_count = 0, longest = 0, all = 0, all_count = 0;
    for (const SolveWaits::Wait& wait : observed.waits()) {
        const auto place = static_cast<std::size_t>(std::min(wait.from_diagonal, shown_distances + 1) - 1);
        sum[place] += wait.seconds;
        count[place] += 1;
        all += wait.seconds;
        all_count += 1;
        if (wait.from_diagonal > papers_lookahead) continue;
        near += wait.seconds;
        near_count += 1;
        longest = std::max(longest, wait.seconds);
    }
    Row row = columns_of_case(what);
    row["makespan"] = r.makespan;
    row["wait_near"] = near / near_count;
    row["longest_wait_near"] = longest;
    row["wait"] = all / all_count;
    for (std::size_t d = 0; d < sum.size(); ++d)
        row[d + 1 < sum.size() ? fmt::format("wait_{}", d + 1) : std::string("wait_farther")] =
            count[d] > 0 ? sum[d] / count[d] : 0;
    return row;
}

/// The paper does not say on how many nodes. On 16 these are idle most of the time while a diagonal tile is factorised
/// by one core; the others are cases in which cores have other work when a panel comes.
struct PanelCase {
    Index nodes = 16;
    Index diagonal_tile = 0;
};
constexpr std::array<PanelCase, 3> panel_cases{{{16, 0}, {4, part_of_diagonal}, {1, part_of_diagonal}}};

SimulatedTable figure3_table() {
    SimulatedTable table{.name = "paper004_figure3", .cases = {}, .make = made_figure3};
    for (const PanelCase& where : panel_cases)
        for (const Priorities priorities : {Priorities::none, Priorities::critical_path})
            for (const Index ahead : {Index{0}, papers_lookahead})
                table.cases.push_back(columns_of_case(
                    {.tiles = 100,
                     .nodes = where.nodes,
                     .distribution = "band:1",
                     .messages = MessageRanks::exact,
                     .factor = {.priorities = priorities, .lookahead = ahead, .diagonal_tile = where.diagonal_tile}}));
    return table;
}

// --- figure 4a ------------------------------------------------------------------------------------------------------

double simulate_one_tile(Index rows, Index cores, Index diagonal_tile) {
    Platform platform = read_platform("shaheen2", "1haswell");
    platform.node_types.front().workers.front().count = cores;
    SimulatedEngine engine(platform, {.scheduler = SimulatedScheduler::priority});
    Stream s(engine);
    run_operation(s, Operation::cholesky, Tiling::square(rows, rows), Distribution({1, 1}, 1, {0}),
                  {.diagonal_tile = diagonal_tile});
    return engine.result().makespan;
}

Row made_figure4a(const Row& of, RanksBySize&) {
    const auto rows = of.at("rows").get<Index>();
    const auto cores = of.at("cores").get<Index>();
    const auto part = of.at("diagonal_tile").get<Index>();
    return {{"rows", rows},
            {"cores", cores},
            {"diagonal_tile", part},
            {"whole", simulate_one_tile(rows, cores, 0)},
            {"in_parts", simulate_one_tile(rows, cores, part)}};
}

SimulatedTable figure4a_table() {
    SimulatedTable table{
        .name = "paper004_figure4a", .cases = {}, .make = made_figure4a, .quick = [](const Row&) { return true; }};
    for (const Index rows : {900, 1800, 2700, 3600, 5400})
        for (const Index cores : {1, 2, 4, 8, 15, 30})
            table.cases.push_back({{"rows", rows}, {"cores", cores}, {"diagonal_tile", part_of_diagonal}});
    return table;
}

// --- figure 4b ------------------------------------------------------------------------------------------------------

Row made_figure4b(const Row& of, RanksBySize& ranks) {
    const SimulatedCase what = case_of(of);
    StageOccupancy observed;
    const SimulationResult r = simulate(what, ranks.of(what.tiles), {&observed});
    Row row = columns_of_case(what);
    row["makespan"] = r.makespan;
    const std::vector<double> stages = observed.stages(what.tiles);
    for (std::size_t stage = 0; stage < stages.size(); ++stage)
        row[fmt::format("occupancy_{}", stage + 1)] = stages[stage];
    return row;
}

SimulatedTable figure4b_table() {
    SimulatedTable table{.name = "paper004_figure4b", .cases = {}, .make = made_figure4b};
    for (const Index tiles : {100, 200})
        for (const Index part : {Index{0}, part_of_diagonal})
            table.cases.push_back(columns_of_case({.tiles = tiles,
                                                   .nodes = 9,
                                                   .distribution = "band:1",
                                                   .messages = MessageRanks::exact,
                                                   .factor = {.lookahead = papers_lookahead, .diagonal_tile = part}}));
    return table;
}

// --- checks and pictures --------------------------------------------------------------------------------------------

/// The row with these values, of those that a table has.
const Row& row_with(const std::vector<Row>& rows, const std::map<std::string, Row>& values) {
    for (const Row& row : rows)
        if (std::ranges::all_of(values, [&](const auto& v) { return row.at(v.first) == v.second; })) return row;
    throw Error("a row that is to be compared is missing");
}
double number_in(const Row& row, const std::string& column) { return row.at(column).get<double>(); }

/// What a figure must show: the paper's findings, as far as it gives them as numbers or in words.
std::vector<Check> checks_of_figure1(const std::vector<Row>& rows) {
    const Row& plain = row_with(rows, {{"tiles", 400}, {"distribution", "block_cyclic"}});
    const Row& band = row_with(rows, {{"tiles", 400}, {"distribution", "band:1"}});
    const std::vector<double> work = core_seconds(plain);
    std::vector<double> with, without;
    for (std::size_t node = 0; node < work.size(); ++node) (node % 5 == 0 ? with : without).push_back(work[node]);
    const auto busiest = [](const Row& row) {
        const auto seconds = core_seconds(row);
        return std::ranges::max(seconds) / mean_of(seconds);
    };
    return {at_most("figure 1a: nodes that own diagonal tiles, block-cyclic (0, 5, 10, 15)",
                    number_in(plain, "nodes_with_diagonal"), 4),
            above("figure 1a: their work over that of the others", mean_of(with) / mean_of(without), 1),
            at_most("figure 1b: work of the busiest node over the mean, with the band", busiest(band), 1.05),
            at_most("figure 1: the same over that without the band", busiest(band) / busiest(plain), 0.999),
            at_most("figure 1: makespan with the band over without",
                    number_in(band, "makespan") / number_in(plain, "makespan"), 1)};
}

std::vector<Check> checks_of_table1(const std::vector<Row>& rows) {
    const double saved = number_in(row_with(rows, {{"tiles", 400}, {"distribution", "block_cyclic"}}), "peak_gbytes") -
                         number_in(row_with(rows, {{"tiles", 400}, {"distribution", "band:1"}}), "peak_gbytes");
    return {
        at_least("table I, row 1: GB saved on the fullest node, copies of other nodes' tiles included (the paper: "
                 "4.374 of its own)",
                 saved, 0.9 * 4.374)};
}

/// Figure 3 shows solves next to the diagonal that wait longest without lookahead, and hardly any with it.
std::vector<Check> checks_of_figure3(const std::vector<Row>& rows) {
    std::vector<Check> checks;
    for (const PanelCase& where : panel_cases)
        for (const char* priorities : {"none", "critical_path"}) {
            const auto row = [&](Index ahead) {
                return row_with(rows, {{"nodes", where.nodes}, {"priorities", priorities}, {"lookahead", ahead}});
            };
            const double without = number_in(row(0), "wait_near");
            const std::string what =
                fmt::format("figure 3, {} node{}, priorities {}: ", where.nodes, plural(where.nodes), priorities);
            checks.push_back(
                above(what + "seconds that solves within 5 of the diagonal wait without lookahead", without, 0));
            if (without > 0)
                checks.push_back(at_most(what + "with lookahead over that",
                                         number_in(row(papers_lookahead), "wait_near") / without, 0.5));
        }
    return checks;
}

std::vector<Check> checks_of_figure4a(const std::vector<Row>& rows) {
    const Row& one = row_with(rows, {{"rows", PaperCase::tile}, {"cores", 1}});
    const Row& all = row_with(rows, {{"rows", PaperCase::tile}, {"cores", shaheen_cores}});
    return {at_most("figure 4a: a diagonal tile in parts on all cores over whole",
                    number_in(all, "in_parts") / number_in(all, "whole"), 0.2),
            at_most("figure 4a: the same on one core", number_in(one, "in_parts") / number_in(one, "whole"), 1.1)};
}

std::vector<Check> checks_of_figure4b(const std::vector<Row>& rows) {
    const Row& whole = row_with(rows, {{"tiles", 200}, {"diagonal_tile", 0}});
    const Row& parts = row_with(rows, {{"tiles", 200}, {"diagonal_tile", part_of_diagonal}});
    std::vector<Check> checks;
    for (int stage = 1; stage <= 4; ++stage) {
        const std::string column = fmt::format("occupancy_{}", stage);
        // "consistently provides better occupancy", "a significant boost" close to the end
        checks.push_back(at_least(fmt::format("figure 4b: occupancy of stage {}, diagonal in parts over whole", stage),
                                  number_in(parts, column) / number_in(whole, column), stage == 4 ? 1.2 : 1.0));
    }
    return checks;
}

std::vector<Check> checks_of_switches(const std::vector<Row>& rows) {
    std::vector<Check> checks;
    for (std::size_t first = 0; first < rows.size(); first += switch_names.size()) {
        const Row& base = rows[first];
        const auto place = [&](std::size_t step) { return number_in(rows[first + step], "makespan"); };
        const std::string what = fmt::format("{} tiles, {} nodes, priorities {}", base.at("tiles").dump(),
                                             base.at("nodes").dump(), base.at("priorities").get<std::string>());
        for (std::size_t step = 1; step < switch_names.size(); ++step)
            checks.push_back(at_most(fmt::format("{}: makespan {} over before", what, switch_names[step]),
                                     place(step) / place(step - 1), 1));
    }
    return checks;
}

PanelPlot plot_figure1(const std::vector<Row>& rows) {
    PanelPlot plot{.title = "Paper 004, figure 1: work of 16 nodes without and with the band, simulated",
                   .x_label = "node",
                   .y_label = "core seconds",
                   .series = {"block-cyclic", "band"},
                   .panels = {},
                   .style = PlotStyle::bars,
                   .columns = 1,
                   .panel_width = 640};
    for (const Index tiles : {100, 400}) {
        PlotPanel panel{.title = fmt::format("{} x {} tiles of 2700", tiles, tiles), .places = {}, .values = {}};
        for (const char* distribution : {"block_cyclic", "band:1"})
            panel.values.push_back(core_seconds(row_with(rows, {{"tiles", tiles}, {"distribution", distribution}})));
        for (std::size_t node = 0; node < panel.values.front().size(); ++node)
            panel.places.push_back(fmt::format("{}", node));
        plot.panels.push_back(std::move(panel));
    }
    return plot;
}

PanelPlot plot_figure3(const std::vector<Row>& rows) {
    PanelPlot plot{.title = "Paper 004, figure 3: from when its tiles are there until a solve starts, simulated",
                   .x_label = "tiles from the diagonal",
                   .y_label = "seconds, mean",
                   .series = {"without lookahead", "lookahead 5"},
                   .panels = {},
                   .columns = 2,
                   .panel_width = 330};
    for (const PanelCase& where : panel_cases)
        for (const auto& [priorities, title] :
             {std::pair<const char*, const char*>{"none", "no priorities"}, {"critical_path", "priorities"}}) {
            PlotPanel panel{.title = fmt::format("{} node{}, diagonal {}, {}", where.nodes, plural(where.nodes),
                                                 where.diagonal_tile > 0 ? "in parts" : "whole", title),
                            .places = {},
                            .values = {}};
            for (const Index ahead : {Index{0}, papers_lookahead}) {
                const Row& row =
                    row_with(rows, {{"nodes", where.nodes}, {"priorities", priorities}, {"lookahead", ahead}});
                auto& values = panel.values.emplace_back();
                for (Index d = 1; d <= shown_distances; ++d)
                    values.push_back(number_in(row, fmt::format("wait_{}", d)));
            }
            for (Index d = 1; d <= shown_distances; ++d) panel.places.push_back(fmt::format("{}", d));
            plot.panels.push_back(std::move(panel));
        }
    return plot;
}

PanelPlot plot_figure4a(const std::vector<Row>& rows) {
    PanelPlot plot{.title = "Paper 004, figure 4a: a diagonal tile whole and in parts of 300, simulated",
                   .x_label = "rows of the tile",
                   .y_label = "seconds",
                   .series = {"whole", "parts, 1 core", "4 cores", "15 cores", "30 cores"},
                   .panels = {},
                   .columns = 1,
                   .panel_width = 420};
    PlotPanel panel{.title = "one node of Shaheen II", .places = {}, .values = {{}, {}, {}, {}, {}}};
    for (const Index size : {900, 1800, 2700, 3600, 5400}) {
        panel.places.push_back(fmt::format("{}", size));
        panel.values[0].push_back(number_in(row_with(rows, {{"rows", size}, {"cores", 1}}), "whole"));
        for (std::size_t k = 1; k < panel.values.size(); ++k) {
            constexpr std::array<Index, 5> cores{0, 1, 4, 15, 30};
            panel.values[k].push_back(number_in(row_with(rows, {{"rows", size}, {"cores", cores[k]}}), "in_parts"));
        }
    }
    plot.panels.push_back(std::move(panel));
    return plot;
}

PanelPlot plot_figure4b(const std::vector<Row>& rows) {
    PanelPlot plot{.title = "Paper 004, figure 4b: share of the time of cores spent in kernels, simulated",
                   .x_label = "quarter of the panels",
                   .y_label = "occupancy",
                   .series = {"diagonal tiles whole", "in parts"},
                   .panels = {},
                   .style = PlotStyle::bars,
                   .columns = 2,
                   .panel_width = 300};
    for (const Index tiles : {100, 200}) {
        PlotPanel panel{.title = fmt::format("{} x {} tiles, 3 x 3 nodes", tiles, tiles),
                        .places = {"1", "2", "3", "4"},
                        .values = {}};
        for (const Index part : {Index{0}, part_of_diagonal}) {
            const Row& row = row_with(rows, {{"tiles", tiles}, {"diagonal_tile", part}});
            auto& values = panel.values.emplace_back();
            for (int stage = 1; stage <= 4; ++stage)
                values.push_back(number_in(row, fmt::format("occupancy_{}", stage)));
        }
        plot.panels.push_back(std::move(panel));
    }
    return plot;
}

PanelPlot plot_switches(const std::vector<Row>& rows) {
    PanelPlot plot{.title = "Paper 004's optimisations one after another, simulated on nodes of Shaheen II",
                   .x_label = "each with those before it",
                   .y_label = "makespan over that of none",
                   .series = {"priorities of the critical path", "no priorities"},
                   .panels = {},
                   .style = PlotStyle::bars,
                   .columns = 1,
                   .panel_width = 640};
    const std::size_t of_case = 2 * switch_names.size();
    for (std::size_t first = 0; first + of_case <= rows.size(); first += of_case) {
        PlotPanel panel{.title = fmt::format("{} x {} tiles, {} nodes", rows[first].at("tiles").dump(),
                                             rows[first].at("tiles").dump(), rows[first].at("nodes").dump()),
                        .places = switch_names,
                        .values = {{}, {}}};
        for (std::size_t k = 0; k < of_case; ++k) {
            const std::size_t series = k / switch_names.size();
            panel.values[series].push_back(number_in(rows[first + k], "makespan") /
                                           number_in(rows[first + series * switch_names.size()], "makespan"));
        }
        plot.panels.push_back(std::move(panel));
    }
    return plot;
}

/// A table, with what is drawn of it and what it must show.
struct Paper004Figure {
    std::string name;  ///< of --figures
    SimulatedTable table;
    PanelPlot (*plot)(const std::vector<Row>&);
    std::vector<Check> (*checks)(const std::vector<Row>&);
};
std::vector<Paper004Figure> paper004_figures() {
    return {{"switches", switches_table(), plot_switches, checks_of_switches},
            {"1", figure1_table(), plot_figure1, checks_of_figure1},
            {"3", figure3_table(), plot_figure3, checks_of_figure3},
            {"4a", figure4a_table(), plot_figure4a, checks_of_figure4a},
            {"4b", figure4b_table(), plot_figure4b, checks_of_figure4b}};
}

/// Files, checks and progress of one run.
class Paper004Figures {
public:
    explicit Paper004Figures(const std::string& folder) : path_(folder), folder_(folder), ranks_(folder) {}

    void sample() {
        std::vector<Row> rows;
        for (const Index tiles : {100, 200, 400}) {
            progress_.show([&] { return fmt::format("ranks of {} x {} tiles", tiles, tiles); });
            for (Row& row : sample_ranks(tiles)) rows.push_back(std::move(row));
        }
        folder_.table("paper004_ranks.csv", rows, Digits::computed);
    }
    void add(const Paper004Figure& figure) {
        std::vector<Row> rows;
        for (const Row& of : figure.table.cases) {
            progress_.show([&] { return fmt::format("{}: {}", figure.name, of.dump()); });
            rows.push_back(figure.table.make(of, ranks_));
        }
        folder_.table(figure.table.name + ".csv", rows, Digits::computed);
        folder_.picture(figure.table.name + ".svg", draw_panels(figure.plot(rows)));
        add_checks(figure.checks(rows));
    }
    void add_table1() { add_checks(checks_of_table1(read_table(path_ + "/paper004_figure1.csv").rows)); }
    void describe_ranks() {
        for (const Index tiles : {100, 200, 400}) {
            const SampledRanks& ranks = ranks_.of(tiles);
            described_.push_back({{"tiles", tiles},
                                  {"mean", ranks.mean()},
                                  {"largest", ranks.largest()},
                                  {"error", ranks.relative_error()}});
        }
    }
    [[nodiscard]] Report report() const {
        return {.figures = {{"files", folder_.files()}}, .rows = described_, .checks = checks_};
    }

private:
    void add_checks(const std::vector<Check>& checks) { checks_.insert(checks_.end(), checks.begin(), checks.end()); }

    std::string path_;
    OutputFolder folder_;
    RanksBySize ranks_;
    ProgressLine progress_;
    std::vector<Row> described_;
    std::vector<Check> checks_;
};

/// Throws Error for a figure that there is not, or a folder.
void check_paper004_options(const Paper004Options& options) {
    std::vector<std::string> names{"ranks", "I"};
    for (const Paper004Figure& figure : paper004_figures()) names.push_back(figure.name);
    for (const std::string& figure : options.figures)
        if (std::ranges::find(names, figure) == names.end())
            throw Error("there is no figure \"{}\"; there are {}", figure, fmt::join(names, ", "));
    if (!std::filesystem::is_directory(options.folder)) throw Error("there is no folder {}", options.folder);
}

/// Paper 004's figures 1, 3, 4a and 4b, table I, and what each of its four optimisations of a compressed Cholesky
/// gains, simulated on nodes of Shaheen II with ranks that are sampled from the matrix itself; as tables and pictures.
/// With those ranks nothing in it depends on the machine that runs it.
Report make_paper004_figures(const Paper004Options& options) {
    check_paper004_options(options);
    const auto wanted = [&](const std::string& figure) {
        return std::ranges::find(options.figures, figure) != options.figures.end();
    };
    Paper004Figures figures(options.folder);
    if (wanted("ranks")) figures.sample();
    if (std::ranges::any_of(options.figures, [](const auto& figure) { return figure != "4a" && figure != "I"; }))
        figures.describe_ranks();
    for (const Paper004Figure& figure : paper004_figures())
        if (wanted(figure.name)) figures.add(figure);
    if (wanted("I")) figures.add_table1();
    return figures.report();
}

}  // namespace

Experiment paper004() {
    return experiment(
        "paper004",
        "What paper 004's optimisations of a compressed Cholesky gain, its figures 1, 3, 4a, 4b and table I, "
        "simulated; exit code 1 if one shows something else than the paper says",
        add_paper004_options, make_paper004_figures);
}

std::vector<ComputedTable> paper004_tables(const std::string& folder) {
    const auto ranks = std::make_shared<RanksBySize>(folder);
    std::vector<ComputedTable> tables;
    for (const Paper004Figure& figure : paper004_figures())
        tables.push_back({.file = figure.table.name + ".csv",
                          .remake = [make = figure.table.make, ranks](const Row& row) { return make(row, *ranks); },
                          .quick = figure.table.quick});
    return tables;
}

}  // namespace tesela::bench
