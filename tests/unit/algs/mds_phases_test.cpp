#include "tesela/algs/mds_phases.hpp"

#include "support/mds.hpp"
#include "support/temporary_directory.hpp"
#include "tesela/algs/priorities.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace tesela {
namespace {

using ::testing::HasSubstr;

RC_GTEST_PROP(MdsPhases, GramMatrixAndProductAreThoseOfThePointsAboutTheirMean, ()) {
    const testing::MdsCase c{.points = *rc::gen::inRange<Index>(1, 60),
                             .tile = *rc::gen::inRange<Index>(1, 25),
                             .columns = *rc::gen::inRange<Index>(1, 30),
                             .seed = *rc::gen::inRange<std::uint64_t>(0, 1000)};
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    RC_ASSERT(testing::run_mds(engine, c) <= 1);
}

/// Tasks by phase and kernel.
std::map<std::pair<std::string, std::string>, Index> counted(const Recording& recording) {
    std::map<std::pair<std::string, std::string>, Index> counts;
    for (const RecordedItem& item : recording.items)
        if (item.kind == RecordedItem::Kind::task)
            ++counts[{recording.phases[static_cast<std::size_t>(item.phase)], item.kernel->name}];
    return counts;
}

Recording recorded(const Tiling& tiling, Index columns, const MdsOwners& owners) {
    RecordingEngine engine(owners.compute.nodes());
    {
        Stream s(engine);
        const MdsMatrices m(s, tiling, columns, owners);
        mds_phases(s, m);
        EXPECT_TRUE(s.wait().ok());
    }
    return engine.take();
}

TEST(MdsPhases, EachTileIsReadSquaredMultipliedAndCentred) {
    const Index nb = 7;
    const Distribution rows = one_dimensional({nb, nb}, {1, 2, 4});
    const Recording recording = recorded(Tiling::square(nb * 64, 64), 100, {.read = rows, .compute = rows});
    auto counts = counted(recording);
    EXPECT_EQ((counts[{"read", "dread"}]), nb * nb);
    EXPECT_EQ((counts[{"gram", "dgram"}]), nb * nb);
    EXPECT_EQ((counts[{"product", "dgemm"}]), 2 * nb * nb);  // 100 columns in two tiles of 50
    EXPECT_EQ((counts[{"product", "dlaset"}]), 2 * nb);
    EXPECT_EQ((counts[{"centre", "dcentre"}]), nb * nb + 2 * nb);
    for (const RecordedItem& item : recording.items) {
        if (item.kind != RecordedItem::Kind::task) continue;
        const bool reads = std::string(item.kernel->name) == "dread";
        EXPECT_EQ(item.resource != 0, reads);
    }
    ASSERT_EQ(recording.resources.size(), 1U);
    EXPECT_EQ(recording.resources[0].name, reader_resource);
    EXPECT_EQ(recording.resources[0].at_most, 5);
}

/// Tiles of D that are given to another node.
Index moved_tiles(const Recording& recording) {
    Index moved = 0;
    for (const RecordedItem& item : recording.items)
        if (item.kind == RecordedItem::Kind::move) {
            const RecordedDatum& datum = recording.data[static_cast<std::size_t>(recording.accesses_of(item)[0].datum)];
            EXPECT_EQ(recording.matrices[static_cast<std::size_t>(datum.matrix)], "D");
            ++moved;
        }
    return moved;
}

TEST(MdsPhases, TilesMoveFromWhereTheyAreReadToWhereTheyAreComputedWithAndNoFurther) {
    const Index nb = 6;
    const Tiling tiling = Tiling::square(nb * 32, 32);
    const Distribution rows = one_dimensional({nb, nb}, {1, 1, 4});
    const Distribution turns = block_cyclic({nb, nb}, {.p = 3, .q = 1});
    Index apart = 0;
    for (Index i = 0; i < nb; ++i)
        if (rows.owner({i, 0}) != turns.owner({i, 0})) ++apart;
    ASSERT_GT(apart, 0);
    EXPECT_EQ(moved_tiles(recorded(tiling, 20, {.read = turns, .compute = rows})), apart * nb);
    // Under 1D a row of D and its row of the product are on one node: products need messages with Ω alone.
    const Recording recording = recorded(tiling, 20, {.read = rows, .compute = rows});
    EXPECT_EQ(moved_tiles(recording), 0);
    for (const RecordedItem& item : recording.items) {
        if (item.kind != RecordedItem::Kind::task || std::string(item.kernel->name) != "dgemm") continue;
        const auto accesses = recording.accesses_of(item);
        const TileIndex d = recording.data[static_cast<std::size_t>(accesses[0].datum)].index;
        EXPECT_EQ(item.node, rows.owner(d).number());
    }
}

TEST(MdsPhases, PrioritiesFollowTheRowsAndInTheProductTheColumns) {
    const MdsPriorities priority(10);
    EXPECT_EQ(priority.read(0), 10);
    EXPECT_EQ(priority.read(9), 1);
    EXPECT_EQ(priority.square(3), priority.read(3));
    EXPECT_EQ(priority.product(9), 1);
    EXPECT_EQ(priority.clear(), 10);
}

TEST(MdsPhases, WhatDoesNotFitIsRefused) {
    RecordingEngine engine(2);
    Stream s(engine);
    const auto refused = [&](const Tiling& tiling, Index columns, const Distribution& compute) {
        return message_of<Error>([&] {
            const MdsMatrices m(s, tiling, columns,
                                {.read = squarest_block_cyclic(tiling.grid(), 2), .compute = compute});
        });
    };
    const Distribution fits = squarest_block_cyclic({4, 4}, 2);
    EXPECT_THAT(refused(Tiling::uniform({40, 30}, {10, 10}), 5, fits), HasSubstr("4 x 3 tiles"));
    EXPECT_THAT(refused(Tiling::square(40, 10), 0, fits), HasSubstr("at least 1 column"));
    EXPECT_THAT(refused(Tiling::square(40, 10), 5, squarest_block_cyclic({5, 5}, 2)),
                HasSubstr("owners are for 5 x 5"));
}

TEST(MdsPhases, ReadingWithoutAFileIsForEnginesWithoutData) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(20, 10);
    const Distribution all = squarest_block_cyclic(tiling.grid(), 1);
    const MdsMatrices m(s, tiling, 5, {.read = all, .compute = all});
    EXPECT_THAT(message_of<Error>([&] { mds_phases(s, m); }), HasSubstr("no worker can run dread"));
}

}  // namespace
}  // namespace tesela
