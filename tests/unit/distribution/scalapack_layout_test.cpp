#include "tesela/distribution/scalapack_layout.hpp"

#include "tesela/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tesela::scalapack_layout_test {
namespace {

ScalapackLayout any_layout() {
    const auto number = [](int low, int high) { return *rc::gen::inRange(low, high); };
    ScalapackLayout layout{.grid = {number(1, 4), number(1, 4)},
                           .order = *rc::gen::element(GridOrder::row_major, GridOrder::column_major)};
    layout.descriptor = {1, 0, number(0, 60), number(0, 60), number(1, 12), number(1, 12), 0, 0, 100};
    layout.descriptor[6] = number(0, static_cast<int>(layout.grid.rows));
    layout.descriptor[7] = number(0, static_cast<int>(layout.grid.cols));
    return layout;
}

RC_GTEST_PROP(ScalapackLayout, BlocksFillTheLocalArraysWithoutOverlap, ()) {
    const ScalapackLayout layout = any_layout();
    const Tiling tiling = layout.tiling();
    const Distribution owners = layout.distribution();
    std::map<Index, std::set<Index>> used;  // by node: positions in its local array
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j < tiling.grid().cols; ++j) {
            const NodeId owner = owners.owner({i, j});
            const TileIndex process = layout.process(owner);
            // The defining property: block (i, j) is on process ((i + RSRC) mod P, (j + CSRC) mod Q).
            RC_ASSERT(process.i == (i + layout.first_process().i) % layout.grid.rows);
            RC_ASSERT(process.j == (j + layout.first_process().j) % layout.grid.cols);
            for (Index c = 0; c < tiling.cols(j); ++c)
                for (Index r = 0; r < tiling.rows(i); ++r)
                    RC_ASSERT(used[owner.number()].insert(layout.local_position({i, j}) + r + c * layout.ld()).second);
        }
    for (Index node = 0; node < layout.grid.count(); ++node) {
        const ElementIndex local = layout.local_size(NodeId{node});
        std::set<Index> expected;
        for (Index c = 0; c < local.j; ++c)
            for (Index r = 0; r < local.i; ++r) expected.insert(r + c * layout.ld());
        RC_ASSERT(used[node] == expected);
    }
}

TEST(ScalapackLayout, SaysWhichEntryOfTheDescriptorIsWrong) {
    const ScalapackLayout good{.descriptor = {1, 0, 20, 10, 4, 4, 0, 1, 12}, .grid = {2, 2}};
    check_layout(good, NodeId{0});
    const auto message = [&](std::size_t entry, int value) {
        ScalapackLayout bad = good;
        bad.descriptor[entry] = value;
        try {
            check_layout(bad, NodeId{0});
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(message(0, 2), ::testing::HasSubstr("DTYPE"));
    EXPECT_THAT(message(2, -1), ::testing::HasSubstr("M, N"));
    EXPECT_THAT(message(4, 0), ::testing::HasSubstr("MB, NB"));
    EXPECT_THAT(message(6, 2), ::testing::HasSubstr("RSRC"));
    EXPECT_THAT(message(8, 11), ::testing::HasSubstr("LLD"));
}

}  // namespace
}  // namespace tesela::scalapack_layout_test
