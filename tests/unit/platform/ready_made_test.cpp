#include "tesela/platform/platform.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace tesela::ready_made_test {
namespace {

Platform ready_made(const std::string& name) {
    std::ifstream file(std::string(TESELA_PLATFORM_DIR) + "/" + name + ".json");
    return nlohmann::json::parse(file).get<Platform>();
}

constexpr double tile = 960;
/// Calls of a large dgemm per second, times its flops, in GFLOP/s.
double gemm_gflops(const NodeType& type, const char* kernel = "dgemm") {
    const KernelWork work{.tile = static_cast<Index>(tile), .flops = 2 * tile * tile * tile};
    return node_power(type, kernel, work) * work.flops / 1e9;
}

const NodeType& named(const Platform& platform, const std::string& name) {
    for (const auto& type : platform.node_types)
        if (type.name == name) return type;
    throw Error("no node type {}", name);
}

TEST(ReadyMadePlatforms, AreAllValidAndSayWhereTheirNumbersComeFrom) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(TESELA_PLATFORM_DIR)) {
        const auto name = entry.path().stem().string();
        if (entry.path().extension() != ".json" || name == "schema") continue;
        const Platform platform = ready_made(name);
        EXPECT_EQ(platform.name, name);
        EXPECT_FALSE(platform.description.empty());
        EXPECT_EQ(nlohmann::json(platform).get<Platform>(), platform);
        for (const auto& type : platform.node_types)
            for (const auto& group : type.workers)
                for (const auto& kernel : group.kernels) EXPECT_EQ(kernel.source, Source::derived) << kernel.kernel;
        ++files;
    }
    EXPECT_GE(files, 7);
}

// Cores, GPUs and memory of table 1 of paper 000, two cores reserved; rates by hand from the processors' figures.
TEST(ReadyMadePlatforms, HaveTheMachinesOfPaper000) {
    const Platform lille = ready_made("grid5000-lille");
    EXPECT_NEAR(gemm_gflops(named(lille, "che")), 18 * 30, 1e-6);
    EXPECT_NEAR(gemm_gflops(named(lille, "cle")), 30 * 18, 1e-6);
    EXPECT_NEAR(gemm_gflops(named(lille, "chi")), 26 * 34 + 2 * 260, 1e-6);
    EXPECT_NEAR(gemm_gflops(named(lille, "cho")), 22 * 55 + 2 * 3600, 1e-6);
    EXPECT_DOUBLE_EQ(named(lille, "chi").memory, 768.0 * (1 << 30));
    EXPECT_DOUBLE_EQ(named(lille, "che").nic.bandwidth, 10e9 / 8);
    EXPECT_DOUBLE_EQ(named(lille, "cho").nic.bandwidth, 25e9 / 8);
    EXPECT_EQ(named(lille, "che").subnet, named(lille, "chi").subnet);
    EXPECT_EQ(named(lille, "cle").subnet, named(lille, "cho").subnet);
    EXPECT_NE(named(lille, "che").subnet, named(lille, "cho").subnet);
    EXPECT_EQ(node_count(choose_nodes(lille, "6che+6chi+2cho")), 14);

    const Platform sdumont = ready_made("sdumont");
    EXPECT_NEAR(gemm_gflops(named(sdumont, "sdc")), 22 * 19, 1e-6);
    EXPECT_NEAR(gemm_gflops(named(sdumont, "sdg")), 22 * 19 + 2 * 1200, 1e-6);
    EXPECT_EQ(node_count(choose_nodes(sdumont, "12sdc+4sdg")), 16);
}

TEST(ReadyMadePlatforms, HaveTheNodesOfPaper003InBothPrecisions) {
    const NodeType a100 = ready_made("a100-node").node_types.at(0);
    EXPECT_NEAR(gemm_gflops(a100), 30 * 40 + 2 * 17000, 1e-6);
    EXPECT_NEAR(gemm_gflops(a100, "sgemm"), 30 * 80 + 2 * 18000, 1e-6);
    EXPECT_EQ(a100.workers.at(1).streams, 16);
    EXPECT_NEAR(gemm_gflops(ready_made("quadro-node").node_types.at(0), "sgemm"), 30 * 66 + 2 * 14000, 1e-6);
    EXPECT_NEAR(gemm_gflops(ready_made("k40m-node").node_types.at(0), "sgemm"), 20 * 76 + 4 * 3500, 1e-6);
}

TEST(ReadyMadePlatforms, DifferInTheGenerationByTheSpeedOfTheBesselFunction) {
    for (const std::string name : {"grid5000-lille", "sdumont"}) {
        const Platform own = ready_made(name), gsl = ready_made(name + "-gsl");
        for (std::size_t t = 0; t < own.node_types.size(); ++t) {
            const KernelWork work{.tile = static_cast<Index>(tile)};
            EXPECT_NEAR(node_power(own.node_types[t], "dcmg", work) / node_power(gsl.node_types[t], "dcmg", work), 50,
                        1e-9);
            EXPECT_DOUBLE_EQ(gemm_gflops(own.node_types[t]), gemm_gflops(gsl.node_types[t]));
        }
    }
    // 3 million covariances a second on a core of 30 GFLOP/s.
    const NodeType che = ready_made("grid5000-lille-gsl").node_types.at(0);
    EXPECT_NEAR(node_power(che, "dcmg", {.tile = 960}), 18 * 3e6 / (tile * tile), 1e-9);
}

}  // namespace
}  // namespace tesela::ready_made_test
