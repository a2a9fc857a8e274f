// A family of distributions of one's own, measured beside Tesela's by the same measures, and used in a Cholesky.
// See docs/own_distribution.md.
//   mpirun -n 7 example_own_distribution
//   example_own_distribution FILE.json TILES NODES      also writes one, for `tesela dist` and `tesela simulate`
#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/step_schedule.hpp"
#include "tesela/tesela.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <vector>

using namespace tesela;

/// A line of a finite projective plane: k numbers whose differences modulo P = k(k - 1) + 1 are 1 … P - 1, each once.
using Line = std::vector<Index>;
const std::vector<Line> lines{
    {0}, {0, 1}, {0, 1, 3}, {0, 1, 3, 9}, {0, 1, 4, 14, 16}, {0, 1, 3, 8, 12, 18}, {0, 1, 3, 13, 32, 36, 43, 52}};

Index nodes_of(const Line& line) {
    const auto k = static_cast<Index>(line.size());
    return k * (k - 1) + 1;
}

/// Tile rows and columns are the points 0 … P - 1 of a projective plane, over and over; nodes are its P lines. Two
/// points lie on one line, which owns the tile where they meet. A point lies on k lines, so its row and its column
/// meet k nodes and no others.
Distribution projective_plane(const TileMap& weights, Index nodes) {
    const auto found = std::ranges::find(lines, nodes, nodes_of);
    if (found == lines.end()) throw Error("no projective plane of {} nodes is known here", nodes);
    const Line& line = *found;
    const GridSize tiles = weights.grid();
    if (tiles.rows != tiles.cols) throw Error("a projective plane is for square grids of tiles");
    const auto remainder = [&](Index number) { return (number % nodes + nodes) % nodes; };

    Distribution owners(tiles, nodes, std::vector<std::int32_t>(static_cast<std::size_t>(tiles.count())));
    std::map<Index, double> loads;
    const auto give = [&](TileIndex tile, Index node) {
        owners.set_owner(tile, NodeId{node});
        loads[node] += weights[tile];
    };

    std::map<Index, Index> place;  // of the first of two points on their line, by how far they are apart
    for (const Index a : line)
        for (const Index b : line) place[remainder(a - b)] = a;
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j)
            if (remainder(i - j) != 0) give({i, j}, remainder(i - place[remainder(i - j)]));

    // A point and itself lie on k lines: the one with the least load gets the tile. The last tiles weigh most.
    for (Index i = tiles.rows - 1; i >= 0; --i)
        for (Index j = i; j >= 0; j -= nodes) {
            const auto load = [&](Index a) { return loads[remainder(i - a)]; };
            const Index node = remainder(i - std::ranges::min(line, {}, load));
            give({i, j}, node);
            owners.set_owner({j, i}, NodeId{node});
        }
    return owners;
}

/// The most nodes that row i and column i of the lower triangle meet: a tile of Cholesky's panel goes to all of them.
Index most_nodes_met(const Distribution& owners) {
    std::size_t most = 0;
    for (Index i = 0; i < owners.grid().rows; ++i) {
        std::set<NodeId> met;
        for (Index j = 0; j <= i; ++j) met.insert(owners.owner({i, j}));
        for (Index k = i; k < owners.grid().rows; ++k) met.insert(owners.owner({k, i}));
        most = std::max(most, met.size());
    }
    return static_cast<Index>(most);
}

Workload dense_cholesky(GridSize tiles) { return {.operation = Operation::cholesky, .density = full_density(tiles)}; }

/// Prints what a distribution comes to, and returns the messages of a Cholesky under it.
Index print_measures(const char* name, const Distribution& owners, const RecordedOperation& recorded) {
    const Workload work = dense_cholesky(owners.grid());
    const std::vector<double> loads = node_loads(owners, tile_weights(work));
    const Index messages = recorded.transfers(owners).messages;
    const std::vector<NodeTimes> times = times_by_power(work.costs, owners.nodes());
    std::printf("%-18s %5d %10.4f %8.4f %5d %10d\n", name, static_cast<int>(owners.nodes()),
                summarise_loads(loads).max_over_ideal, step_makespan(owners, work, times) / ideal_time(work, times),
                static_cast<int>(most_nodes_met(owners)), static_cast<int>(messages));
    return messages;
}

Distribution plane_for_cholesky(Index tiles, Index nodes) {
    return projective_plane(tile_weights(dense_cholesky({tiles, tiles})), nodes);
}

/// The plane of 31 nodes beside Tesela's families. Says whether it sends fewer messages than each of them.
bool compare() {
    constexpr Index tiles = 124, nodes = 31;
    const Workload work = dense_cholesky({tiles, tiles});
    // The stream of a Cholesky is recorded once and counted under every distribution.
    const RecordedOperation recorded(Operation::cholesky, {.tiles = tiles, .nodes = nodes});
    std::printf("%-18s %5s %10s %8s %5s %10s\n", "family", "nodes", "max_load", "steps", "met", "transfers");
    const Index of_plane = print_measures("projective_plane", plane_for_cholesky(tiles, nodes), recorded);
    Index fewest = print_measures("sbc", make_family("sbc", {.workload = work, .nodes = 28}), recorded);  // not for 31
    for (const char* family : {"block_cyclic", "block_cyclic:rule", "1d1d_triangle", "bce", "rs", "hybrid"}) {
        const Distribution owners = make_family(family, {.workload = work, .nodes = nodes});
        fewest = std::min(fewest, print_measures(family, owners, recorded));
    }
    return of_plane < fewest;
}

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): an Error may end it
    StarpuEngine engine({.warnings = Warnings::keep});
    const bool first = engine.is_first();
    bool right = !first || compare();
    if (first && argc == 4) {
        const Distribution wanted = plane_for_cholesky(std::atoll(argv[2]), std::atoll(argv[3]));
        right = (std::ofstream(argv[1]) << nlohmann::json(wanted) << '\n') && right;
    }

    Index nodes = 1;  // of the largest plane that the run has nodes for; the others own no tiles
    for (const Line& line : lines)
        if (nodes_of(line) <= engine.node_count()) nodes = nodes_of(line);
    const Tiling tiling = Tiling::square(1000, 40);
    const Distribution owners = plane_for_cholesky(tiling.grid().rows, nodes);

    Stream s(engine);
    Matrix<double> A(s, tiling, owners, {.stored = Stored::lower});
    generate(s, A, [](Index i, Index j) { return static_cast<double>(std::min(i, j) + 1); });
    cholesky(s, A);
    const Status status = s.wait();
    Index sent = 0;
    for (const auto& to : engine.sent()) sent += static_cast<Index>(to.messages);
    Index sent_by_all = 0;
    for (const Index of_node : engine.gather(sent)) sent_by_all += of_node;

    const RecordedOperation recorded(Operation::cholesky, {.tiles = tiling.grid().rows, .nodes = nodes});
    const Index counted = recorded.transfers(owners).messages;
    const std::vector<double> factor = gather(s, A);  // of this matrix: ones on and below the diagonal, zeros above
    const Index wrong = 1000 * 1001 / 2 - std::ranges::count(factor, 1.0);
    if (first)
        std::printf("Cholesky on %d of %d nodes: %s, %d elements are wrong; %d messages, %d counted beforehand\n",
                    static_cast<int>(nodes), static_cast<int>(engine.node_count()), status.describe().c_str(),
                    static_cast<int>(wrong), static_cast<int>(sent_by_all), static_cast<int>(counted));
    return right && status.ok() && wrong == 0 && sent_by_all == counted ? 0 : 1;
}
