#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/in_children.hpp"
#include "paper000/evaluation.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/mds/planning.hpp"
#include "tesela/plan/planner.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

/// What is run: a likelihood evaluation, figure 11, or the first phases of multidimensional scaling, figure 13.
enum class StrategiesOf : std::uint8_t { geo, mds };
constexpr Names<StrategiesOf, 2> strategies_of_names{{{StrategiesOf::geo, "geo"}, {StrategiesOf::mds, "mds"}}};

struct StrategiesOptions {
    StrategiesOf application = StrategiesOf::geo;
    std::vector<Index> tiles{};       ///< tile rows; none: the paper's workloads
    std::vector<std::string> sets{};  ///< of machines, as 6che+6chi; none: all eighteen
    std::string durations = "gsl";    ///< of the generation: "gsl", or "table" for Tesela's own; mds generates nothing
    Index simulations = 60;           ///< for the plan of each case
    int seeds = 5;
    std::string folder = "docs/tables";
};

void add_strategies_options(CLI::App& command, StrategiesOptions& options) {
    add_choice(command, "--application", options.application, strategies_of_names,
               "Likelihood evaluations (figure 11), or multidimensional scaling (13)");
    comma_separated(command.add_option("--tiles", options.tiles,
                                       "Tile rows of the matrix (default: 101,128,180; 75,100,200 of mds)"))
        ->default_str("");
    comma_separated(command.add_option("--sets", options.sets, "Sets of machines, as 6che+6chi (default: all)"))
        ->default_str("");
    command
        .add_option("--durations", options.durations,
                    "Of the generation: gsl, or table for Tesela's own; mds generates nothing")
        ->capture_default_str();
    command.add_option("--simulations", options.simulations, "For the plan of each case")->capture_default_str();
    command.add_option("--seeds", options.seeds, "By which each strategy is judged")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--folder", options.folder, "Where the table goes; cases that it has are left as they are")
        ->capture_default_str();
}

/// Nine that the text names, then nine of ours.
const std::vector<std::string> sets_of_machines{
    "4cle+1cho", "6cle+4chi",      "6che+6chi",  "6che+6chi+1cho", "6che+6chi+2cho", "4che+4chi+2cho",
    "4cle+4chi", "4cle+4chi+1cho", "12sdc+4sdg", "4che+4chi",      "4che+4chi+1cho", "6che+4chi",
    "6cle+2cho", "4cle+4chi+2cho", "4sdc+4sdg",  "8sdc+4sdg",      "8sdc+8sdg",      "10sdc+10sdg"};

struct StrategiesCase {
    StrategiesOf application = StrategiesOf::geo;
    std::string platform;
    std::string nodes;
    Index tiles = 0;
};

/// Sections 5.4 and 5.5.
std::vector<Index> papers_workloads(StrategiesOf application) {
    return application == StrategiesOf::geo ? std::vector<Index>{101, 128, 180} : std::vector<Index>{75, 100, 200};
}

std::string platform_with(const std::string& set, const std::string& durations) {
    std::string name = set.find("sd") != std::string::npos ? "sdumont" : "grid5000-lille";
    if (durations == "gsl") return name + "-gsl";
    if (durations == "table") return name;
    throw Error("--durations takes gsl or table; it is \"{}\"", durations);
}

/// Of scaling the tile size of section 5.1, and r of section 5.5.
plan::Application application_of(const StrategiesCase& of, const Platform& platform) {
    if (of.application == StrategiesOf::geo) return planned_evaluation(of.tiles);
    constexpr Index tile = 640;
    return mds::planned_scaling(
        {.points = of.tiles * tile, .tile = tile, .columns = 1000, .max_pending = std::numeric_limits<Index>::max()},
        platform);
}

/// Oversubscription is for the critical tasks of Cholesky.
CriticalWorker critical_worker_of(StrategiesOf application) {
    return application == StrategiesOf::geo ? CriticalWorker::shared_core : CriticalWorker::none;
}

Row strategy_row(const StrategiesCase& of, const plan::Planned& planned, const plan::Strategy& strategy,
                 double judged) {
    return {{"platform", of.platform},
            {"nodes", of.nodes},
            {"tiles", of.tiles},
            {"strategy", strategy.name},
            {"decided", strategy.simulated.makespan},
            {"makespan", judged},
            {"lp_ideal", strategy.lp_ideal ? Row(*strategy.lp_ideal) : Row()},
            {"lower_bound", planned.lower_bound},
            {"moved", strategy.moved},
            {"bytes", strategy.simulated.bytes},
            {"utilisation", strategy.simulated.utilisation},
            {"how", strategy.name == "chosen" ? planned.why.substr(0, planned.why.find(": the")) : strategy.family}};
}

std::string strategies_table_name(StrategiesOf application, const std::string& durations) {
    return fmt::format("paper000_strategies_{}{}.csv", application == StrategiesOf::mds ? "mds_" : "", durations);
}

/// A table that grows by the rows of a case at a time.
class StrategiesTable {
public:
    explicit StrategiesTable(const StrategiesOptions& options)
        : options_(options),
          file_(fmt::format("{}/{}", options.folder, strategies_table_name(options.application, options.durations))) {
        if (std::filesystem::exists(file_)) rows_ = read_table(file_).rows;
    }

    void run(const StrategiesCase& of) {
        if (is_known(of)) return;
        std::erase_if(rows_, [&](const Row& row) { return is_of(row, of); });
        const Platform platform = read_platform(of.platform, of.nodes);
        const plan::Application application = application_of(of, platform);
        plan::PlanOptions planning{.budget_seconds = std::numeric_limits<double>::infinity(),
                                   .most_simulations = options_.simulations};
        planning.simulation.critical = critical_worker_of(of.application);
        planning.progress = [&](Index simulated, double) { show(of, fmt::format("{} simulated", simulated)); };
        const plan::Planned planned = make_plan(application, platform, planning);
        show(of, "judged with SimGrid");
        const std::vector<double> judged = judge(application, platform, planned.strategies);
        for (std::size_t k = 0; k < judged.size(); ++k)
            rows_.push_back(strategy_row(of, planned, planned.strategies[k], judged[k]));
        write_table(file_, rows_, Digits::computed);
    }

    [[nodiscard]] Report report() const;

private:
    void show(const StrategiesCase& of, const std::string& what) {
        progress_.show([&] { return fmt::format("{}, {} tiles: {}", of.nodes, of.tiles, what); });
    }

    [[nodiscard]] static bool is_of(const Row& row, const StrategiesCase& of) {
        return row.at("platform") == of.platform && row.at("nodes") == of.nodes && row.at("tiles") == of.tiles;
    }
    /// Tables of before have no row for the paper's own lp, which comes by that name alone in those of now.
    [[nodiscard]] bool is_known(const StrategiesCase& of) const {
        return std::ranges::any_of(rows_, [&](const Row& row) { return is_of(row, of) && row.at("strategy") == "lp"; });
    }

    /// Of each strategy the median over the seeds; durations vary by about the noise, a share of themselves.
    [[nodiscard]] std::vector<double> judge(const plan::Application& application, const Platform& platform,
                                            const std::vector<plan::Strategy>& strategies) const {
        constexpr double noise = 0.05;
        std::vector<std::function<double()>> runs;
        for (const plan::Strategy& strategy : strategies)
            for (int seed = 1; seed <= options_.seeds; ++seed)
                runs.emplace_back([&, seed] {
                    SimulatedEngine engine(platform, {.network = simgrid_network,
                                                      .noise = noise,
                                                      .seed = static_cast<std::uint64_t>(seed),
                                                      .critical = critical_worker_of(options_.application)});
                    application.submit(engine, strategy.distributions);
                    return engine.result().makespan;
                });
        const std::vector<double> makespans = in_children<double>(runs);
        std::vector<double> medians;
        for (std::size_t k = 0; k < strategies.size(); ++k) {
            const auto first = makespans.begin() + static_cast<std::ptrdiff_t>(k) * options_.seeds;
            medians.push_back(median({first, first + options_.seeds}));
        }
        return medians;
    }

    const StrategiesOptions& options_;
    std::string file_;
    std::vector<Row> rows_;
    ProgressLine progress_;
};

/// A case of the table: makespans by strategy.
struct JudgedCase {
    double chosen = 0;
    double best_of_paper = std::numeric_limits<double>::infinity();
    double best_cyclic = std::numeric_limits<double>::infinity();
    double fast = 0;
    double lp = 0;  ///< the better of the two
    double ideal = 0;
    double bound = 0;
};

std::vector<JudgedCase> judged_cases(const std::vector<Row>& rows) {
    std::vector<JudgedCase> cases;
    for (const Row& row : rows) {
        const auto strategy = row.at("strategy").get<std::string>();
        const auto makespan = row.at("makespan").get<double>();
        if (strategy.ends_with("_triangle")) continue;  // ours
        if (strategy == "bc_all") cases.emplace_back();
        JudgedCase& of = cases.back();
        of.bound = row.at("lower_bound").get<double>();
        if (strategy == "chosen") {
            of.chosen = makespan;
            continue;
        }
        of.best_of_paper = std::min(of.best_of_paper, makespan);
        if (strategy.starts_with("bc_")) of.best_cyclic = std::min(of.best_cyclic, makespan);
        if (strategy == "bc_fast") of.fast = makespan;
        if (!strategy.starts_with("lp")) continue;
        of.lp = of.lp == 0 ? makespan : std::min(of.lp, makespan);
        of.ideal = row.at("lp_ideal").get<double>();
    }
    return cases;
}

/// Of a figure over the cases.
class SpreadOverCases {
public:
    void add(double value) { values_.push_back(value); }
    [[nodiscard]] double largest() const { return std::ranges::max(values_); }
    [[nodiscard]] Row row() const {
        return {{"least", std::ranges::min(values_)}, {"median", median(values_)}, {"largest", largest()}};
    }

private:
    std::vector<double> values_;
};

Report StrategiesTable::report() const {
    const std::vector<JudgedCase> cases = judged_cases(rows_);
    if (cases.empty()) throw Error("there is no case to judge");
    SpreadOverCases behind, lp_gain, gain, gap;
    for (const JudgedCase& of : cases) {
        behind.add(of.chosen / of.best_of_paper - 1);
        lp_gain.add(1 - of.lp / of.fast);
        gain.add(1 - of.chosen / of.fast);
        gap.add(of.chosen / of.bound - 1);
    }
    const auto share_with = [&cases](auto holds) {
        return static_cast<double>(std::ranges::count_if(cases, holds)) / static_cast<double>(cases.size());
    };
    const double better = share_with([](const JudgedCase& of) { return of.chosen <= 0.97 * of.best_of_paper; });
    Report report{.figures = {{"cases", cases.size()},
                              {"table", file_},
                              {"gain_of_lp_over_bc_fast", lp_gain.row()},
                              {"gain_of_chosen_over_bc_fast", gain.row()},
                              {"gap_to_lower_bound", gap.row()},
                              {"block_cyclic_is_best_of_the_five",
                               share_with([](const JudgedCase& of) { return of.best_cyclic <= of.best_of_paper; })},
                              {"within_10_percent_of_bounds", share_with([](const JudgedCase& of) {
                                   return of.chosen <= 1.1 * std::max(of.ideal, of.bound);
                               })},
                              {"better_by_3_percent", better}},
                  .checks = {at_most("ours behind the best of the paper's five, at worst", behind.largest(), 0.02)}};
    if (options_.application == StrategiesOf::geo)
        report.checks.push_back(at_least("cases in which ours is better than these by at least 3 %", better, 1.0 / 3));
    return report;
}

/// Figures 11 and 13 of paper 000: likelihood evaluations, or multidimensional scaling, on eighteen sets of machines,
/// nine named by the paper's text and nine ours, under its five strategies and ours. Decided with the port model of the
/// network; judged with SimGrid's, durations varied by several seeds, of which the median counts. Cases that the table
/// has already are not simulated again.
Report compare_strategies(const StrategiesOptions& options) {
    StrategiesTable table(options);
    for (const Index tiles : options.tiles.empty() ? papers_workloads(options.application) : options.tiles)
        for (const std::string& set : options.sets.empty() ? sets_of_machines : options.sets)
            table.run({.application = options.application,
                       .platform = platform_with(set, options.durations),
                       .nodes = set,
                       .tiles = tiles});
    return table.report();
}

}  // namespace

Experiment strategies() {
    return experiment("strategies",
                      "Figures 11 and 13 of paper 000: its five strategies and ours on eighteen sets of machines, "
                      "simulated",
                      add_strategies_options, compare_strategies);
}

/// What is decided with, of strategies that no optimiser has a part in.
std::vector<ComputedTable> strategies_tables() {
    const auto remake = [](StrategiesOf application) {
        return [application](const Row& row) {
            const StrategiesCase of{.application = application,
                                    .platform = row.at("platform").get<std::string>(),
                                    .nodes = row.at("nodes").get<std::string>(),
                                    .tiles = row.at("tiles").get<Index>()};
            plan::PlanOptions five{.budget_seconds = 0};
            five.simulation.critical = critical_worker_of(application);
            const Platform platform = read_platform(of.platform, of.nodes);
            const plan::Planned planned = make_plan(application_of(of, platform), platform, five);
            for (const plan::Strategy& strategy : planned.strategies)
                if (row.at("strategy") == strategy.name) return strategy_row(of, planned, strategy, 0);
            throw Error("there is no strategy {}", row.at("strategy").get<std::string>());
        };
    };
    const auto quick = [](Index tiles, const char* plain) {
        return [tiles, plain](const Row& row) {
            return row.at("nodes") == "4sdc+4sdg" && row.at("tiles") == tiles &&
                   (row.at("strategy") == "bc_fast" || row.at("strategy") == plain);
        };
    };
    return {{.file = strategies_table_name(StrategiesOf::geo, "gsl"),
             .remake = remake(StrategiesOf::geo),
             .quick = quick(101, "1d1d_triangle"),
             .times = {"makespan"}},
            {.file = strategies_table_name(StrategiesOf::geo, "table"),
             .remake = remake(StrategiesOf::geo),
             .quick = quick(101, "1d1d_triangle"),
             .times = {"makespan"}},
            {.file = strategies_table_name(StrategiesOf::mds, "gsl"),
             .remake = remake(StrategiesOf::mds),
             .quick = quick(75, "1d"),
             .times = {"makespan"}}};
}

}  // namespace tesela::bench
