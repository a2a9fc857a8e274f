// What overlapping a redistribution with the factorisation after it saves on clusters with a real network: the same
// stream on the simulated engine, with and without a barrier.

#include "paper002/section.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

namespace tesela::bench {
namespace {

struct OverlapCluster {
    std::string platform;
    std::string nodes;
};

constexpr Index overlap_tile = 960;

enum class Between { nothing, barrier };

/// Seconds of a redistribution, and of it and the factorisation together.
struct OverlapTimes {
    double redistribution = 0;
    double both = 0;
};

OverlapTimes simulate_overlap(const OverlapCluster& cluster, Index tiles, Between between) {
    SimulatedEngine engine(read_platform(cluster.platform, cluster.nodes));
    const Index nodes = engine.node_count();
    const Tiling coarse = Tiling::square(tiles * overlap_tile, 2 * overlap_tile);
    const Tiling fine = Tiling::square(tiles * overlap_tile, overlap_tile);
    OverlapTimes times;
    {
        Stream s(engine);
        const auto columns = make_distribution(fmt::format("block_cyclic:1x{}", nodes), coarse.grid(), nodes);
        const Matrix<double> A(s, coarse, columns, {.memory = [](TileIndex) { return TileMemory{}; }});
        const Matrix<double> B(s, fine, squarest_block_cyclic(fine.grid(), nodes),
                               {.name = "B", .stored = Stored::lower});
        redistribute(s, A.lower(), B.view());
        if (between == Between::barrier) require_done(s.wait());
        times.redistribution = engine.result().makespan;
        cholesky(s, B);
        require_done(s.wait());
    }
    times.both = engine.result().makespan;
    return times;
}

Row overlap_row(const OverlapCluster& cluster, Index n) {
    const OverlapTimes apart = simulate_overlap(cluster, n / overlap_tile, Between::barrier);
    const OverlapTimes overlapping = simulate_overlap(cluster, n / overlap_tile, Between::nothing);
    return {{"platform", cluster.platform},
            {"nodes", cluster.nodes},
            {"n", n},
            {"redistribution", apart.redistribution},
            {"with_barrier", apart.both},
            {"without_barrier", overlapping.both},
            {"saved", apart.both - overlapping.both},
            {"saved_share", 1 - overlapping.both / apart.both},
            {"hidden_share", (apart.both - overlapping.both) / apart.redistribution}};
}

std::vector<Row> simulate_overlaps(Laboratory& lab) {
    std::vector<Row> rows;
    for (const OverlapCluster& cluster : {OverlapCluster{"shaheen2", "16haswell"}, OverlapCluster{"nacl", "16nacl"},
                                          OverlapCluster{"grid5000-lille", "12che"}})
        for (const Index tiles : lab.sized<std::vector<Index>>({20, 40, 80}, {12}))
            rows.push_back(overlap_row(cluster, tiles * overlap_tile));
    return rows;
}

}  // namespace

Section simulated_overlap_section() {
    return {
        .name = "overlap_simulated",
        .run = simulate_overlaps,
        .plot =
            [](const std::vector<Row>& rows) {
                return plot_rows(
                    {.title = "How much of a redistribution hides behind the Cholesky after it, on simulated clusters",
                     .x_label = "order of the matrix",
                     .y_label = "share hidden",
                     .panel = [](const Row& row) { return row.at("nodes").get<std::string>(); },
                     .place = [](const Row& row) { return row.at("n").dump(); },
                     .series = {{"hidden_share", "time saved / time of the redistribution"}},
                     .style = PlotStyle::bars,
                     .columns = 3,
                     .panel_width = 250},
                    rows);
            },
        .again = Section::Again{.remake =
                                    [](const Row& row) {
                                        return overlap_row(
                                            {row.at("platform").get<std::string>(), row.at("nodes").get<std::string>()},
                                            row.at("n").get<Index>());
                                    },
                                .quick = [](const Row& row) { return row.at("n").get<Index>() <= 20 * overlap_tile; }}};
}

}  // namespace tesela::bench
