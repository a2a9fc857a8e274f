#include "paper000/strategies_bench.hpp"

#include "checks.hpp"
#include "in_children.hpp"
#include "table.hpp"

#include "tesela/apps/geo/planning.hpp"
#include "tesela/apps/mds/planning.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/progress_line.hpp"
#include "tesela/plan/planner.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Nine that the text names, then nine of ours.
const std::vector<std::string> all_sets{
    "4cle+1cho", "6cle+4chi",      "6che+6chi",  "6che+6chi+1cho", "6che+6chi+2cho", "4che+4chi+2cho",
    "4cle+4chi", "4cle+4chi+1cho", "12sdc+4sdg", "4che+4chi",      "4che+4chi+1cho", "6che+4chi",
    "6cle+2cho", "4cle+4chi+2cho", "4sdc+4sdg",  "8sdc+4sdg",      "8sdc+8sdg",      "10sdc+10sdg"};

struct Case {
    StrategiesOf application = StrategiesOf::geo;
    std::string platform;
    std::string nodes;
    Index tiles = 0;
};

/// Sections 5.4 and 5.5.
std::vector<Index> workloads(StrategiesOf application) {
    return application == StrategiesOf::geo ? std::vector<Index>{101, 128, 180} : std::vector<Index>{75, 100, 200};
}

std::string platform_of(const std::string& set, const std::string& durations) {
    std::string name = set.find("sd") != std::string::npos ? "sdumont" : "grid5000-lille";
    if (durations == "gsl") return name + "-gsl";
    if (durations == "table") return name;
    throw Error("--durations takes gsl or table; it is \"{}\"", durations);
}

/// Tile sizes of section 5.1, and r of section 5.5.
plan::Application application_of(const Case& of, const Platform& platform) {
    constexpr Index geo_tile = 960;
    constexpr Index mds_tile = 640;
    constexpr Index all = std::numeric_limits<Index>::max();
    if (of.application == StrategiesOf::mds)
        return mds::planned_scaling(
            {.points = of.tiles * mds_tile, .tile = mds_tile, .columns = 1000, .max_pending = all}, platform);
    return geo::planned_evaluation(
        {.points = of.tiles * geo_tile, .tile = geo_tile, .overlap = geo::Overlap::oversubscribe, .max_pending = all});
}

/// Oversubscription is for the critical tasks of Cholesky.
CriticalWorker critical_of(StrategiesOf application) {
    return application == StrategiesOf::geo ? CriticalWorker::shared_core : CriticalWorker::none;
}

Row row_of(const Case& of, const plan::Planned& planned, const plan::Strategy& strategy, double judged) {
    return {{"platform", of.platform},
            {"nodes", of.nodes},
            {"tiles", of.tiles},
            {"strategy", strategy.name},
            {"decided", strategy.simulated.makespan},
            {"makespan", judged},
            {"lp_ideal", strategy.lp_ideal ? Json(*strategy.lp_ideal) : Json()},
            {"lower_bound", planned.lower_bound},
            {"moved", strategy.moved},
            {"bytes", strategy.simulated.bytes},
            {"utilisation", strategy.simulated.utilisation},
            {"how", strategy.name == "chosen" ? planned.why.substr(0, planned.why.find(": the")) : strategy.family}};
}

std::string table_name(StrategiesOf application, const std::string& durations) {
    return fmt::format("paper000_strategies_{}{}.csv", application == StrategiesOf::mds ? "mds_" : "", durations);
}

class Report {
public:
    explicit Report(const StrategiesOptions& options)
        : options_(options),
          file_(fmt::format("{}/{}", options.folder, table_name(options.application, options.durations))) {
        if (std::filesystem::exists(file_)) rows_ = read_table(file_).rows;
    }

    void run(const Case& of) {
        if (is_known(of)) return;
        std::erase_if(rows_, [&](const Row& row) { return is_of(row, of); });
        const Platform platform = cli::read_platform(of.platform, of.nodes);
        const plan::Application application = application_of(of, platform);
        plan::PlanOptions planning{.budget_seconds = std::numeric_limits<double>::infinity(),
                                   .most_simulations = options_.simulations};
        planning.simulation.critical = critical_of(of.application);
        planning.progress = [&](Index simulated, double) { show(of, fmt::format("{} simulated", simulated)); };
        const plan::Planned planned = make_plan(application, platform, planning);
        show(of, "judged with SimGrid");
        const std::vector<double> judged = judge(application, platform, planned.strategies);
        for (std::size_t k = 0; k < judged.size(); ++k)
            rows_.push_back(row_of(of, planned, planned.strategies[k], judged[k]));
        write_table(file_, rows_, Digits::computed);
    }

    [[nodiscard]] Json result() const;

private:
    void show(const Case& of, const std::string& what) {
        progress_.show([&] { return fmt::format("{}, {} tiles: {}", of.nodes, of.tiles, what); });
    }

    [[nodiscard]] static bool is_of(const Row& row, const Case& of) {
        return row.at("platform") == of.platform && row.at("nodes") == of.nodes && row.at("tiles") == of.tiles;
    }
    /// Tables of before have no row for the paper's own lp, which comes by that name alone in those of now.
    [[nodiscard]] bool is_known(const Case& of) const {
        return std::ranges::any_of(rows_, [&](const Row& row) { return is_of(row, of) && row.at("strategy") == "lp"; });
    }

    /// Of each strategy the median over the seeds.
    [[nodiscard]] std::vector<double> judge(const plan::Application& application, const Platform& platform,
                                            const std::vector<plan::Strategy>& strategies) const {
        std::vector<std::function<double()>> runs;
        for (const plan::Strategy& strategy : strategies)
            for (int seed = 1; seed <= options_.seeds; ++seed)
                runs.emplace_back([&, seed] {
                    SimulatedEngine engine(platform, {.network = simgrid_network,
                                                      .noise = options_.noise,
                                                      .seed = static_cast<std::uint64_t>(seed),
                                                      .critical = critical_of(options_.application)});
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
    cli::ProgressLine progress_;
};

/// A case of the table: makespans by strategy.
struct Judged {
    double chosen = 0;
    double best_of_paper = std::numeric_limits<double>::infinity();
    double best_cyclic = std::numeric_limits<double>::infinity();
    double fast = 0;
    double lp = 0;  ///< the better of the two
    double ideal = 0;
    double bound = 0;
};

std::vector<Judged> judged_cases(const std::vector<Row>& rows) {
    std::vector<Judged> cases;
    for (const Row& row : rows) {
        const auto strategy = row.at("strategy").get<std::string>();
        const auto makespan = row.at("makespan").get<double>();
        if (strategy.ends_with("_triangle")) continue;  // ours
        if (strategy == "bc_all") cases.emplace_back();
        Judged& of = cases.back();
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
class Spread {
public:
    void add(double value) { values_.push_back(value); }
    [[nodiscard]] double largest() const { return std::ranges::max(values_); }
    [[nodiscard]] Json json() const {
        return {{"least", std::ranges::min(values_)}, {"median", median(values_)}, {"largest", largest()}};
    }

private:
    std::vector<double> values_;
};

template <class Holds>
double share_of(const std::vector<Judged>& cases, Holds holds) {
    return static_cast<double>(std::ranges::count_if(cases, holds)) / static_cast<double>(cases.size());
}

Json Report::result() const {
    const std::vector<Judged> cases = judged_cases(rows_);
    if (cases.empty()) throw Error("there is no case to judge");
    Spread behind;
    Spread lp_gain;
    Spread gain;
    Spread gap;
    for (const Judged& of : cases) {
        behind.add(of.chosen / of.best_of_paper - 1);
        lp_gain.add(1 - of.lp / of.fast);
        gain.add(1 - of.chosen / of.fast);
        gap.add(of.chosen / of.bound - 1);
    }
    Json result{{"cases", cases.size()}, {"table", file_}};
    result["gain_of_lp_over_bc_fast"] = lp_gain.json();
    result["gain_of_chosen_over_bc_fast"] = gain.json();
    result["gap_to_lower_bound"] = gap.json();
    result["block_cyclic_is_best_of_the_five"] =
        share_of(cases, [](const Judged& of) { return of.best_cyclic <= of.best_of_paper; });
    result["within_10_percent_of_bounds"] =
        share_of(cases, [](const Judged& of) { return of.chosen <= 1.1 * std::max(of.ideal, of.bound); });
    const double better = share_of(cases, [](const Judged& of) { return of.chosen <= 0.97 * of.best_of_paper; });
    result["better_by_3_percent"] = better;
    result["checks"] =
        Json::array({at_most("ours behind the best of the paper's five, at worst", behind.largest(), 0.02)});
    if (options_.application == StrategiesOf::geo)
        result["checks"].push_back(
            at_least("cases in which ours is better than these by at least 3 %", better, 1.0 / 3));
    return result;
}

}  // namespace

std::vector<ComputedTable> strategies_tables() {
    const auto remake = [](StrategiesOf application) {
        return [application](const Row& row) {
            const Case of{.application = application,
                          .platform = row.at("platform").get<std::string>(),
                          .nodes = row.at("nodes").get<std::string>(),
                          .tiles = row.at("tiles").get<Index>()};
            plan::PlanOptions five{.budget_seconds = 0};
            five.simulation.critical = critical_of(application);
            const Platform platform = cli::read_platform(of.platform, of.nodes);
            const plan::Planned planned = make_plan(application_of(of, platform), platform, five);
            for (const plan::Strategy& strategy : planned.strategies)
                if (row.at("strategy") == strategy.name) return row_of(of, planned, strategy, 0);
            throw Error("there is no strategy {}", row.at("strategy").get<std::string>());
        };
    };
    const auto quick = [](Index tiles, const char* plain) {
        return [tiles, plain](const Row& row) {
            return row.at("nodes") == "4sdc+4sdg" && row.at("tiles") == tiles &&
                   (row.at("strategy") == "bc_fast" || row.at("strategy") == plain);
        };
    };
    return {{.file = table_name(StrategiesOf::geo, "gsl"),
             .remake = remake(StrategiesOf::geo),
             .quick = quick(101, "1d1d_triangle"),
             .times = {"makespan"}},
            {.file = table_name(StrategiesOf::geo, "table"),
             .remake = remake(StrategiesOf::geo),
             .quick = quick(101, "1d1d_triangle"),
             .times = {"makespan"}},
            {.file = table_name(StrategiesOf::mds, "gsl"),
             .remake = remake(StrategiesOf::mds),
             .quick = quick(75, "1d"),
             .times = {"makespan"}}};
}

Json strategies_benchmark(const StrategiesOptions& options) {
    Report report(options);
    for (const Index tiles : options.tiles.empty() ? workloads(options.application) : options.tiles)
        for (const std::string& set : options.sets.empty() ? all_sets : options.sets)
            report.run({.application = options.application,
                        .platform = platform_of(set, options.durations),
                        .nodes = set,
                        .tiles = tiles});
    return report.result();
}

}  // namespace tesela::bench
