#include "limits/limited.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/distribution/families.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace tesela {
namespace {

using testing::on_any_node;

/// Bytes of this process that are in memory now.
double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double size = 0;
    double resident = 0;
    file >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

constexpr Index tile_count = 6;
constexpr double most_growth = 20e6;

/// Tiles that go round the nodes, so many moves.
void move_around(Stream& s, const Matrix<double>& A, Index moves) {
    const Index nodes = s.engine().node_count();
    for (Index k = 0; k < moves; ++k) {
        const TileRef tile = A(k % tile_count, 0);
        s.move(tile, NodeId{(tile.owner().number() + 1) % nodes});
    }
}

/// How much memory grows while something is submitted, when it has been done for a while already.
template <class Submit>
std::string too_much_growth(const Submit& submit) {
    const double before = resident_bytes();
    submit();
    const double growth = resident_bytes() - before;
    return growth < most_growth ? "" : fmt::format("{} MB more", growth / 1e6);
}

struct Case {
    StarpuEngine engine{StarpuOptions{.workers = 1, .warnings = Warnings::keep}};
    Stream s{engine, {.max_pending = 256}};
    Matrix<double> A{s, Tiling::uniform({tile_count * 8, 8}, {8, 8}),
                     random_distribution({tile_count, 1}, engine.node_count(), 1)};
    Case() {
        fill(s, A.view(), {.off_diagonal = 3, .diagonal = 3});
        move_around(s, A, 2000);
        EXPECT_TRUE(s.wait().ok());
    }
    std::string finish() {
        const bool right = gather(s, A.view()) == std::vector<double>(tile_count * 64, 3);
        return s.wait().ok() && right ? "" : "wrong values";
    }
};

TEST(Pending, MovesAreHeldBackAsTasksAre) {
    Case c;
    const std::string wrong = too_much_growth([&] { move_around(c.s, c.A, 20000); });
    EXPECT_EQ(on_any_node(c.engine, wrong + c.finish()), "");
}

TEST(Pending, SharesAndFetchesAreHeldBackAsTasksAre) {
    Case c;
    const Index nodes = c.engine.node_count();
    std::vector<NodeId> all;
    for (Index node = 0; node < nodes; ++node) all.emplace_back(node);
    const auto share = [&](Index count) {
        for (Index k = 0; k < count; ++k) {
            c.s.share(c.A(k % tile_count, 0), all);
            c.s.retire(c.A(k % tile_count, 0));
            if (k % 10 == 0) (void)c.s.fetch(c.A(k % tile_count, 0));
        }
    };
    share(1000);
    const std::string wrong = too_much_growth([&] { share(10000); });
    EXPECT_EQ(on_any_node(c.engine, wrong + c.finish()), "");
}

}  // namespace
}  // namespace tesela
