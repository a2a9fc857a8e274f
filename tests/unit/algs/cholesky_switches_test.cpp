// What paper 004's switches do to the stream of a Cholesky factorisation, whatever runs it; lookahead is that of
// tesela-papers.

#include "paper004/switched_cholesky.hpp"
#include "support/cases.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tesela::cholesky_switches_test {
namespace {

constexpr double bytes_of_token = 1;  // as it travels

Recording record(Index tiles, Index nodes, const bench::SwitchedFactor& options) {
    constexpr Index tile = 10;
    RecordingEngine engine(nodes);
    {
        Stream s(engine);
        const Tiling tiling = Tiling::square(tiles * tile, tile);
        const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), nodes),
                               {.stored = Stored::lower, .memory = [](TileIndex) { return TileMemory{}; }});
        bench::switched_cholesky(s, A, options);
        require_done(s.wait());
    }
    return engine.take();
}

/// The tile that a recorded task writes first.
TileIndex written_by(const Recording& recording, const RecordedItem& item) {
    for (const RecordedAccess& access : recording.accesses_of(item))
        if (writes(access.mode)) return recording.data[static_cast<std::size_t>(access.datum)].index;
    return {};
}

/// All that must have ended before an item begins.
std::set<std::uint32_t> all_before(const TaskGraph& graph, std::uint32_t item) {
    std::set<std::uint32_t> found;
    std::vector<std::uint32_t> open{item};
    while (!open.empty()) {
        const std::uint32_t next = open.back();
        open.pop_back();
        for (const std::uint32_t before : graph.predecessors_of(next))
            if (found.insert(before).second) open.push_back(before);
    }
    return found;
}

/// Items of a kernel by the tile that they write and their step.
std::map<std::pair<TileIndex, std::int32_t>, std::uint32_t> items_of(const Recording& recording,
                                                                     const std::string& kernel) {
    std::map<std::pair<TileIndex, std::int32_t>, std::uint32_t> items;
    for (std::size_t v = 0; v < recording.items.size(); ++v) {
        const RecordedItem& item = recording.items[v];
        if (item.kind == RecordedItem::Kind::task && item.kernel->name == kernel)
            items[{written_by(recording, item), item.step}] = static_cast<std::uint32_t>(v);
    }
    return items;
}

RC_GTEST_PROP(Lookahead, SolvesFarFromTheDiagonalWaitForTheUpdateOfTheNextDiagonalTileAndNoOthersDo, ()) {
    const Index tiles = *rc::gen::inRange<Index>(1, 10);
    const Index lookahead = *rc::gen::inRange<Index>(0, 10);
    const Recording recording = record(tiles, *rc::gen::inRange<Index>(1, 5), {.lookahead = lookahead});
    const TaskGraph graph = dependency_graph(recording);
    const auto updates = items_of(recording, "dsyrk");
    for (const auto& [what, solve] : items_of(recording, "dtrsm")) {
        const auto& [tile, step] = what;
        const std::uint32_t update = updates.at({{tile.j + 1, tile.j + 1}, step});
        const bool waits = lookahead > 0 && tile.i > tile.j + lookahead;
        RC_ASSERT(all_before(graph, solve).contains(update) == waits);
    }
}

RC_GTEST_PROP(Lookahead, GivesTheSameFactor, ()) {
    InlineEngine engine(3);
    Stream s(engine);
    const Tiling tiling = Tiling::square(*rc::gen::inRange<Index>(1, 90), *rc::gen::inRange<Index>(5, 30));
    const Index diagonal_tile = *rc::gen::inRange<Index>(0, 12);
    const auto factor = [&](Index lookahead) {
        const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 3), {.stored = Stored::lower});
        generate(s, A.view(), {testing::spd_element});
        bench::switched_cholesky(s, A, {.lookahead = lookahead, .diagonal_tile = diagonal_tile});
        return gather(s, A.view());
    };
    RC_ASSERT(factor(*rc::gen::inRange<Index>(1, 5)) == factor(0));
}

TEST(Lookahead, LeavesTheTasksAndTheMessagesWithTilesAsTheyAre) {
    const auto of_tiles = [](const Recording& recording) {
        std::multiset<std::pair<std::int32_t, std::int32_t>> ends;
        for (const Transfer& transfer : list_transfers(recording))
            if (transfer.bytes != bytes_of_token) ends.emplace(transfer.from, transfer.to);
        return ends;
    };
    const Recording without = record(9, 4, {});
    const Recording with = record(9, 4, {.lookahead = 2});
    EXPECT_EQ(with.count_by_kernel(), without.count_by_kernel());
    EXPECT_EQ(of_tiles(with), of_tiles(without));
}

TEST(Lookahead, SendsATokenToANodeOnce) {
    const Recording recording = record(9, 4, {.lookahead = 2});
    std::map<std::pair<std::int64_t, std::int32_t>, int> times;
    for (const Transfer& transfer : list_transfers(recording))
        if (transfer.bytes == bytes_of_token) ++times[{transfer.datum, transfer.to}];
    EXPECT_FALSE(times.empty());
    for (const auto& [what, count] : times) EXPECT_EQ(count, 1);
}

TEST(DiagonalTiles, AreFactorisedAsTilesOfTheirOwn) {
    // Three diagonal tiles of ten rows as tiles of 4, 4 and 2.
    const auto tasks = record(3, 1, {.diagonal_tile = 4}).count_by_kernel();
    EXPECT_EQ(tasks.at("dpotrf"), 3 * 3);
    EXPECT_EQ(tasks.at("dtrsm"), 3 + 3 * 3);
    EXPECT_EQ(tasks.at("dsyrk"), 3 + 3 * 3);
    EXPECT_EQ(tasks.at("dgemm"), 1 + 3 * 1);
    EXPECT_EQ(tasks.at("copy_segment"), 3 * 2 * 6);
}

TEST(DiagonalTiles, StayWholeWhereTheyAreNoLarger) {
    EXPECT_EQ(record(3, 1, {.diagonal_tile = 10}).count_by_kernel(), record(3, 1, {}).count_by_kernel());
}

TEST(DiagonalTiles, AreFactorisedWhereTheyAre) {
    const auto ends = [](const Recording& recording) {
        std::vector<std::pair<std::int32_t, std::int32_t>> result;
        for (const Transfer& transfer : list_transfers(recording)) result.emplace_back(transfer.from, transfer.to);
        return result;
    };
    EXPECT_EQ(ends(record(6, 4, {.diagonal_tile = 3})), ends(record(6, 4, {})));
}

TEST(DiagonalTiles, HaveTasksAsUrgentAsTheOneTheyStandFor) {
    const Recording whole = record(4, 1, {});
    std::map<std::int32_t, std::int32_t> priority;
    for (const RecordedItem& item : whole.items)
        if (item.kind == RecordedItem::Kind::task && item.kernel->name == std::string("dpotrf"))
            priority[item.step] = item.priority;
    const Recording parts = record(4, 1, {.diagonal_tile = 3});
    Index seen = 0;
    for (const RecordedItem& item : parts.items) {
        if (item.kind != RecordedItem::Kind::task) continue;
        const RecordedDatum& last = parts.data[static_cast<std::size_t>(parts.accesses_of(item).back().datum)];
        if (parts.matrices[static_cast<std::size_t>(last.matrix)] != "diagonal") continue;
        ++seen;
        EXPECT_EQ(item.priority, priority.at(item.step));
        EXPECT_EQ(item.urgency, Urgency::critical);
    }
    EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace tesela::cholesky_switches_test
