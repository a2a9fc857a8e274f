// Sections 8.2 to 8.6 of paper 002: redistributions alone.

#include "paper002/section.hpp"
#include "paper002/segment_tasks.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace tesela::bench {
namespace {

using Contests = std::vector<std::unique_ptr<Contest>>;

double to_gigabytes(double bytes) { return 1e-9 * bytes; }

/// Formulas (3) and (5) of the paper for a measured time, in GB/s.
struct MeasuredBandwidth {
    double achieved = 0;
    double bound = 0;
    double bound_at_size = 0;  // with the network bandwidth of single messages of a segment's size
};
MeasuredBandwidth bandwidth(const Laboratory& lab, const Contest& contest, double seconds, Index message_bytes) {
    const RedistributionVolume volume = contest.volume();
    const RedistributionBound bound = redistribution_bound(volume, lab.rates.copy());
    const RedistributionBound at_size = redistribution_bound(volume, lab.rates.copy_at(message_bytes));
    return {to_gigabytes(static_cast<double>(bound.largest) / seconds), to_gigabytes(bound.bandwidth),
            to_gigabytes(at_size.bandwidth)};
}

std::vector<Index> tiles_to_measure(const Laboratory& lab) { return lab.sized(message_tiles, {20, 100}); }

/// Bandwidth is a rate: small tiles, of which there are many, need no large matrix.
Index order_for(const Laboratory& lab, Index tile) { return lab.sized<Index>(tile < 50 ? 1200 : 2400, 600); }

// ------------------------------------------------------------------ 8.2: the switches

struct SwitchCase {
    std::string name;
    std::string varied;  // what `at` is
    Index at = 0;
    ContestOptions on, off;
    double volume_ratio = 1;  // bytes that travel without the switch over those with it
};

Row measure_switch(Laboratory& lab, const SwitchCase& c) {
    Contests contests;
    for (const ContestOptions& options : {c.on, c.off})
        contests.push_back(std::make_unique<Contest>(lab.engine, options));
    const auto times = lab.race(contests);
    for (const auto& contest : contests)
        if (contest->wrong() > 0) throw Error("{} = {} left elements where they should not be", c.name, c.at);
    return {{"nodes", lab.nodes()},
            {"switch", c.name},
            {"path", c.on.by ? "tasks" : "exchange"},
            {"varied", c.varied},
            {"at", c.at},
            {"seconds_on", times[0].tesela},
            {"seconds_off", times[1].tesela},
            {"speedup", times[1].tesela / times[0].tesela},
            {"volume_ratio", c.volume_ratio}};
}

ContestOptions between_grids(const Laboratory& lab, Index n) {
    return {.n = n, .from = flat_grid(lab.nodes()), .to = square_grid(lab.nodes()), .compare = false};
}

ContestOptions by_tasks(ContestOptions options, const SegmentTasksOptions& how) {
    options.by = [how](Stream& s, const MatrixView<double>& from, const MatrixView<double>& to) {
        redistribute_by_tasks(s, from, to, how);
    };
    return options;
}

/// Figure 6a: many messages of one tile each, all at once or some at a time; as tasks also with the paper's own
/// `batch`, tile columns, of which so many go at a time as the grids have. The exchange notices only when there are far
/// more.
std::vector<SwitchCase> batch_cases(const Laboratory& lab) {
    std::vector<SwitchCase> cases;
    const auto where = [&](Index tile, ElementIndex size) {
        ContestOptions options = between_grids(lab, size.i);
        options.from_size = options.to_size = size;
        options.tile_from = options.tile_to = {tile, tile};
        return options;
    };
    for (const Index cols : lab.sized<std::vector<Index>>({1000, 4000, 16000}, {400})) {
        const ContestOptions options = where(100, {lab.sized<Index>(1000, 200), cols});
        SegmentTasksOptions how{.message_bytes = tile_bytes_of(100)};
        const ContestOptions some = by_tasks(options, how);
        how.batch = 0;
        const ContestOptions all = by_tasks(options, how);
        how.batch_columns = lab.nodes();  // the least common multiple of both grids' columns
        cases.push_back({.name = "batch", .varied = "columns", .at = cols, .on = some, .off = all});
        cases.push_back({"batch_columns", "columns", cols, by_tasks(options, how), all});
    }
    for (const Index cols : lab.sized<std::vector<Index>>({500, 1000, 2000}, {100})) {
        ContestOptions options = where(10, {lab.sized<Index>(1000, 100), cols});
        options.redistribute = {.message_bytes = tile_bytes_of(10)};
        SwitchCase c{.name = "batch", .varied = "columns", .at = cols, .on = options, .off = options};
        c.off.redistribute.batch = 0;
        cases.push_back(std::move(c));
    }
    return cases;
}

/// Figure 6b: more and more segments in a target tile. Needs two workers in a node to matter.
std::vector<SwitchCase> isolation_cases(const Laboratory& lab) {
    std::vector<SwitchCase> cases;
    for (const Index tile : lab.sized<std::vector<Index>>({500, 1000, 2000, 4000}, {200})) {
        ContestOptions options = between_grids(lab, lab.sized<Index>(4000, 400));
        options.tile_from = {100, 100};
        options.tile_to = {tile, tile};
        cases.push_back({.name = "isolate_segments",
                         .varied = "target tile",
                         .at = tile,
                         .on = by_tasks(options, {}),
                         .off = by_tasks(options, {.isolate_segments = false})});
    }
    return cases;
}

/// Figure 7: the source tiles grow, the target tiles do not.
std::vector<SwitchCase> volume_cases(const Laboratory& lab) {
    std::vector<SwitchCase> cases;
    const auto target = lab.sized<Index>(200, 50);
    for (const Index times : lab.sized<std::vector<Index>>({1, 2, 3, 5}, {2})) {
        ContestOptions options = between_grids(lab, lab.sized<Index>(3000, 400));
        options.tile_from = {times * target, times * target};
        options.tile_to = {target, target};
        // Messages of one segment, so that the volume is all that differs.
        const Index bytes = tile_bytes_of(target);
        cases.push_back({.name = "dynamic_volume",
                         .varied = "source tile",
                         .at = times * target,
                         .on = by_tasks(options, {.message_bytes = bytes}),
                         .off = by_tasks(options, {.message_bytes = bytes, .dynamic_volume = false}),
                         .volume_ratio = static_cast<double>(times * times)});
    }
    return cases;
}

std::vector<Row> measure_switches(Laboratory& lab) {
    std::vector<Row> rows;
    const auto measure = [&](const std::vector<SwitchCase>& cases) {
        for (const SwitchCase& c : cases) rows.push_back(measure_switch(lab, c));
    };
    measure(isolation_cases(lab));
    if (lab.nodes() == 1) return rows;  // nothing travels
    measure(batch_cases(lab));
    measure(volume_cases(lab));
    return rows;
}

// ------------------------------------------------------------------ 8.3: nine categories

std::vector<Row> measure_categories(Laboratory& lab) {
    std::vector<Row> rows;
    for (int category = 0; category < 9; ++category)
        for (const Index tile : tiles_to_measure(lab)) {
            ContestOptions options = between_grids(lab, order_for(lab, tile));
            options.tile_from = {tile, tile};
            options.tile_to = {tile * (category / 3 + 1), tile * (category % 3 + 1)};
            Contests contests;
            contests.push_back(std::make_unique<Contest>(lab.engine, options));
            const double seconds = lab.race(contests).front().tesela;
            const Index message = tile_bytes_of(tile);
            const MeasuredBandwidth b = bandwidth(lab, *contests.front(), seconds, message);
            rows.push_back({{"nodes", lab.nodes()},
                            {"category", category},
                            {"tile_from", tile},
                            {"tile_to_rows", options.tile_to.i},
                            {"tile_to_cols", options.tile_to.j},
                            {"message_bytes", message},
                            {"seconds", seconds},
                            {"achieved", b.achieved},
                            {"bound", b.bound},
                            {"bound_at_message_size", b.bound_at_size},
                            {"ratio_to_bound", b.achieved / b.bound}});
        }
    return rows;
}

// ------------------------------------------------------------------ 8.4: scatter and gather

std::vector<Row> measure_patterns(Laboratory& lab) {
    std::vector<Row> rows;
    for (const std::string pattern : {"scatter", "gather"})
        for (const Index small : tiles_to_measure(lab)) {
            const Index large = order_for(lab, small);  // the one tile that each node has on one side
            ContestOptions options = between_grids(lab, large);
            options.from_size = options.to_size = {large, large * lab.nodes()};
            options.tile_from = {large, large};
            options.tile_to = {small, small};
            if (pattern == "gather") {
                std::swap(options.from, options.to);
                std::swap(options.tile_from, options.tile_to);
            }
            Contests contests;
            contests.push_back(std::make_unique<Contest>(lab.engine, options));
            const double seconds = lab.race(contests).front().tesela;
            const Index message = tile_bytes_of(small);
            const MeasuredBandwidth b = bandwidth(lab, *contests.front(), seconds, message);
            rows.push_back({{"nodes", lab.nodes()},
                            {"pattern", pattern},
                            {"large_tile", large},
                            {"small_tile", small},
                            {"message_bytes", message},
                            {"seconds", seconds},
                            {"achieved", b.achieved},
                            {"bound", b.bound},
                            {"bound_at_message_size", b.bound_at_size},
                            {"ratio_to_bound", b.achieved / b.bound}});
        }
    return rows;
}

// ------------------------------------------------------------------ 8.5: random distributions

std::vector<Row> measure_random(Laboratory& lab) {
    std::vector<Row> rows;
    for (const Index tile : tiles_to_measure(lab)) {
        ContestOptions grids = between_grids(lab, order_for(lab, tile));
        grids.tile_from = grids.tile_to = {tile, tile};
        ContestOptions random = grids;
        random.from = "random:2873";
        random.to = "random:3872";
        Contests contests;
        contests.push_back(std::make_unique<Contest>(lab.engine, random));
        contests.push_back(std::make_unique<Contest>(lab.engine, grids));
        const auto times = lab.race(contests);
        const Index message = tile_bytes_of(tile);
        const MeasuredBandwidth of_random = bandwidth(lab, *contests[0], times[0].tesela, message);
        const MeasuredBandwidth of_grids = bandwidth(lab, *contests[1], times[1].tesela, message);
        rows.push_back({{"nodes", lab.nodes()},
                        {"tile", tile},
                        {"message_bytes", message},
                        {"seconds_random", times[0].tesela},
                        {"seconds_block_cyclic", times[1].tesela},
                        {"achieved_random", of_random.achieved},
                        {"achieved_block_cyclic", of_grids.achieved},
                        {"bound_random", of_random.bound},
                        {"bound_block_cyclic", of_grids.bound},
                        {"speedup_block_cyclic", of_grids.achieved / of_random.achieved}});
    }
    return rows;
}

// ------------------------------------------------------------------ whole tiles change their owners

/// Equal tilings, where no tile is cut: four ways, and what default_whole_tile_bytes is chosen by.
std::vector<Row> measure_whole_tiles(Laboratory& lab) {
    constexpr Index never = std::numeric_limits<Index>::max();
    constexpr int more = 3;  // the differences are small
    std::vector<Row> rows;
    for (const Index tile : lab.sized<std::vector<Index>>({10, 20, 50, 70, 100, 140, 200, 280, 400}, {100})) {
        ContestOptions together = between_grids(lab, lab.sized<Index>(tile < 50 ? 1200 : 2800, 600));
        together.tile_from = together.tile_to = {tile, tile};
        together.redistribute.whole_tile_bytes = never;
        ContestOptions alone = together;
        alone.redistribute.whole_tile_bytes = 1;
        ContestOptions chosen = together;
        chosen.redistribute.whole_tile_bytes = default_whole_tile_bytes;
        ContestOptions in_place = together;
        in_place.in_place = true;
        Contests contests;
        for (const auto& options : {together, alone, chosen, in_place})
            contests.push_back(std::make_unique<Contest>(lab.engine, options));
        const auto times = race(contests, more * lab.repetitions);
        rows.push_back({{"nodes", lab.nodes()},
                        {"n", together.n},
                        {"tile", tile},
                        {"message_bytes", tile_bytes_of(tile)},
                        {"together", times[0].tesela},
                        {"alone", times[1].tesela},
                        {"chosen", times[2].tesela},
                        {"in_place", times[3].tesela},
                        {"speedup_alone", times[0].tesela / times[1].tesela},
                        {"speedup_in_place", times[2].tesela / times[3].tesela}});
    }
    return rows;
}

// ------------------------------------------------------------------ 8.6: beside ScaLAPACK

struct Rivalry {
    std::string name;
    ContestOptions options;
};

std::vector<Rivalry> rivalries(const Laboratory& lab) {
    const auto make = [&](std::string name, Index n, Index from, Index to) {
        Rivalry rivalry{std::move(name), between_grids(lab, n)};
        rivalry.options.tile_from = {from, from};
        rivalry.options.tile_to = {to, to};
        rivalry.options.compare = true;
        return rivalry;
    };
    const auto n = lab.sized<Index>(8000, 800);
    std::vector<Rivalry> list{make("960 to 400", n, 960, 400), make("400 to 960", n, 400, 960),
                              make("400 to 400", n, 400, 400), make("128 to 64", n / 2, 128, 64),
                              make("submatrix", n, 960, 400)};
    RedistributeOptions& part = list.back().options.redistribute;
    part.size = {5 * n / 8, 3 * n / 4};
    part.from_offset = {n / 7, n / 13};
    part.to_offset = {n / 90, n / 9};
    return list;
}

std::vector<Row> measure_scalapack(Laboratory& lab) {
    if (!has_scalapack()) throw Error("the experiment scalapack needs a tesela-papers that was built with ScaLAPACK");
    std::vector<Row> rows;
    for (const Rivalry& rivalry : rivalries(lab)) {
        const ContestOptions& options = rivalry.options;
        Contests contests;
        contests.push_back(std::make_unique<Contest>(lab.engine, options));
        const ContestTimes times = lab.race(contests).front();
        const MeasuredBandwidth b = bandwidth(lab, *contests.front(), times.tesela, options.redistribute.message_bytes);
        rows.push_back({{"nodes", lab.nodes()},
                        {"case", rivalry.name},
                        {"n", options.n},
                        {"from", options.from},
                        {"to", options.to},
                        {"seconds", times.tesela},
                        {"pdgemr2d_seconds", *times.scalapack},
                        {"ratio", *times.scalapack / times.tesela},
                        {"achieved", b.achieved},
                        {"bound", b.bound},
                        {"ratio_to_bound", b.achieved / b.bound}});
    }
    return rows;
}

std::string nodes_title(const Row& row) { return fmt::format("{} nodes", row.at("nodes").get<Index>()); }

}  // namespace

Section switches_section() {
    return {.name = "switches",
            .run = measure_switches,
            .plot =
                [](const std::vector<Row>& rows) {
                    return plot_rows({.title = "Paper 002, figures 6 to 8: each switch on and off",
                                      .x_label = "what is varied is in the title",
                                      .y_label = "seconds",
                                      .panel =
                                          [](const Row& row) {
                                              return fmt::format(
                                                  "{} ({}), nodes: {}, by {}", row.at("switch").get<std::string>(),
                                                  row.at("path").get<std::string>(), row.at("nodes").get<Index>(),
                                                  row.at("varied").get<std::string>());
                                          },
                                      .place = [](const Row& row) { return row.at("at").dump(); },
                                      .series = {{"seconds_on", "on"}, {"seconds_off", "off"}},
                                      .panel_width = 330},
                                     rows);
                },
            .fewest_nodes = 1};
}

Section categories_section() {
    return {.name = "categories",
            .run = measure_categories,
            .plot =
                [](const std::vector<Row>& rows) {
                    return plot_rows({.title = "Paper 002, figure 9: the nine categories",
                                      .x_label = "bytes of a segment",
                                      .y_label = "GB/s",
                                      .panel =
                                          [](const Row& row) {
                                              return fmt::format("category {}, {} nodes", row.at("category").get<int>(),
                                                                 row.at("nodes").get<Index>());
                                          },
                                      .place = bytes_label,
                                      .series = {{"achieved", "achieved"},
                                                 {"bound", "bound"},
                                                 {"bound_at_message_size", "bound if every segment were a message"}},
                                      .panel_width = 290},
                                     rows);
                },
            .most_nodes = 2};
}

Section patterns_section() {
    return {"patterns", measure_patterns, [](const std::vector<Row>& rows) {
                return plot_rows({.title = "Paper 002, figure 11: scatter and gather",
                                  .x_label = "bytes of a segment",
                                  .y_label = "GB/s",
                                  .panel =
                                      [](const Row& row) {
                                          return fmt::format("{}, {} nodes", row.at("pattern").get<std::string>(),
                                                             row.at("nodes").get<Index>());
                                      },
                                  .place = bytes_label,
                                  .series = {{"achieved", "achieved"},
                                             {"bound", "bound"},
                                             {"bound_at_message_size", "bound if every segment were a message"}},
                                  .columns = 2,
                                  .panel_width = 290},
                                 rows);
            }};
}

Section random_section() {
    return {"random", measure_random, [](const std::vector<Row>& rows) {
                return plot_rows({.title = "Paper 002, figure 12: random distributions beside block-cyclic ones",
                                  .x_label = "bytes of a tile",
                                  .y_label = "GB/s",
                                  .panel = nodes_title,
                                  .place = bytes_label,
                                  .series = {{"achieved_random", "random to random"},
                                             {"achieved_block_cyclic", "block-cyclic to block-cyclic"},
                                             {"bound_random", "bound, random"},
                                             {"bound_block_cyclic", "bound, block-cyclic"}},
                                  .columns = 2,
                                  .panel_width = 290},
                                 rows);
            }};
}

Section whole_tiles_section() {
    return {"whole_tiles", measure_whole_tiles, [](const std::vector<Row>& rows) {
                return plot_rows({.title = "Equal tilings: whole tiles change their owners",
                                  .x_label = "bytes of a tile",
                                  .y_label = "seconds",
                                  .panel = nodes_title,
                                  .place = bytes_label,
                                  .series = {{"together", "put together to messages of 1 MiB"},
                                             {"alone", "each a message of its own"},
                                             {"chosen", "by the rule"},
                                             {"in_place", "in place, by moves"}},
                                  .columns = 2,
                                  .panel_width = 420},
                                 rows);
            }};
}

Section scalapack_section() {
    return {"scalapack", measure_scalapack, [](const std::vector<Row>& rows) {
                return plot_rows({.title = "Redistribution beside ScaLAPACK's pdgemr2d",
                                  .x_label = "tile sizes",
                                  .y_label = "seconds",
                                  .panel = nodes_title,
                                  .place = [](const Row& row) { return row.at("case").get<std::string>(); },
                                  .series = {{"seconds", "Tesela"}, {"pdgemr2d_seconds", "pdgemr2d"}},
                                  .style = PlotStyle::bars,
                                  .columns = 2,
                                  .panel_width = 330},
                                 rows);
            }};
}

}  // namespace tesela::bench
