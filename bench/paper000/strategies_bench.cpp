#include "paper000/strategies_bench.hpp"

#include "checks.hpp"
#include "in_children.hpp"
#include "table.hpp"

#include "tesela/apps/geo/planning.hpp"
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

constexpr Index tile_size = 960;  // section 5.1

/// Nine that the text names, then nine of ours.
const std::vector<std::string> all_sets{
    "4cle+1cho", "6cle+4chi",      "6che+6chi",  "6che+6chi+1cho", "6che+6chi+2cho", "4che+4chi+2cho",
    "4cle+4chi", "4cle+4chi+1cho", "12sdc+4sdg", "4che+4chi",      "4che+4chi+1cho", "6che+4chi",
    "6cle+2cho", "4cle+4chi+2cho", "4sdc+4sdg",  "8sdc+4sdg",      "8sdc+8sdg",      "10sdc+10sdg"};

struct Case {
    std::string platform;
    std::string nodes;
    Index tiles = 0;
};

std::string platform_of(const std::string& set, const std::string& durations) {
    std::string name = set.find("sd") != std::string::npos ? "sdumont" : "grid5000-lille";
    if (durations == "gsl") return name + "-gsl";
    if (durations == "table") return name;
    throw Error("--durations takes gsl or table; it is \"{}\"", durations);
}

plan::Application application_of(const Case& of) {
    return geo::planned_evaluation({.points = of.tiles * tile_size,
                                    .tile = tile_size,
                                    .overlap = geo::Overlap::oversubscribe,
                                    .max_pending = std::numeric_limits<Index>::max()});
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

class Report {
public:
    explicit Report(const StrategiesOptions& options)
        : options_(options),
          file_(fmt::format("{}/paper000_strategies_{}.csv", options.folder, options.durations)) {
        if (std::filesystem::exists(file_)) rows_ = read_table(file_).rows;
    }

    void run(const Case& of) {
        if (is_known(of)) return;
        const Platform platform = cli::read_platform(of.platform, of.nodes);
        const plan::Application application = application_of(of);
        plan::PlanOptions planning{.budget_seconds = std::numeric_limits<double>::infinity(),
                                   .most_simulations = options_.simulations};
        planning.simulation.critical = CriticalSlot::shared_core;
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
    [[nodiscard]] bool is_known(const Case& of) const {
        return std::ranges::any_of(rows_, [&](const Row& row) { return is_of(row, of); });
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
                                                      .critical = CriticalSlot::shared_core});
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

template <class Holds>
double share_of(const std::vector<Judged>& cases, Holds holds) {
    return static_cast<double>(std::ranges::count_if(cases, holds)) / static_cast<double>(cases.size());
}

Json Report::result() const {
    const std::vector<Judged> cases = judged_cases(rows_);
    if (cases.empty()) throw Error("there is no case to judge");
    double worst = 0;
    double gain = -1;
    for (const Judged& of : cases) {
        worst = std::max(worst, of.chosen / of.best_of_paper - 1);
        gain = std::max(gain, 1 - of.lp / of.fast);
    }
    Json result{{"cases", cases.size()}, {"table", file_}};
    result["largest_gain_of_lp_over_bc_fast"] = gain;
    result["block_cyclic_is_best_of_the_five"] =
        share_of(cases, [](const Judged& of) { return of.best_cyclic <= of.best_of_paper; });
    result["within_10_percent_of_bounds"] =
        share_of(cases, [](const Judged& of) { return of.chosen <= 1.1 * std::max(of.ideal, of.bound); });
    result["checks"] = Json::array(
        {at_most("ours behind the best of the paper's five, at worst", worst, 0.02),
         at_least("cases in which ours is better than these by at least 3 %",
                  share_of(cases, [](const Judged& of) { return of.chosen <= 0.97 * of.best_of_paper; }), 1.0 / 3)});
    return result;
}

}  // namespace

std::vector<ComputedTable> strategies_tables() {
    const auto remake = [](const Row& row) {
        const Case of{.platform = row.at("platform").get<std::string>(),
                      .nodes = row.at("nodes").get<std::string>(),
                      .tiles = row.at("tiles").get<Index>()};
        plan::PlanOptions five{.budget_seconds = 0};
        five.simulation.critical = CriticalSlot::shared_core;
        const plan::Planned planned = make_plan(application_of(of), cli::read_platform(of.platform, of.nodes), five);
        for (const plan::Strategy& strategy : planned.strategies)
            if (row.at("strategy") == strategy.name) return row_of(of, planned, strategy, 0);
        throw Error("there is no strategy {}", row.at("strategy").get<std::string>());
    };
    const auto quick = [](const Row& row) {
        return row.at("nodes") == "4sdc+4sdg" && row.at("tiles") == 101 &&
               (row.at("strategy") == "bc_fast" || row.at("strategy") == "1d1d");
    };
    return {{.file = "paper000_strategies_gsl.csv", .remake = remake, .quick = quick, .times = {"makespan"}}};
}

Json strategies_benchmark(const StrategiesOptions& options) {
    Report report(options);
    for (const Index tiles : options.tiles)
        for (const std::string& set : options.sets.empty() ? all_sets : options.sets)
            report.run({.platform = platform_of(set, options.durations), .nodes = set, .tiles = tiles});
    return report.result();
}

}  // namespace tesela::bench
