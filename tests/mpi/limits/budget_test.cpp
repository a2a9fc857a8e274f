#include "limits/limited.hpp"
#include "support/random_stream.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/net/nodes.hpp"

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
            s.submit(Task::unchecked(check_tile, {{A(i, j), AccessMode::read_write}},
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
        // Column by column, one node would first get all that it is going to have.
        {"columns of two nodes change places", distribute(nodes, [&](Index k) { return k % 12 < 6 ? 0 : nodes - 1; }),
         distribute(nodes, [&](Index k) { return k % 12 < 6 ? nodes - 1 : 0; })},
        {"columns go to the other end", distribute(nodes, [&](Index k) { return k % 12 * nodes / 12; }),
         distribute(nodes, [&](Index k) { return nodes - 1 - k % 12 * nodes / 12; })},
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

/// After a stream has failed for want of memory, a small one does what it should.
std::string works_again(StarpuEngine& engine) {
    Stream s(engine);
    Matrix<double> A(s, Tiling::square(8, 4), squarest_block_cyclic({2, 2}, engine.node_count()), {.name = "small"});
    generate(s, A.view(), {element});
    const auto values = gather(s, A.view());
    return values[9] == element(nullptr, {1, 1}) && s.wait().ok() ? "" : "nothing works any more; ";
}

std::string not_out_of_memory(const Status& status) {
    return status.failure == Failure::out_of_memory ? ""
                                                    : fmt::format("the stream ends with \"{}\"; ", status.describe());
}

/// Memory for some tiles on each node, in a run where the matrix has an equal share on each.
StarpuOptions memory_for_tiles(double tiles) { return with_memory(tiles * tile_bytes); }

Distribution cyclic(Index nodes) {
    return distribute(nodes, [&](Index k) { return k % nodes; });
}

TEST(Budget, ATileThatHasNoRoomOnItsNewNodeStaysWhereItIs) {
    const Index nodes = node_count();
    if (nodes == 1) GTEST_SKIP() << "nothing moves";
    const double tiles = static_cast<double>(tiling.grid().count()) / static_cast<double>(nodes);
    StarpuEngine engine(memory_for_tiles(1.25 * tiles + 2 * static_cast<double>(nodes)));
    std::string wrong;
    wrong_tiles = 0;
    {
        Stream s(engine);
        Matrix<double> A(s, tiling, cyclic(nodes));
        generate(s, A.view(), {element});
        wrong += s.wait().ok() ? "" : "the matrix does not fit; ";
        redistribute(s, A.view(), distribute(nodes, [](Index) { return 0; }));
        wrong += not_out_of_memory(s.wait());
        if (A.distribution() == distribute(nodes, [](Index) { return 0; })) wrong += "all tiles have moved; ";
        check_values(s, A);
        const Status status = s.wait();
        if (!status.ok()) wrong += status.describe() + "; ";
    }
    if (wrong_tiles > 0) wrong += fmt::format("{} tiles have wrong values; ", wrong_tiles.load());
    const double allowed = (1.25 * tiles + 2 * static_cast<double>(nodes)) * tile_bytes;
    if (engine.memory_use().peak > allowed)
        wrong += fmt::format("{} tiles at a time", engine.memory_use().peak / tile_bytes);
    EXPECT_EQ(on_any_node(engine, wrong), "");
}

TEST(Budget, TooSmallForTilesThatMoveIsAStatusOnAllNodes) {
    const Index nodes = node_count();
    if (nodes == 1) GTEST_SKIP() << "nothing comes from elsewhere";
    const auto count = static_cast<double>(tiling.grid().count());
    StarpuEngine engine(memory_for_tiles(count / 2));
    std::string wrong;
    {
        Stream s(engine);
        Matrix<double> A(s, tiling, cyclic(nodes));
        generate(s, A.view(), {element});
        redistribute(s, A.view(), distribute(nodes, [&](Index) { return nodes - 1; }));
        wrong = not_out_of_memory(s.wait());
    }
    EXPECT_EQ(on_any_node(engine, wrong + works_again(engine)), "");
}

TEST(Budget, TooSmallForCopiesIsAStatusOnAllNodes) {
    const Index nodes = node_count();
    if (nodes == 1) GTEST_SKIP() << "nothing comes from elsewhere";
    const auto count = static_cast<double>(tiling.grid().count());
    StarpuEngine engine(memory_for_tiles(count / 2));
    std::string wrong;
    {
        Stream s(engine);
        Matrix<double> A(s, tiling, cyclic(nodes));
        generate(s, A.view(), {element});
        for (Index i = 0; i < tiling.grid().rows; ++i)
            for (Index j = 0; j < tiling.grid().cols; ++j)
                s.submit(Task::unchecked(use_tile, {{A(i, j), AccessMode::read}}).on(NodeId{nodes - 1}));
        wrong = not_out_of_memory(s.wait());
    }
    EXPECT_EQ(on_any_node(engine, wrong + works_again(engine)), "");
}

TEST(Budget, TooSmallForWhatIsSharedIsAStatusOnAllNodes) {
    const Index nodes = node_count();
    if (nodes == 1) GTEST_SKIP() << "nothing comes from elsewhere";
    const auto count = static_cast<double>(tiling.grid().count());
    StarpuEngine engine(memory_for_tiles(count / 2));
    std::vector<NodeId> all;
    for (Index node = 0; node < nodes; ++node) all.emplace_back(node);
    std::string wrong;
    {
        Stream s(engine);
        Matrix<double> A(s, tiling, cyclic(nodes));
        generate(s, A.view(), {element});
        for (Index i = 0; i < tiling.grid().rows; ++i)
            for (Index j = 0; j < tiling.grid().cols; ++j) s.share(A(i, j), all);
        wrong = not_out_of_memory(s.wait());
    }
    EXPECT_EQ(on_any_node(engine, wrong + works_again(engine)), "");
}

TEST(Budget, CopiesThatAreRetiredNeedRoomForFew) {
    const Index nodes = node_count();
    const double tiles = share_of(cyclic(nodes), 0) / tile_bytes + 4;
    StarpuEngine engine(memory_for_tiles(tiles));
    std::string wrong;
    {
        Stream s(engine);
        Matrix<double> A(s, tiling, cyclic(nodes));
        generate(s, A.view(), {element});
        for (Index i = 0; i < tiling.grid().rows; ++i)
            for (Index j = 0; j < tiling.grid().cols; ++j) {
                s.submit(Task::unchecked(use_tile, {{A(i, j), AccessMode::read}}).on(NodeId{(i + j) % nodes}));
                s.retire(A(i, j));
            }
        const auto last = s.fetch(A(11, 11));
        last->wait();
        if (const Status status = s.wait(); !status.ok()) wrong = status.describe();
    }
    const double peak = engine.memory_use().peak;
    if (peak > tiles * tile_bytes)
        wrong += fmt::format("{} tiles where there is room for {}", peak / tile_bytes, tiles);
    EXPECT_EQ(on_any_node(engine, wrong + works_again(engine)), "");
}

TEST(Budget, ARedistributionIntoAnotherMatrixNeedsBothAndAFewMessages) {
    const Index nodes = node_count();
    const Tiling other = Tiling::square(12 * tile, 80);
    const Distribution to = random_distribution(other.grid(), nodes, 3);
    double largest = 0;
    for (Index node = 0; node < nodes; ++node) {
        double bytes = 0;
        for (Index i = 0; i < other.grid().rows; ++i)
            for (Index j = 0; j < other.grid().cols; ++j)
                if (to.owner({i, j}) == NodeId{node}) bytes += static_cast<double>(8 * other.rows(i) * other.cols(j));
        largest = std::max(largest, bytes);
    }
    // Beyond what the tiles take, and one that is fetched, no more than it cannot do without: messages of 16 to 32 KiB
    // to and from each node.
    const double for_tiles = share_of(cyclic(nodes), 0) + largest + 8.0 * 80 * 80;
    const double allowed = for_tiles + 2 * static_cast<double>(nodes - 1) * 32768;
    StarpuEngine engine(with_memory(for_tiles));
    std::string wrong;
    {
        Stream s(engine);
        Matrix<double> A(s, tiling, cyclic(nodes));
        Matrix<double> B(s, other, to, {.name = "B"});
        generate(s, A.view(), {element});
        redistribute(s, A.view(), B.view(), {.message_bytes = 16384});
        const auto tile_of_b = s.fetch(B(0, 0));
        tile_of_b->wait();
        if (const Status status = s.wait(); !status.ok()) wrong = status.describe();
    }
    const double peak = engine.memory_use().peak;
    if (peak > allowed) wrong += fmt::format("{} bytes where {} are allowed", peak, allowed);
    EXPECT_EQ(on_any_node(engine, wrong + works_again(engine)), "");
}

TEST(Budget, AMatrixThatDoesNotFitOnOneNodeIsRefusedOnAll) {
    const Index nodes = node_count();
    // Only the last node has too little.
    StarpuEngine engine(memory_for_tiles(this_node() == nodes - 1 ? 5 : 1000));
    std::string wrong;
    {
        Stream s(engine);
        try {
            const Matrix<double> A(s, tiling, cyclic(nodes));
            wrong = "it was not refused; ";
        } catch (const Error& error) {
            if (std::string(error.what()).find(fmt::format("node {} needs", nodes - 1)) == std::string::npos)
                wrong = error.what();
        }
        if (!s.wait().ok()) wrong += "the stream failed; ";
    }
    EXPECT_EQ(on_any_node(engine, wrong + works_again(engine)), "");
}

TEST(Budget, ManyStreamsOneAfterTheOtherNeedNoMoreThanTheLargest) {
    // Enough for any of them; what they would leave uncounted adds up.
    StarpuEngine engine(with_memory(20e3));
    std::string wrong;
    for (std::uint64_t seed = 1; seed <= 30 && wrong.empty(); ++seed)
        for (const auto& statuses : testing::play(engine, {.seed = seed}).statuses)
            for (const Status& status : statuses)
                if (!status.ok()) wrong = fmt::format("seed {}: {}", seed, status.describe());
    EXPECT_EQ(on_any_node(engine, wrong), "");
}

}  // namespace
}  // namespace tesela
