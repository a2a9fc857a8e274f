#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/output_folder.hpp"
#include "panel_plot.hpp"
#include "paper000/evaluation.hpp"
#include "paper000/traced_run.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/io/platform_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {
namespace {

using geo::Overlap;

struct Paper000Options {
    std::vector<Index> tiles{60, 101};  ///< tile rows; the paper's workloads
    /// The same of figures 5, 9 and 10; the first and the last show the last.
    std::vector<Index> scaling_tiles{75, 100, 200};
    std::vector<int> figures{5, 7, 8, 9, 10};
    std::string folder = "docs/tables";
};

void add_paper000_options(CLI::App& command, Paper000Options& options) {
    comma_separated(
        command.add_option("--tiles", options.tiles, "Tile rows of the matrices; the last is that of figure 8"));
    comma_separated(command.add_option("--scaling-tiles", options.scaling_tiles,
                                       "The same of figure 9; the last is that of 5 and 10"));
    comma_separated(command.add_option("--figures", options.figures, "Some of them"));
    command.add_option("--folder", options.folder, "Where the files go")->capture_default_str();
}

const std::vector<int> paper000_figures{5, 7, 8, 9, 10};

struct Machines {
    std::string platform;
    std::string nodes;
    std::string name;
};
const std::vector<Machines> overlap_machines{{"grid5000-lille-gsl", "4chi", "4 Chifflets"},
                                             {"grid5000-lille-gsl", "6chi", "6 Chifflets"},
                                             {"sdumont-gsl", "4sdg", "4 B715 of SDumont"},
                                             {"sdumont-gsl", "6sdg", "6 B715 of SDumont"}};

/// What the paper says that all steps gain over `sync`: from 31 % to 46 % in section 5.2 (section 7 says from 29 % on).
/// It shows no such run on SDumont.
struct PaperGain {
    std::string nodes;
    Index tiles = 0;
    double gain = 0;
};
const std::vector<PaperGain> paper_gains{
    {"4chi", 101, 0.31}, {"6chi", 60, 0.46}, {"4chi", 60, 0.31}, {"6chi", 101, 0.31}};

struct OverlapCase {
    std::string platform;
    std::string nodes;
    Index tiles = 0;
    Overlap overlap = Overlap::sync;
};

SimulationResult simulate(const OverlapCase& of) {
    return simulate_evaluation(
        {.platform = read_platform(of.platform, of.nodes), .tiles = of.tiles, .overlap = of.overlap});
}

/// A row of the table, with the makespan of the case under `sync` (not needed for that step itself).
Row evaluation_row(const OverlapCase& of, double sync) {
    const SimulationResult r = simulate(of);
    return {{"platform", of.platform},
            {"nodes", of.nodes},
            {"tiles", of.tiles},
            {"step", geo::name(of.overlap)},
            {"makespan", r.makespan},
            {"gain", of.overlap == Overlap::sync ? 0 : 1 - r.makespan / sync},
            {"lower_bound", r.lower_bound},
            {"bytes", r.bytes},
            {"utilisation", r.utilisation}};
}

/// Figure 9: r = 1000 is section 5.5's; the paper does not give the other.
const std::vector<Index> scaling_columns{1000, 2000};
const std::vector<Machines> scaling_machines{{"grid5000-lille", "4chi", "4 Chifflets"},
                                             {"grid5000-lille", "6chi", "6 Chifflets"}};
constexpr double least_paper_gain = 0.29;  // section 5.3: from 29 % up to 40 %

struct ScalingCase {
    std::string platform;
    std::string nodes;
    Index tiles = 0;
    Index columns = 0;
    StreamingStep step = StreamingStep::sync;
};

SimulationResult simulate(const ScalingCase& of) {
    return simulate_scaling(
        {.platform = read_platform(of.platform, of.nodes), .tiles = of.tiles, .columns = of.columns, .step = of.step});
}

/// As evaluation_row().
Row scaling_row(const ScalingCase& of, double sync) {
    const SimulationResult r = simulate(of);
    return {{"platform", of.platform},
            {"nodes", of.nodes},
            {"tiles", of.tiles},
            {"columns", of.columns},
            {"step", name_in(streaming_step_names, of.step)},
            {"makespan", r.makespan},
            {"gain", of.step == StreamingStep::sync ? 0 : 1 - r.makespan / sync},
            {"lower_bound", r.lower_bound},
            {"bytes", r.bytes},
            {"utilisation", r.utilisation}};
}

/// Runs all cases and keeps what tables and pictures are made of.
class Paper000Figures {
public:
    explicit Paper000Figures(const Paper000Options& options) : options_(options), folder_(options.folder) {}

    void figure7() {
        PanelPlot plot{
            .title = "Paper 000, figure 7: one likelihood evaluation, each step with those before it, simulated",
            .x_label = "",
            .y_label = "seconds",
            .series = {"makespan", "lower bound"},
            .panels = {},
            .style = PlotStyle::bars,
            .columns = 2,
            .panel_width = 480};
        std::vector<Row> rows;
        for (const Machines& of : overlap_machines)
            for (const Index tiles : options_.tiles) plot.panels.push_back(steps_of(of, tiles, rows));
        folder_.table("paper000_figure7.csv", rows, Digits::computed);
        folder_.picture("paper000_figure7.svg", draw_panels(plot));
    }

    void figure9() {
        PanelPlot plot{
            .title =
                "Paper 000, figure 9: multidimensional scaling up to its first product, each step with those "
                "before it, simulated",
            .x_label = "",
            .y_label = "seconds",
            .series = {},
            .panels = {},
            .style = PlotStyle::bars,
            .columns = 2,
            .panel_width = 480};
        for (const Index columns : scaling_columns)
            plot.series.push_back(fmt::format("product with {} random columns", columns));
        std::vector<Row> rows;
        for (const Index tiles : options_.scaling_tiles)
            for (const Machines& of : scaling_machines) plot.panels.push_back(scaling_steps_of(of, tiles, rows));
        folder_.table("paper000_figure9.csv", rows, Digits::computed);
        folder_.picture("paper000_figure9.svg", draw_panels(plot));
    }

    void figure8() {
        const Index tiles = options_.tiles.back();
        const Platform platform = read_platform("grid5000-lille-gsl", "4chi");
        const auto run = [&](Overlap overlap, const char* title) {
            show(fmt::format("figure 8, {}", geo::name(overlap)));
            const bool critical = overlap == Overlap::oversubscribe;
            return traced_run(
                title, platform, critical ? CriticalWorker::shared_core : CriticalWorker::none,
                [&](ScheduleObserver& observer) {
                    (void)simulate_evaluation(
                        {.platform = platform, .tiles = tiles, .overlap = overlap, .observers = {&observer}});
                });
        };
        draw("paper000_figure8.svg",
             {run(Overlap::async, "async"), run(Overlap::memory, "with local solve and memory"),
              run(Overlap::oversubscribe, "all steps")},
             evaluation_picture(
                 fmt::format("Paper 000, figure 8: {} x {} tiles on four Chifflets, simulated", tiles, tiles)));
    }

    /// The run that waits between its phases, beside the one that does not.
    void figure5() {
        draw("paper000_figure5.svg",
             {scaling_run(5, StreamingStep::sync, "sync"), scaling_run(5, StreamingStep::priorities, "all steps")},
             scaling_picture(scaling_title(5)));
    }

    void figure10() {
        draw("paper000_figure10.svg",
             {scaling_run(10, StreamingStep::async, "async"),
              scaling_run(10, StreamingStep::split_gram, "with allocation and split_gram"),
              scaling_run(10, StreamingStep::priorities, "all steps")},
             scaling_picture(scaling_title(10)));
    }

    [[nodiscard]] Report report() const { return {.figures = {{"files", folder_.files()}}, .checks = checks_}; }

private:
    PlotPanel steps_of(const Machines& of, Index tiles, std::vector<Row>& rows) {
        PlotPanel panel{.title = "", .places = {}, .values = {{}, {}}};
        double sync = 0, gain = 0;
        for (const auto& [overlap, step] : geo::overlap_names) {
            show(fmt::format("{}, {} tiles, {}", of.name, tiles, step));
            const Row& row = rows.emplace_back(
                evaluation_row({.platform = of.platform, .nodes = of.nodes, .tiles = tiles, .overlap = overlap}, sync));
            const auto makespan = row.at("makespan").get<double>();
            if (overlap == Overlap::sync) sync = makespan;
            gain = row.at("gain").get<double>();
            panel.places.emplace_back(step);
            panel.values[0].push_back(makespan);
            panel.values[1].push_back(row.at("lower_bound").get<double>());
        }
        panel.title = fmt::format("{}, {} x {} tiles: {:.1f} % less than sync", of.name, tiles, tiles, 100 * gain);
        check(of, tiles, gain);
        return panel;
    }

    [[nodiscard]] std::string scaling_title(int figure) const {
        return fmt::format(
            "Paper 000, figure {0}: scaling of {1} x {1} tiles on four Chifflets, {2} random columns, simulated",
            figure, options_.scaling_tiles.back(), scaling_columns.front());
    }
    [[nodiscard]] TitledTrace scaling_run(int figure, StreamingStep step, const char* title) {
        show(fmt::format("figure {}, {}", figure, title));
        const Platform platform = read_platform(scaling_machines[0].platform, scaling_machines[0].nodes);
        return traced_run(title, platform, CriticalWorker::none, [&](ScheduleObserver& observer) {
            (void)simulate_scaling({.platform = platform,
                                    .tiles = options_.scaling_tiles.back(),
                                    .columns = scaling_columns.front(),
                                    .step = step,
                                    .observers = {&observer}});
        });
    }
    void draw(const char* file, const std::vector<TitledTrace>& runs, const TracePicture& as) {
        folder_.picture(file, draw_runs(picture_of(runs, as)));
    }

    PlotPanel scaling_steps_of(const Machines& of, Index tiles, std::vector<Row>& rows) {
        PlotPanel panel{.title = "", .places = {}, .values = {}};
        for (const auto& [step, name] : streaming_step_names) panel.places.emplace_back(name);
        std::vector<std::string> gains;
        for (const Index columns : scaling_columns) {
            double sync = 0, gain = 0;
            auto& seconds = panel.values.emplace_back();
            for (const auto& [step, name] : streaming_step_names) {
                show(fmt::format("{}, {} tiles, {} columns, {}", of.name, tiles, columns, name));
                const Row& row = rows.emplace_back(scaling_row(
                    {.platform = of.platform, .nodes = of.nodes, .tiles = tiles, .columns = columns, .step = step},
                    sync));
                seconds.push_back(row.at("makespan").get<double>());
                if (step == StreamingStep::sync) sync = seconds.back();
                gain = row.at("gain").get<double>();
            }
            gains.push_back(fmt::format("{:.1f} %", 100 * gain));
            checks_.push_back(at_least(
                fmt::format("{}, {} tiles, {} random columns: gain of all steps over sync, at least the least of "
                            "the paper's, {:.0f} %",
                            of.name, tiles, columns, 100 * least_paper_gain),
                gain, least_paper_gain));
        }
        panel.title =
            fmt::format("{}, {} x {} tiles: {} less than sync", of.name, tiles, tiles, fmt::join(gains, ", "));
        return panel;
    }

    /// At least half of what the paper gained.
    void check(const Machines& of, Index tiles, double gain) {
        for (const PaperGain& paper : paper_gains) {
            if (paper.nodes != of.nodes || paper.tiles != tiles) continue;
            checks_.push_back(
                at_least(fmt::format("{}, {} tiles: gain of all steps over sync, at least half of the paper's {:.0f} %",
                                     of.name, tiles, 100 * paper.gain),
                         gain, paper.gain / 2));
        }
    }

    void show(const std::string& what) {
        progress_.show([&] { return what; });
    }

    const Paper000Options& options_;
    OutputFolder folder_;
    ProgressLine progress_;
    std::vector<Check> checks_;
};

/// Figures 7 and 8 of paper 000: one likelihood evaluation of ExaGeoStat's size under each step of overlap, simulated
/// on the paper's Chifflets (and on SDumont's nodes with GPUs, where the paper shows none), with the costs of memory
/// that its second section names; as table and pictures. Figure 9: the same for multidimensional scaling, with two
/// widths of the random matrix; figures 5 and 10 show such runs. Nothing in them depends on the machine that runs it.
Report make_paper000_figures(const Paper000Options& options) {
    if (options.tiles.empty()) throw Error("--tiles needs at least one size");
    if (options.scaling_tiles.empty()) throw Error("--scaling-tiles needs at least one size");
    for (const auto* sizes : {&options.tiles, &options.scaling_tiles})
        for (const Index tiles : *sizes)
            if (tiles < 2) throw Error("matrices have at least 2 tile rows; one is to have {}", tiles);
    for (const int figure : options.figures)
        if (std::ranges::find(paper000_figures, figure) == paper000_figures.end())
            throw Error("figures {} can be made, not {}", fmt::join(paper000_figures, ", "), figure);
    const auto wanted = [&](int figure) { return std::ranges::find(options.figures, figure) != options.figures.end(); };
    Paper000Figures figures(options);
    if (wanted(5)) figures.figure5();
    if (wanted(7)) figures.figure7();
    if (wanted(8)) figures.figure8();
    if (wanted(9)) figures.figure9();
    if (wanted(10)) figures.figure10();
    return figures.report();
}

}  // namespace

Experiment paper000() {
    return experiment("paper000", "Figures 5 and 7 to 10 of paper 000: what each step of --overlap gains, simulated",
                      add_paper000_options, make_paper000_figures);
}

std::vector<ComputedTable> paper000_tables() {
    const auto remake = [](const Row& row) {
        OverlapCase of{.platform = row.at("platform").get<std::string>(),
                       .nodes = row.at("nodes").get<std::string>(),
                       .tiles = row.at("tiles").get<Index>()};
        const double sync = simulate(of).makespan;
        of.overlap = geo::parse_overlap(row.at("step").get<std::string>());
        return evaluation_row(of, sync);
    };
    const auto quick = [](const Row& row) { return row.at("tiles").get<Index>() <= 60; };
    const auto remake_scaling = [](const Row& row) {
        ScalingCase of{.platform = row.at("platform").get<std::string>(),
                       .nodes = row.at("nodes").get<std::string>(),
                       .tiles = row.at("tiles").get<Index>(),
                       .columns = row.at("columns").get<Index>()};
        const double sync = simulate(of).makespan;
        of.step = parse_name(streaming_step_names, row.at("step").get<std::string>(), "step");
        return scaling_row(of, sync);
    };
    const auto quick_scaling = [](const Row& row) {
        return row.at("tiles").get<Index>() <= 75 && row.at("columns").get<Index>() <= 1000;
    };
    return {{.file = "paper000_figure7.csv", .remake = remake, .quick = quick},
            {.file = "paper000_figure9.csv", .remake = remake_scaling, .quick = quick_scaling}};
}

}  // namespace tesela::bench
