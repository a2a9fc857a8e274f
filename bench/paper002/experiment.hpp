#pragma once

#include "paper002/panel_plot.hpp"
#include "part_table.hpp"
#include "redistribution/contest.hpp"
#include "redistribution/rates.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {

enum class Scope { full, quick };

/// What every experiment works with.
struct Laboratory {
    StarpuEngine& engine;
    MachineRates rates;
    Scope scope = Scope::full;
    int repetitions = 5;

    [[nodiscard]] Index nodes() const { return engine.node_count(); }
    /// Sizes of a full run, or of one that only shows that everything works.
    template <class T>
    [[nodiscard]] T sized(T full, T quick) const {
        return scope == Scope::full ? full : quick;
    }
    /// Measures redistributions in turn.
    [[nodiscard]] std::vector<ContestTimes> race(const std::vector<std::unique_ptr<Contest>>& contests) const {
        return bench::race(contests, repetitions);
    }
};

/// A section of paper 002 §8: rows of docs/tables/redistribution_NAME.csv and their picture. What is measured has a
/// column "nodes", those at hand; what is simulated is the same everywhere, and one node computes it.
struct Experiment {
    /// How a simulated row is made again from the columns that say what it is of, and for which a test has time.
    struct Again {
        std::function<Row(const Row&)> remake;
        std::function<bool(const Row&)> quick;
    };

    std::string name;
    std::function<std::vector<Row>(Laboratory&)> run;  ///< every node calls it; rows are the same on all
    std::function<PanelPlot(const std::vector<Row>&)> plot;
    std::optional<Again> again{};  ///< of what is simulated
    /// A measurement is left out on fewer or more nodes.
    Index fewest_nodes = 2;
    Index most_nodes = std::numeric_limits<Index>::max();

    [[nodiscard]] bool simulated() const { return again.has_value(); }
    [[nodiscard]] bool runs_on(Index nodes) const {
        return simulated() ? nodes == 1 : nodes >= fewest_nodes && nodes <= most_nodes;
    }
};

/// How rows become panels: rows with the same title, one after another, are the places of one panel.
struct PlotRecipe {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::function<std::string(const Row&)> panel;
    std::function<std::string(const Row&)> place;
    /// Column and name in the legend.
    std::vector<std::pair<std::string, std::string>> series;
    PlotStyle style = PlotStyle::lines;
    int columns = 3;
    double panel_width = 250;
};
[[nodiscard]] PanelPlot plot_rows(const PlotRecipe& recipe, const std::vector<Row>& rows);

// The experiments, in the order of the paper's sections.
[[nodiscard]] Experiment switches_experiment();
[[nodiscard]] Experiment categories_experiment();
[[nodiscard]] Experiment patterns_experiment();
[[nodiscard]] Experiment random_experiment();
[[nodiscard]] Experiment whole_tiles_experiment();
[[nodiscard]] Experiment scalapack_experiment();
[[nodiscard]] Experiment qr_experiment();
[[nodiscard]] Experiment cholesky_experiment();
[[nodiscard]] Experiment compressed_experiment();
[[nodiscard]] Experiment overlap_experiment();
[[nodiscard]] Experiment applications_experiment();
// The same on simulated clusters.
[[nodiscard]] Experiment simulated_messages_experiment();
[[nodiscard]] Experiment simulated_patterns_experiment();
[[nodiscard]] Experiment simulated_random_experiment();
[[nodiscard]] Experiment simulated_scalapack_experiment();
[[nodiscard]] Experiment simulated_qr_experiment();
[[nodiscard]] Experiment simulated_overlap_experiment();
[[nodiscard]] Experiment simulated_applications_experiment();

}  // namespace tesela::bench
