#pragma once

#include "harness/part_table.hpp"
#include "panel_plot.hpp"
#include "shared/contest.hpp"
#include "shared/rates.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {

enum class Scope { full, quick };

/// What every section works with.
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
struct Section {
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

/// Tiles of the sizes that the paper's messages have: 800 bytes to 1.28 MB.
inline const std::vector<Index> message_tiles{10, 20, 50, 100, 200, 400};
[[nodiscard]] constexpr Index tile_bytes_of(Index tile) { return tile * tile * static_cast<Index>(sizeof(double)); }
/// A row's message_bytes.
[[nodiscard]] std::string bytes_label(const Row& row);

/// An element of a symmetric matrix that is positive definite, by diagonal dominance.
[[nodiscard]] double dominant_element(const void*, ElementIndex at);

/// Of Shaheen II, as many as in the paper's figures 14 and 18.
constexpr Index shaheen_nodes = 64;

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

// They, in the order of the paper's sections.
[[nodiscard]] Section switches_section();
[[nodiscard]] Section categories_section();
[[nodiscard]] Section patterns_section();
[[nodiscard]] Section random_section();
[[nodiscard]] Section whole_tiles_section();
[[nodiscard]] Section scalapack_section();
[[nodiscard]] Section qr_section();
[[nodiscard]] Section cholesky_section();
[[nodiscard]] Section compressed_section();
[[nodiscard]] Section overlap_section();
[[nodiscard]] Section applications_section();
// The same on simulated clusters.
[[nodiscard]] Section simulated_messages_section();
[[nodiscard]] Section simulated_patterns_section();
[[nodiscard]] Section simulated_random_section();
[[nodiscard]] Section simulated_scalapack_section();
[[nodiscard]] Section simulated_qr_section();
[[nodiscard]] Section simulated_overlap_section();
[[nodiscard]] Section simulated_applications_section();

}  // namespace tesela::bench
