#include "tesela/algs/redistribute.hpp"

#include "support/redistribution.hpp"
#include "tesela/distribution/redistribution.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tesela::redistribute_test {
namespace {

using testing::any_redistribution;
using testing::owners;
using testing::Redistribution;

RC_GTEST_PROP(Redistribute, InlineMovesEveryElementToItsPlace, ()) {
    InlineEngine engine(3);
    const Redistribution r = any_redistribution();
    RC_LOG() << r.name();
    RC_ASSERT(testing::run_redistribution<double>(engine, r) == testing::expected_target<double>(r));
    RC_ASSERT(testing::run_redistribution<float>(engine, r) == testing::expected_target<float>(r));
}

RC_GTEST_PROP(Redistribute, RecordedHasTheTransfersOfTheSchedule, ()) {
    const Redistribution r = any_redistribution();
    RC_LOG() << r.name();
    RecordingEngine engine(3);
    Stream s(engine);
    Matrix<double> A(s, r.from, owners(r.from_family, r.from.grid(), 3));
    Matrix<double> B(s, r.to, owners(r.to_family, r.to.grid(), 3), {.name = "B"});
    generate(s, A.view(), {testing::source_element});
    const Transfers before = count_transfers(engine.recording());
    redistribute(s, testing::source_view(r, A), B.view(), r.options);
    const Transfers transfers = count_transfers(engine.recording());
    const Overlay overlay = redistribution_overlay(testing::source_view(r, A), B.view(), r.options);
    const RedistributionVolume volume =
        redistribution_volume(overlay, {A.distribution(), B.distribution()}, dense_bytes(8));
    RC_ASSERT(transfers.bytes - before.bytes == static_cast<double>(volume.remote.bytes));
    const Parcels parcels =
        exchange_parcels(overlay, {A.distribution(), B.distribution()}, 8,
                         {.message_bytes = r.options.message_bytes, .whole_tile_bytes = r.options.whole_tile_bytes});
    RC_ASSERT(transfers.messages - before.messages ==
              std::ranges::count_if(parcels.parcels, [](const Parcel& p) { return p.from != p.to; }));
    for (const auto& [nodes, v] : volume.pairs)
        if (nodes.first != nodes.second)
            RC_ASSERT(transfers.matrix[static_cast<std::size_t>(nodes.first * 3 + nodes.second)] ==
                      static_cast<double>(v.bytes));

    // The same stream under other owners of the target.
    const Distribution other = owners("random:77", r.to.grid(), 3);
    const Transfers moved = count_transfers(engine.recording(), {{"B", other}});
    RC_ASSERT(
        moved.bytes ==
        static_cast<double>(redistribution_volume(overlay, {A.distribution(), other}, dense_bytes(8)).remote.bytes));
}

TEST(Redistribute, WorkOnATargetTileDependsOnThatTileOnly) {
    RecordingEngine engine(2);
    Stream s(engine);
    const Tiling tiling = Tiling::square(64, 16);
    const Tiling finer = Tiling::square(64, 8);
    Matrix<double> A(s, tiling, owners("block_cyclic", tiling.grid(), 2));
    Matrix<double> B(s, finer, owners("block_cyclic", finer.grid(), 2), {.name = "B"});
    generate(s, A.view(), {testing::source_element});
    redistribute(s, A.view(), B.view());
    s.submit(tasks::potrf(B(0, 0)));
    const TaskGraph graph = dependency_graph(engine.recording());
    const auto potrf = graph.size() - 1;
    ASSERT_EQ(graph.predecessors_of(potrf).size(), 1U);
    const std::uint32_t exchange = graph.predecessors_of(potrf)[0];
    EXPECT_EQ(engine.recording().items[exchange].kind, RecordedItem::Kind::exchange);
    EXPECT_EQ(graph.predecessors_of(exchange).size(), 1U);  // the task that generated A(0, 0)
}

TEST(Redistribute, RefusesMessagesThatCannotBe) {
    InlineEngine engine(1);
    Stream s(engine);
    const Tiling tiling = Tiling::square(4, 2);
    Matrix<double> A(s, tiling, owners("block_cyclic", tiling.grid(), 1));
    Matrix<double> B(s, tiling, owners("block_cyclic", tiling.grid(), 1));
    generate(s, A.view(), {testing::source_element});
    EXPECT_THROW(redistribute(s, A.view(), B.view(), {.message_bytes = 0}), Error);
    EXPECT_THROW(redistribute(s, A.view(), B.view(), {.batch = -1}), Error);
}

/// Bytes of the tiles that each node has.
std::vector<double> shares(const Matrix<double>& A, Index nodes) { return A(0, 0).matrix->bytes_per_node(nodes); }

RC_GTEST_PROP(Redistribute, InPlaceNoNodeEverHasMoreThanItsLargerShareAndOneTile, ()) {
    const Index nodes = *rc::gen::inRange<Index>(1, 9);
    RecordingEngine engine(nodes);
    Stream s(engine);
    const Index order = *rc::gen::inRange<Index>(1, 60);
    const Tiling tiling = testing::any_tiling({order, *rc::gen::inRange<Index>(1, 60)});
    const GridSize grid = tiling.grid();
    // Some nodes have nothing before, and some nothing afterwards.
    const auto any_owners = [&] {
        const Index first = *rc::gen::inRange<Index>(0, nodes);
        const Index last = *rc::gen::inRange<Index>(first, nodes);
        std::vector<std::int32_t> list;
        for (Index k = 0; k < grid.count(); ++k)
            list.push_back(static_cast<std::int32_t>(first + k * *rc::gen::inRange<Index>(0, 3) % (last - first + 1)));
        return Distribution(grid, nodes, list);
    };
    const Matrix<double> A(s, tiling, any_owners());
    const Distribution to = any_owners();
    std::vector<double> now = shares(A, nodes);
    const std::vector<double> before = now;
    redistribute(s, A.view(), to);
    RC_ASSERT(A.distribution() == to);
    const std::vector<double> after = shares(A, nodes);
    const Recording& recording = engine.recording();
    double largest = 0;
    for (const RecordedDatum& datum : recording.data) largest = std::max(largest, static_cast<double>(datum.bytes));
    for (const RecordedItem& item : recording.items) {
        const RecordedDatum& datum =
            recording.data[static_cast<std::size_t>(recording.accesses_of(item).front().datum)];
        const auto node = static_cast<std::size_t>(item.node);
        now[static_cast<std::size_t>(datum.owner)] -= static_cast<double>(datum.bytes);
        now[node] += static_cast<double>(datum.bytes);
        RC_ASSERT(now[node] <= std::max(before[node], after[node]) + largest);
    }
    RC_ASSERT(now == after);
}

}  // namespace
}  // namespace tesela::redistribute_test
