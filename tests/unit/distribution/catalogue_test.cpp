#include "tesela/distribution/catalogue.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/band.hpp"
#include "tesela/distribution/extended_block_cyclic.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/generation.hpp"
#include "tesela/distribution/hybrid.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/distribution/random_subsets.hpp"
#include "tesela/distribution/symmetric_block_cyclic.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace tesela::catalogue_test {
namespace {

DistributionRequest request(Index n = 18, Index nodes = 6) {
    return {.workload = {.operation = Operation::lu, .density = synthetic_density(n, {.seed = 3})},
            .nodes = nodes,
            .alpha = 1.5,
            .seed = 9};
}

TEST(MakeFamily, NamesTheFamiliesOfThePapers) {
    const DistributionRequest r = request();
    const GridSize grid{18, 18};
    const TileMap weights = tile_weights(r.workload);
    EXPECT_EQ(make_family("block_cyclic", r), squarest_block_cyclic(grid, 6));
    EXPECT_EQ(make_family("block_cyclic:3x2", r), block_cyclic(grid, {.p = 3, .q = 2}));
    EXPECT_EQ(make_family("block_cyclic:rule", r), rule_block_cyclic(grid, 6));
    EXPECT_EQ(make_family("bce", r), extended_block_cyclic(weights, {.nodes = 6, .alpha = 1.5}));
    EXPECT_EQ(make_family("bce:2", r), extended_block_cyclic(weights, {.nodes = 6, .alpha = 2}));
    EXPECT_EQ(make_family("bce:3x4", r),
              extended_block_cyclic(weights, {.nodes = 6, .alpha = 1.5, .pattern = GridSize{3, 4}}));
    EXPECT_EQ(make_family("rs:2", r), random_subsets(weights, {.nodes = 6, .alpha = 2, .seed = 9}));
    EXPECT_EQ(make_family("hybrid", r), hybrid_pattern(r.workload, {.nodes = 6, .alpha = 1.5}));
    EXPECT_EQ(make_family("1d:1,2,3,4,5,6", r), one_dimensional(grid, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(make_family("1d1d", r), one_d_one_d(grid, {1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(make_family("band:2", r), band_hybrid(grid, 6, 2));
    EXPECT_EQ(make_family("sbc", r), symmetric_block_cyclic(grid, 6));
    EXPECT_EQ(make_family("random:4", r), random_distribution(grid, 6, 4));
}

TEST(MakeFamily, GivesEveryNodeItsShareOfATriangle) {
    const std::vector<double> powers{60, 60, 565, 590};
    const auto make = [&](const char* family, Operation operation) {
        return make_family(
            family,
            {.workload = {.operation = operation, .density = full_density({50, 50})}, .nodes = 4, .powers = powers});
    };
    for (const Operation operation : {Operation::lu, Operation::cholesky})
        EXPECT_EQ(make("1d1d", operation), one_d_one_d({50, 50}, powers));
    EXPECT_THROW((void)make("1d1d_triangle", Operation::lu), Error);
    const Distribution cholesky = make("1d1d_triangle", Operation::cholesky);
    EXPECT_EQ(cholesky, one_d_one_d_triangle(50, powers));
    // The example of paper 000, section 4.4, from its own route: 1D-1D with these powers, then algorithm 2.
    EXPECT_EQ(tile_counts(cholesky, Stored::lower), (std::vector<Index>{60, 60, 565, 590}));
    const Distribution generation = generation_distribution(cholesky, {318, 319, 319, 319}, Stored::lower);
    EXPECT_EQ(count_moves(generation, cholesky, Stored::lower).moved, 517);
    // Without the pass for triangles the slow nodes are far from their shares.
    const auto before = tile_counts(make("1d1d", Operation::cholesky), Stored::lower);
    EXPECT_GT(std::abs(static_cast<double>(before[0] + before[1]) / 120 - 1), 0.1);
}

TEST(MakeFamily, RefusesWhatItDoesNotKnow) {
    const DistributionRequest r = request();
    for (const char* text : {"", "cyclic", "bce:x", "bce:0.5", "rs:two", "1d:1,2", "1d:1,,3,4,5,6", "sbc:3", "band:-1",
                             "block_cyclic:2x2", "1d1d_constrained", "no/such/file.json"})
        EXPECT_THROW((void)make_family(text, r), Error) << text;
    EXPECT_THROW((void)make_distribution("sbc", {8, 8}, 7), Error);
}

TEST(MakeFamily, ReadsAFileThatFits) {
    const auto path = std::filesystem::temp_directory_path() / "tesela_catalogue_test.json";
    const Distribution written = random_distribution({18, 18}, 6, 1);
    std::ofstream(path) << nlohmann::json(written);
    EXPECT_EQ(make_family(path.string(), request()), written);
    EXPECT_THROW((void)make_family(path.string(), request(18, 10)), Error);
    EXPECT_THROW((void)make_family(path.string(), request(17, 6)), Error);
    std::ofstream(path) << "{";
    EXPECT_THROW((void)make_family(path.string(), request()), Error);
    std::filesystem::remove(path);
}

TEST(MakeDistribution, TakesEveryFamilyForEqualNodesAndTiles) {
    for (const char* text : {"block_cyclic", "block_cyclic:rule", "bce", "bce:3", "rs", "hybrid", "best", "1d", "1d1d",
                             "band:3", "sbc", "random"})
        EXPECT_EQ(make_distribution(text, {20, 20}, 6).grid(), (GridSize{20, 20})) << text;
}

TEST(MakeFamily, GivesUnequalNodesWhatTheirPowersAsk) {
    constexpr Index tiles = 60;
    // As 6 nodes of cores, 6 with a slow and 2 with a fast GPU.
    std::vector<double> powers(6, 1.0);
    powers.insert(powers.end(), 6, 3.5);
    powers.insert(powers.end(), 2, 8.0);
    for (const Operation operation : {Operation::product, Operation::lu, Operation::cholesky}) {
        const Workload workload{.operation = operation, .density = full_density({tiles, tiles})};
        const TileMap weights = tile_weights(workload);
        const DistributionRequest request{.workload = workload, .nodes = 14, .alpha = 2, .seed = 5, .powers = powers};
        const DistributionRequest blind{.workload = workload, .nodes = 14, .alpha = 2, .seed = 5};
        const Index limit = line_limit(14, 2);
        for (const char* family : {"bce", "rs", "hybrid", "best"}) {
            const Distribution d = make_family(family, request);
            const double load = summarise_loads(node_loads(d, weights), powers).max_over_ideal;
            const double ignored =
                summarise_loads(node_loads(make_family(family, blind), weights), powers).max_over_ideal;
            EXPECT_LT(load, 1.10) << family;
            EXPECT_GT(ignored, 2) << family;
            EXPECT_LE(std::ranges::max(nodes_per_row(d)), limit) << family;
            EXPECT_LE(std::ranges::max(nodes_per_column(d)), limit) << family;
        }
    }
}

TEST(MakeFamily, CanLeaveNodesIdleAsFigure8OfPaper001Does) {
    const DistributionRequest dense{.workload = {.density = full_density({132, 132})}, .nodes = 34, .alpha = 2};
    const auto counts = tile_counts(make_family("bce:12x11/33", dense), Stored::full);
    // 132 cells for 33 nodes: four each, and the last node has none.
    EXPECT_EQ(std::ranges::count(counts, 4 * 132), 33);
    EXPECT_EQ(counts.back(), 0);
    EXPECT_THROW((void)make_family("bce:12x11/35", dense), Error);
    EXPECT_THROW((void)make_family("bce:12x11/", dense), Error);
}

TEST(MakeFamily, TakesEqualPowersForNone) {
    const Workload workload{.operation = Operation::lu, .density = synthetic_density(24, {.seed = 3})};
    for (const char* family : {"bce", "rs", "hybrid", "best"})
        EXPECT_EQ(make_family(family, {.workload = workload, .nodes = 7, .powers = std::vector<double>(7, 2.5)}),
                  make_family(family, {.workload = workload, .nodes = 7}))
            << family;
}

TEST(MakeFamily, RefusesPowersThatItCannotUse) {
    const DistributionRequest unequal{
        .workload = {.density = full_density({12, 12})}, .nodes = 6, .powers = {1, 1, 1, 2, 2, 2}};
    EXPECT_THROW((void)make_family("sbc", unequal), Error);
    EXPECT_EQ(std::ranges::count(families_for(unequal), "sbc"), 0);
    DistributionRequest without = unequal;
    without.powers[2] = 0;
    for (const char* family : {"bce", "rs", "hybrid"}) EXPECT_THROW((void)make_family(family, without), Error);
    without.powers.pop_back();
    EXPECT_THROW((void)make_family("bce", without), Error);
}

TEST(FamiliesFor, AnswersTheRequest) {
    for (const Index nodes : {1, 2, 6, 7})
        for (const auto& family : families_for(request(12, nodes)))
            EXPECT_EQ(make_family(family, request(12, nodes)).nodes(), nodes) << family;
}

TEST(BestOf, HasTheLeastMaximumLoad) {
    const std::array<std::string, 3> names{"block_cyclic:rule", "bce", "rs"};
    for (const Index nodes : {6, 12, 34}) {
        const DistributionRequest r = request(30, nodes);
        const TileMap weights = tile_weights(r.workload);
        const auto load = [&](const Distribution& d) { return std::ranges::max(node_loads(d, weights)); };
        const BestOf best = best_of(names, r);
        EXPECT_EQ(best.distribution, make_family(best.family, r));
        EXPECT_EQ(best.distribution, make_family("best", r));
        for (const auto& name : names) EXPECT_LE(load(best.distribution), load(make_family(name, r))) << name;
    }
}

/// Four nodes with cores only and two with a GPU.
Platform two_kinds() {
    const auto rated = [](const char* kernel, double rate) {
        return KernelTime{.kernel = kernel, .time = RatedKernel{.rate = rate}};
    };
    const WorkerGroup cores{
        .name = "cores", .count = 10, .kernels = {rated("dgemm", 3e10), rated("dtrsm", 3e10), rated("dpotrf", 2e10)}};
    const WorkerGroup gpu{
        .name = "gpu",
        .processor = Processor::gpu,
        .count = 1,
        .memory = 1e10,
        .memory_bandwidth = 1e11,
        .host_bandwidth = 1e10,
        .kernels = {rated("dgemm", 3e12), rated("dtrsm", 1e12), {.kernel = "dpotrf", .time = UnavailableKernel{}}}};
    NodeType slow{.name = "slow",
                  .count = 4,
                  .memory = 1e11,
                  .memory_bandwidth = 1e11,
                  .nic = {.bandwidth = 1e9},
                  .workers = {cores}};
    NodeType fast = slow;
    fast.name = "fast";
    fast.count = 2;
    fast.workers.push_back(gpu);
    return {.name = "two kinds", .node_types = {slow, fast}};
}

TEST(Catalogue, TheUsualFamilyFollowsPowersAndTheTriangle) {
    DistributionRequest r = request();
    EXPECT_EQ(usual_family(r), "block_cyclic");  // no powers: equal nodes
    r.powers = {2, 2};
    EXPECT_EQ(usual_family(r), "block_cyclic");
    r.powers = {2, 3};
    EXPECT_EQ(usual_family(r), "1d1d");  // of LU, which works on all tiles
    r.workload.operation = Operation::cholesky;
    EXPECT_EQ(usual_family(r), "1d1d_triangle");
}

TEST(CholeskyConstraint, TakesTheFastestWorkerOfEachKernel) {
    const StepConstraint constraint = cholesky_constraint(two_kinds(), 1000);
    ASSERT_EQ(constraint.step_seconds.size(), 6U);
    EXPECT_NEAR(constraint.step_seconds[0], 1e9 / 3 / 2e10 + 1e9 / 3e10 + 2e9 / 3e10, 1e-12);
    EXPECT_NEAR(constraint.step_seconds[5], 1e9 / 3 / 2e10 + 1e9 / 1e12 + 2e9 / 3e12, 1e-12);
    EXPECT_NEAR(constraint.powers[0], 10 * 3e10 / 2e9, 1e-6);
    EXPECT_NEAR(constraint.powers[5], (10 * 3e10 + 3e12) / 2e9, 1e-6);
}

TEST(CholeskyConstraint, LeavesTheEndToTheNodesWithGpus) {
    DistributionRequest r{.workload = {.operation = Operation::cholesky, .density = full_density({40, 40})},
                          .nodes = 6};
    r.steps = cholesky_constraint(two_kinds(), 1000);
    const Distribution d = make_family("1d1d_constrained", r);
    const Index idle = idle_last_steps(40, *r.steps)[0];
    ASSERT_GT(idle, 2);
    for (Index i = 40 - idle; i < 40; ++i) EXPECT_GE(d.owner({i, i}).number(), 4);
    Platform lame = two_kinds();
    lame.node_types[0].workers[0].kernels.pop_back();
    EXPECT_THROW((void)cholesky_constraint(lame, 1000), Error);
}

}  // namespace
}  // namespace tesela::catalogue_test
