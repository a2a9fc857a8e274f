// Figures 8 and 11 to 13 of paper 002 on as many nodes of NaCL as the paper had, simulated: the same streams on the
// simulated engine, so that every row is the same wherever it is made.

#include "paper002/section.hpp"

#include "tesela/algs/redistribute.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {
namespace {

const std::vector<Index> nacl_nodes{2, 4, 8, 16, 32, 64};

struct SimulatedMove {
    Index nodes = 0;
    ElementIndex size;
    std::string from, to;
    ElementIndex tile_from, tile_to;
    RedistributeOptions options{};
};

/// What a simulated redistribution took, and what it had to move.
struct MoveResult {
    double seconds = 0;
    Index messages = 0;
    RedistributionVolume volume;
    NodeType node;
};

MoveResult simulate_move(const SimulatedMove& c) {
    SimulatedEngine engine(read_platform("nacl", fmt::format("{}nacl", c.nodes)));
    MoveResult result{.node = engine.platform().node_types.front()};
    {
        Stream s(engine);
        const Tiling from = Tiling::uniform(c.size, c.tile_from);
        const Tiling to = Tiling::uniform(c.size, c.tile_to);
        const Matrix<double> A(s, from, make_distribution(c.from, from.grid(), c.nodes),
                               {.memory = [](TileIndex) { return TileMemory{}; }});
        const Matrix<double> B(s, to, make_distribution(c.to, to.grid(), c.nodes), {.name = "B"});
        result.volume = redistribution_volume(redistribution_overlay(A.view(), B.view(), c.options),
                                              {A.distribution(), B.distribution()}, dense_bytes(sizeof(double)));
        redistribute(s, A.view(), B.view(), c.options);
        require_done(s.wait());
    }
    const SimulationResult simulation = engine.result();
    result.seconds = simulation.makespan;
    result.messages = simulation.transfers;
    return result;
}

/// GB/s as in equations (3) and (5) of the paper, and what messages of this size achieve between two nodes (NetPIPE).
struct NaclRates {
    double achieved = 0;
    double bound = 0;
    double netpipe = 0;
};
NaclRates nacl_rates(const MoveResult& run, Index message_bytes) {
    const Link& nic = run.node.nic;
    const auto bytes = static_cast<double>(message_bytes);
    const RedistributionBound bound = redistribution_bound(
        run.volume, {.network = nic.bandwidth, .memory = run.node.memory_bandwidth / 2});  // read and written
    return {1e-9 * static_cast<double>(bound.largest) / run.seconds, 1e-9 * bound.bandwidth,
            1e-9 * bytes / (nic.latency + bytes / nic.bandwidth)};
}

// ------------------------------------------------------------------ 8.2.3, figure 8: messages of 800 bytes

/// Strong scaling of tiles of 10 x 10. Who hands a message over, the paper's multiple_send, is not simulated; what is,
/// is why it matters less here: segments of one pair of nodes share messages.
Row messages_row(Index nodes, Index n) {
    SimulatedMove c{.nodes = nodes,
                    .size = {n, n},
                    .from = flat_grid(nodes),
                    .to = square_grid(nodes),
                    .tile_from = {10, 10},
                    .tile_to = {10, 10}};
    const MoveResult together = simulate_move(c);
    c.options.message_bytes = tile_bytes_of(10);
    const MoveResult alone = simulate_move(c);
    return {{"platform", "nacl"},
            {"nodes", nodes},
            {"n", n},
            {"message_bytes", c.options.message_bytes},
            {"seconds_together", together.seconds},
            {"seconds_alone", alone.seconds},
            {"messages_together", together.messages},
            {"messages_alone", alone.messages},
            {"speedup", alone.seconds / together.seconds}};
}

std::vector<Row> simulate_messages(Laboratory& lab) {
    std::vector<Row> rows;
    for (const Index nodes : lab.sized<std::vector<Index>>(nacl_nodes, {4}))
        rows.push_back(messages_row(nodes, lab.sized<Index>(2560, 320)));
    return rows;
}

// ------------------------------------------------------------------ 8.4, figure 11: scatter and gather

/// Figure 10: one large tile on each node, and small ones of the size of a message. Weak scaling keeps what a node has,
/// strong scaling the whole: then the large tiles get narrower.
SimulatedMove scaled_scatter(const std::string& scaling, Index nodes, Index small) {
    const Index rows = small < 50 ? 600 : 2400;
    const Index narrowest = small < 50 ? 60 : 400;  // columns of a large tile on 64 nodes, whole small tiles
    const Index cols = scaling == "weak" ? rows : narrowest * nacl_nodes.back() / nodes;
    return {.nodes = nodes,
            .size = {rows, cols * nodes},
            .from = flat_grid(nodes),
            .to = square_grid(nodes),
            .tile_from = {rows, cols},
            .tile_to = {small, small}};
}
SimulatedMove scaled_gather(const std::string& scaling, Index nodes, Index small) {
    SimulatedMove c = scaled_scatter(scaling, nodes, small);
    std::swap(c.from, c.to);
    std::swap(c.tile_from, c.tile_to);
    return c;
}

Row pattern_row(const std::string& pattern, const std::string& scaling, Index nodes, Index small) {
    const SimulatedMove c =
        pattern == "scatter" ? scaled_scatter(scaling, nodes, small) : scaled_gather(scaling, nodes, small);
    const MoveResult run = simulate_move(c);
    const Index bytes = tile_bytes_of(small);
    const NaclRates r = nacl_rates(run, bytes);
    return {{"platform", "nacl"},
            {"pattern", pattern},
            {"scaling", scaling},
            {"nodes", nodes},
            {"rows", c.size.i},
            {"columns", c.size.j},
            {"small_tile", small},
            {"message_bytes", bytes},
            {"seconds", run.seconds},
            {"achieved", r.achieved},
            {"bound", r.bound},
            {"netpipe", r.netpipe},
            {"ratio_to_bound", r.achieved / r.bound},
            {"ratio_to_netpipe", r.achieved / r.netpipe}};
}

std::vector<Row> simulate_patterns(Laboratory& lab) {
    std::vector<Row> rows;
    for (const std::string pattern : {"scatter", "gather"})
        for (const std::string scaling : {"weak", "strong"})
            for (const Index nodes : lab.sized<std::vector<Index>>(nacl_nodes, {4}))
                for (const Index small : lab.sized<std::vector<Index>>(message_tiles, {100}))
                    rows.push_back(pattern_row(pattern, scaling, nodes, small));
    return rows;
}

// ------------------------------------------------------------------ 8.5, figure 12: random distributions

Row random_row(Index nodes, Index tile) {
    const Index n = std::clamp<Index>(192 * tile, 0, tile < 400 ? 9600 : 19200);
    SimulatedMove c{.nodes = nodes,
                    .size = {n, n},
                    .from = flat_grid(nodes),
                    .to = square_grid(nodes),
                    .tile_from = {tile, tile},
                    .tile_to = {tile, tile}};
    const MoveResult of_grids = simulate_move(c);
    c.from = "random:2873";  // the paper's seeds
    c.to = "random:3872";
    const MoveResult of_random = simulate_move(c);
    const Index bytes = tile_bytes_of(tile);
    const NaclRates random = nacl_rates(of_random, bytes);
    const NaclRates regular = nacl_rates(of_grids, bytes);
    return {{"platform", "nacl"},
            {"nodes", nodes},
            {"n", n},
            {"tile", tile},
            {"message_bytes", bytes},
            {"seconds_random", of_random.seconds},
            {"seconds_block_cyclic", of_grids.seconds},
            {"achieved_random", random.achieved},
            {"achieved_block_cyclic", regular.achieved},
            {"bound_random", random.bound},
            {"bound_block_cyclic", regular.bound},
            {"speedup_block_cyclic", regular.achieved / random.achieved}};
}

std::vector<Row> simulate_random(Laboratory& lab) {
    constexpr Index nodes = 16;
    std::vector<Row> rows;
    for (const Index tile : lab.sized<std::vector<Index>>(message_tiles, {100}))
        rows.push_back(random_row(nodes, tile));
    return rows;
}

// ------------------------------------------------------------------ 8.6, figure 13: beside ScaLAPACK

/// What pdgemr2d takes on these nodes, by a model of what it does: each process, alone on its node, packs all that it
/// has for another into one message, sends it, receives one and unpacks it, process after process; nothing overlaps.
/// It is a lower bound of that schedule, since no process waits for another.
double pdgemr2d_seconds(const MoveResult& run) {
    const NodeType& node = run.node;
    const double core = node.memory_bandwidth / static_cast<double>(node.workers.front().count);
    std::vector<double> seconds(run.volume.nodes.size());
    for (const auto& [pair, volume] : run.volume.pairs) {
        const auto bytes = static_cast<double>(volume.bytes);
        const double copied = 2 * bytes / core;  // read and written, as the simulator counts
        seconds[static_cast<std::size_t>(pair.first)] += copied;
        seconds[static_cast<std::size_t>(pair.second)] += copied;
        if (pair.first != pair.second)
            seconds[static_cast<std::size_t>(pair.second)] += node.nic.latency + bytes / node.nic.bandwidth;
    }
    return *std::ranges::max_element(seconds);
}

Row scalapack_row(Index nodes, Index small) {
    const MoveResult run = simulate_move(scaled_gather("weak", nodes, small));
    const double model = pdgemr2d_seconds(run);
    return {{"platform", "nacl"},
            {"nodes", nodes},
            {"small_tile", small},
            {"message_bytes", tile_bytes_of(small)},
            {"seconds", run.seconds},
            {"pdgemr2d_model_seconds", model},
            {"speedup", model / run.seconds}};
}

std::vector<Row> simulate_scalapack(Laboratory& lab) {
    std::vector<Row> rows;
    for (const Index small : lab.sized<std::vector<Index>>(message_tiles, {100}))
        for (const Index nodes : lab.sized<std::vector<Index>>(nacl_nodes, {4}))
            rows.push_back(scalapack_row(nodes, small));
    return rows;
}

// ------------------------------------------------------------------ rows that are made again

Index whole_number(const Row& row, const char* column) { return row.at(column).get<Index>(); }
std::string text_of(const Row& row, const char* column) { return row.at(column).get<std::string>(); }

Row remake_messages(const Row& row) { return messages_row(whole_number(row, "nodes"), whole_number(row, "n")); }
Row remake_pattern(const Row& row) {
    return pattern_row(text_of(row, "pattern"), text_of(row, "scaling"), whole_number(row, "nodes"),
                       whole_number(row, "small_tile"));
}
Row remake_random(const Row& row) { return random_row(whole_number(row, "nodes"), whole_number(row, "tile")); }
Row remake_scalapack(const Row& row) {
    return scalapack_row(whole_number(row, "nodes"), whole_number(row, "small_tile"));
}

std::string nodes_label(const Row& row) { return row.at("nodes").dump(); }

}  // namespace

Section simulated_messages_section() {
    return {
        .name = "messages_simulated",
        .run = simulate_messages,
        .plot =
            [](const std::vector<Row>& rows) {
                return plot_rows(
                    {.title = "The setting of paper 002, figure 8, simulated on NaCL: tiles of 800 bytes",
                     .x_label = "nodes",
                     .y_label = "seconds",
                     .panel = [](const Row& row) { return fmt::format("n = {}", row.at("n").dump()); },
                     .place = nodes_label,
                     .series = {{"seconds_together", "segments share messages"}, {"seconds_alone", "a message each"}},
                     .columns = 1,
                     .panel_width = 420},
                    rows);
            },
        .again = Section::Again{.remake = remake_messages,
                                .quick = [](const Row& row) { return whole_number(row, "nodes") <= 4; }}};
}

Section simulated_patterns_section() {
    return {.name = "patterns_simulated",
            .run = simulate_patterns,
            .plot =
                [](const std::vector<Row>& rows) {
                    return plot_rows({.title = "Paper 002, figure 11, simulated on NaCL: scatter and gather",
                                      .x_label = "bytes of a segment",
                                      .y_label = "GB/s",
                                      .panel =
                                          [](const Row& row) {
                                              return fmt::format(
                                                  "{}, {} scaling, {} nodes", row.at("pattern").get<std::string>(),
                                                  row.at("scaling").get<std::string>(), nodes_label(row));
                                          },
                                      .place = bytes_label,
                                      .series = {{"achieved", "achieved"},
                                                 {"bound", "bound"},
                                                 {"netpipe", "messages of this size between two nodes"}},
                                      .columns = 6,
                                      .panel_width = 260},
                                     rows);
                },
            .again = Section::Again{.remake = remake_pattern, .quick = [](const Row& row) {
                                        return whole_number(row, "nodes") <= 8 && whole_number(row, "small_tile") >= 50;
                                    }}};
}

Section simulated_random_section() {
    return {.name = "random_simulated",
            .run = simulate_random,
            .plot =
                [](const std::vector<Row>& rows) {
                    return plot_rows({.title = "Paper 002, figure 12, simulated on NaCL: random distributions",
                                      .x_label = "bytes of a tile",
                                      .y_label = "GB/s",
                                      .panel = [](const Row& row) { return fmt::format("{} nodes", nodes_label(row)); },
                                      .place = bytes_label,
                                      .series = {{"achieved_random", "random to random"},
                                                 {"achieved_block_cyclic", "block-cyclic to block-cyclic"},
                                                 {"bound_random", "bound, random"},
                                                 {"bound_block_cyclic", "bound, block-cyclic"}},
                                      .columns = 1,
                                      .panel_width = 420},
                                     rows);
                },
            .again = Section::Again{.remake = remake_random,
                                    .quick = [](const Row& row) { return whole_number(row, "tile") >= 100; }}};
}

Section simulated_scalapack_section() {
    return {.name = "scalapack_simulated",
            .run = simulate_scalapack,
            .plot =
                [](const std::vector<Row>& rows) {
                    return plot_rows(
                        {.title = "Paper 002, figure 13, simulated on NaCL: gather beside a model of pdgemr2d",
                         .x_label = "nodes",
                         .y_label = "seconds",
                         .panel = [](const Row& row) { return fmt::format("segments of {}", bytes_label(row)); },
                         .place = nodes_label,
                         .series = {{"seconds", "Tesela"}, {"pdgemr2d_model_seconds", "pdgemr2d, by a model"}},
                         .columns = 3,
                         .panel_width = 290},
                        rows);
                },
            .again = Section::Again{.remake = remake_scalapack, .quick = [](const Row& row) {
                                        return whole_number(row, "nodes") <= 8 && whole_number(row, "small_tile") >= 50;
                                    }}};
}

}  // namespace tesela::bench
