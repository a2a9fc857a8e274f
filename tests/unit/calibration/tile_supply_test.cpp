#include "tesela/calibration/internal/tile_supply.hpp"

#include "tesela/calibration/internal/crew.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <set>

namespace tesela::calibration::tile_supply_test {
namespace {

constexpr Index n = 20;
constexpr std::size_t tile_bytes = n * 24 * sizeof(double);

TEST(TileSupply, WalksThroughAllItsMemoryBeforeATileComesAgain) {
    TileSupply supply({.tile = n, .bytes = 10 * tile_bytes});
    const std::vector<Specimen::Operand> operands{{{n, n}, Specimen::Origin::memory}};
    std::vector<void*> seen;
    for (int call = 0; call < 20; ++call) seen.push_back(supply.next(operands)[0].data);
    EXPECT_EQ(std::set<void*>(seen.begin(), seen.end()).size(), 10U);
    EXPECT_TRUE(std::equal(seen.begin(), seen.begin() + 10, seen.begin() + 10));
}

TEST(TileSupply, GivesOperandsOfOneCallPlacesOfTheirOwn) {
    TileSupply supply({.tile = n, .bytes = 4 * tile_bytes});
    const std::vector<Specimen::Operand> operands{
        {{n, n}, Specimen::Origin::pivot},  {{n, n}, Specimen::Origin::panel},  {{n, n}, Specimen::Origin::panel},
        {{n, n}, Specimen::Origin::memory}, {{n, n}, Specimen::Origin::memory}, {{n, 4}, Specimen::Origin::vector},
        {{n, 4}, Specimen::Origin::vector}, {{1, 1}, Specimen::Origin::vector}};
    const auto tiles = supply.next(operands);
    ASSERT_EQ(tiles.size(), operands.size());
    for (std::size_t a = 0; a < tiles.size(); ++a) {
        EXPECT_EQ(tiles[a].ld, operands[a].shape.rows);
        for (std::size_t b = 0; b < a; ++b) {
            const double* const first = std::min(tiles[a].as<double>(), tiles[b].as<double>());
            const double* const second = std::max(tiles[a].as<double>(), tiles[b].as<double>());
            const Tile& before = tiles[first == tiles[a].as<double>() ? a : b];
            EXPECT_GE(second - first, before.rows() * before.cols()) << a << " and " << b;
        }
    }
}

TEST(TileSupply, KeepsItsTilesWellConditionedUnderFactorisations) {
    for (const Specimen& specimen : specimens()) {
        TileSupply supply({.tile = n, .type = specimen.type, .bytes = 1});
        const auto operands = specimen.operands(n);
        for (int call = 0; call < 400; ++call) {  // a hundred times each tile
            const auto tiles = supply.next(operands);
            const KernelResult result = specimen.kernel->cpu({tiles, specimen.arguments.data()});
            ASSERT_EQ(result.failure, Failure::none) << specimen.kernel->name << " in call " << call;
            const Tile& written = tiles.back();
            const double corner = specimen.type == ElementType::f64 ? *written.as<double>() : *written.as<float>();
            ASSERT_TRUE(std::isfinite(corner)) << specimen.kernel->name << " in call " << call;
        }
    }
}

TEST(Specimens, CountLessWorkForNarrowCallsThanForSquareOnes) {
    for (const Specimen& narrow : specimens()) {
        if (narrow.shape != CallShape::narrow) continue;
        for (const Specimen& square : specimens()) {
            if (square.kernel != narrow.kernel || square.shape != CallShape::square) continue;
            for (const Index tile : {smallest_tile_for_narrow, Index{500}})
                EXPECT_LT(cost_of(narrow, tile).flops, cost_of(square, tile).flops) << narrow.kernel->name;
        }
    }
}

TEST(Crew, RunsEveryMemberAtTheSameTime) {
    for (const int threads : {1, 2, 5}) {
        std::barrier all(threads);  // would wait forever if they ran one after the other
        std::atomic<int> sum = 0;
        run_crew(threads, [&](int member) {
            all.arrive_and_wait();
            sum += member;
        });
        EXPECT_EQ(sum, threads * (threads - 1) / 2);
    }
}

}  // namespace
}  // namespace tesela::calibration::tile_supply_test
