#include "limits/limited.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace tesela {
namespace {

using testing::on_any_node;

constexpr Index tile = 64;
constexpr double tile_bytes = 8.0 * tile * tile;
const Tiling tiling = Tiling::square(12 * tile, tile);

double element(const void*, ElementIndex at) { return static_cast<double>(1000 * at.i + at.j); }

std::atomic<Index> wrong_tiles{0};

/// Looks at the values of a tile where it is.
KernelResult run_check(const KernelCall& call) noexcept {
    const Tile& found = call.tiles[0];
    const auto& first = call.args<ElementIndex>();
    bool right = true;
    for (Index j = 0; j < found.cols(); ++j)
        for (Index i = 0; i < found.rows(); ++i)
            right = right &&
                    static_cast<double*>(found.data)[i + j * found.ld] == element(nullptr, {first.i + i, first.j + j});
    if (!right) ++wrong_tiles;
    return {};
}
KernelCost no_cost(std::span<const TileShape>, const void*) noexcept { return {}; }
const Kernel check_tile{"check_tile", no_cost, run_check};
KernelResult run_nothing(const KernelCall&) noexcept { return {}; }
const Kernel use_tile{"use_tile", no_cost, run_nothing};

void check_values(Stream& s, const Matrix<double>& A) {
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j < tiling.grid().cols; ++j)
            s.submit(Task(check_tile, {{A(i, j), AccessMode::read_write}},
                          ElementIndex{tiling.row_begin(i), tiling.col_begin(j)}));
}

Index this_node() { return net::Nodes().me(); }
Index node_count() { return net::Nodes().count(); }

double share_of(const Distribution& owners, Index node) {
    return tile_bytes * static_cast<double>(std::count(owners.owners().begin(), owners.owners().end(), node));
}

/// Every tile to the node that `owner` says.
template <class Owner>
Distribution distribute(Index nodes, const Owner& owner) {
    std::vector<std::int32_t> owners;
    for (Index k = 0; k < tiling.grid().count(); ++k) owners.push_back(static_cast<std::int32_t>(owner(k)));
    return {tiling.grid(), nodes, owners};
}

struct Change {
    const char* name;
    Distribution from, to;
};

std::vector<Change> changes(Index nodes) {
    const auto uneven = [&](Index k) { return k % 7 < 3 ? 0 : k % nodes; };
    std::vector<Change> all{
        {"all tiles leave node 0", distribute(nodes, [](Index) { return 0; }),
         distribute(nodes, [&](Index k) { return nodes == 1 ? 0 : 1 + k % (nodes - 1); })},
        {"all tiles come to node 0", distribute(nodes, [&](Index k) { return k % nodes; }),
         distribute(nodes, [](Index) { return 0; })},
        {"every owner is followed by the next", distribute(nodes, [&](Index k) { return k % nodes; }),
         distribute(nodes, [&](Index k) { return (k + 1) % nodes; })},
        {"blocks to and fro", distribute(nodes, [&](Index k) { return k * nodes / tiling.grid().count(); }),
         distribute(nodes, [&](Index k) { return nodes - 1 - k * nodes / tiling.grid().count(); })},
        {"one node has more", distribute(nodes, uneven),
         distribute(nodes, [&](Index k) { return (uneven(k) + 1) % nodes; })}};
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
        all.push_back({"random", random_distribution(tiling.grid(), nodes, seed),
                       random_distribution(tiling.grid(), nodes, seed + 100)});
    return all;
}

/// A quarter more than the larger of a node's shares, and a message from each of the others.
double budget(const Change& change, Index node, Index nodes) {
    return 1.25 * std::max(share_of(change.from, node), share_of(change.to, node)) +
           static_cast<double>(nodes - 1) * tile_bytes;
}

StarpuOptions with_memory(double bytes) { return {.workers = 1, .warnings = Warnings::keep, .memory_bytes = bytes}; }

TEST(Budget, ARedistributionInPlaceNeedsAQuarterMoreThanTheLargerShareAndAMessageFromEach) {
    const Index nodes = node_count();
    for (const Change& change : changes(nodes)) {
        const double allowed = budget(change, this_node(), nodes);
        StarpuEngine engine(with_memory(allowed));
        wrong_tiles = 0;
        std::string wrong;
        {
            Stream s(engine);
            Matrix<double> A(s, tiling, change.from);
            generate(s, A.view(), {element});
            redistribute(s, A.view(), change.to);
            check_values(s, A);
            const Status status = s.wait();
            if (!status.ok()) wrong += status.describe() + "; ";
        }
        if (wrong_tiles > 0) wrong += fmt::format("{} tiles have wrong values; ", wrong_tiles.load());
        const double peak = engine.memory_use().peak;
        if (peak > allowed)
            wrong += fmt::format("{} tiles at a time where {} are allowed", peak / tile_bytes, allowed / tile_bytes);
        EXPECT_EQ(on_any_node(engine, wrong), "") << change.name;
    }
}

}  // namespace
}  // namespace tesela
