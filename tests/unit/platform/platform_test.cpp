#include "tesela/platform/platform.hpp"

#include "tesela/base/error.hpp"
#include "tesela/platform/main_memory.hpp"

#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tesela::platform_test {
namespace {

using nlohmann::json;

json example() {
    return json::parse(R"({
      "format": "tesela-platform", "version": 1, "name": "example",
      "node_types": [
        {"name": "slow", "count": 3, "memory": "64 GiB", "memory_bandwidth": "40 GB/s", "subnet": "a",
         "nic": {"bandwidth": "10 Gb/s", "latency": "20 us"}, "limits": {"reader": 5},
         "workers": [
           {"name": "cores", "processor": "cpu", "count": 10, "kernels": [
             {"kernel": "gemm", "flops": "20 GFLOP/s", "source": "derived",
              "efficiency": [{"tile": 100, "value": 0.5}, {"tile": 300, "value": 1}]},
             {"kernel": "geadd", "bytes": "6 GB/s", "source": "derived"},
             {"kernel": "matern", "elements": "3 Melement/s", "source": "derived", "efficiency": 0.5}]}]},
        {"name": "fast", "count": 2, "memory": "128 GB", "memory_bandwidth": "8e10 B/s", "subnet": "b",
         "nic": {"bandwidth": "25 Gb/s", "latency": "2e-6 s"},
         "workers": [
           {"name": "cores", "processor": "cpu", "count": 4, "kernels": [
             {"kernel": "gemm", "source": "measured",
              "seconds": [{"tile": 100, "value": "1 ms"}, {"tile": 200, "value": "8 ms"}]}]},
           {"name": "gpus", "processor": "gpu", "count": 2, "streams": 4, "memory": "16 GiB",
            "memory_bandwidth": "700 GB/s", "host_bandwidth": "12 GB/s", "kernels": [
             {"kernel": "gemm", "source": "measured", "seconds": [{"tile": 100, "value": "0.1 ms"}]},
             {"kernel": "matern", "unavailable": true}]}]}],
      "topology": {"kind": "subnets", "subnets": [
        {"name": "a", "uplink": {"bandwidth": "50 Gb/s", "latency": "5 us"}},
        {"name": "b", "uplink": {"bandwidth": "50 Gb/s", "latency": "5 us"}, "parent": "a"}]}
    })");
}

Platform example_platform() { return example().get<Platform>(); }

/// A kernel that was timed at 100 and 200 on square tiles (2 n³ flops) and on one column (2 n² flops).
WorkerGroup timed_group() {
    const auto call = [](Index tile, double seconds, double columns) -> TimedCall {
        const auto n = static_cast<double>(tile);
        return {.tile = tile, .value = seconds, .work = 2 * n * n * columns};
    };
    return {.name = "cores",
            .count = 1,
            .kernels = {{.kernel = "gemm",
                         .time = TimedKernel{.seconds = {call(100, 1e-3, 100), call(200, 8e-3, 200)},
                                             .narrow = {call(100, 1e-4, 1), call(200, 4e-4, 1)}},
                         .source = Source::measured},
                        {.kernel = "copy",
                         .time = TimedKernel{.seconds = {{.tile = 100, .value = 1e-5, .work = 16e4}}},
                         .source = Source::measured}}};
}

KernelWork gemm_work(Index tile) {
    const auto n = static_cast<double>(tile);
    return {.tile = tile, .flops = 2 * n * n * n, .bytes = 32 * n * n};
}

TEST(Platform, ReadsQuantitiesInBaseUnits) {
    const Platform platform = example_platform();
    const NodeType& slow = platform.node_types.at(0);
    EXPECT_DOUBLE_EQ(slow.memory, 64.0 * 1024 * 1024 * 1024);
    EXPECT_DOUBLE_EQ(slow.nic.bandwidth, 1.25e9);
    EXPECT_DOUBLE_EQ(slow.nic.latency, 20e-6);
    EXPECT_EQ(slow.limits.at("reader"), 5);
    EXPECT_DOUBLE_EQ(platform.node_types.at(1).memory, 128e9);
    EXPECT_EQ(platform.node_types.at(1).workers.at(1).streams, 4);
    EXPECT_EQ(platform.subnets.at(1).parent, "a");
}

TEST(Platform, SurvivesWritingAndReading) {
    Platform platform = example_platform();
    platform.description = "measured with care";
    platform.recompression = {{16, 4.25}, {64, 2.5}};
    platform.node_types[1].workers[0].kernels = timed_group().kernels;
    platform.node_types[1].nic.source = Source::measured;
    platform.node_types[0].runtime = {.submission = 2e-6,
                                      .passing = 5e-8,
                                      .task = 4e-6,
                                      .turn = 1e-6,
                                      .message = 3e-5,
                                      .message_bandwidth = 2e9,
                                      .source = Source::measured};
    EXPECT_EQ(json(platform).get<Platform>(), platform);
    Platform flat = platform;
    flat.subnets.clear();
    for (auto& type : flat.node_types) type.subnet.clear();
    EXPECT_EQ(json(flat).get<Platform>(), flat);
}

TEST(Platform, TakesTheRuntimeCostsThatAreGivenAndTheUsualOthers) {
    json text = example();
    text["node_types"][0]["runtime"] = {{"message", "20 us"}, {"message_bandwidth", "2 GB/s"}};
    const RuntimeCosts costs = text.get<Platform>().node_types[0].runtime;
    EXPECT_DOUBLE_EQ(costs.submission, RuntimeCosts{}.submission);
    EXPECT_DOUBLE_EQ(costs.message_seconds(1e6), 20e-6 + 0.5e-3);
    EXPECT_DOUBLE_EQ(RuntimeCosts{}.message_seconds(1e6), 0);
    text["node_types"][0]["runtime"]["latency"] = "1 us";
    EXPECT_THROW((void)text.get<Platform>(), Error);
    text["node_types"][0]["runtime"] = {{"task", "-1 us"}};
    EXPECT_THROW((void)text.get<Platform>(), Error);
}

TEST(Platform, NumbersNodesTypeByType) {
    const Platform platform = example_platform();
    EXPECT_EQ(node_count(platform), 5);
    EXPECT_EQ(node_type(platform, NodeId{2}).name, "slow");
    EXPECT_EQ(node_type(platform, NodeId{3}).name, "fast");
    EXPECT_THROW((void)node_type(platform, NodeId{5}), Error);
}

TEST(KernelSeconds, OfARateIsWorkOverRateTimesEfficiency) {
    const WorkerGroup cores = example_platform().node_types.at(0).workers.at(0);
    EXPECT_DOUBLE_EQ(*kernel_seconds(cores, "gemm", gemm_work(50)), 2 * 50.0 * 50 * 50 / 10e9);
    EXPECT_DOUBLE_EQ(*kernel_seconds(cores, "gemm", gemm_work(200)), 2 * 8e6 / 15e9);
    EXPECT_DOUBLE_EQ(*kernel_seconds(cores, "gemm", gemm_work(1000)), 2e9 / 20e9);
    EXPECT_DOUBLE_EQ(*kernel_seconds(cores, "geadd", gemm_work(100)), 32e4 / 6e9);
    EXPECT_DOUBLE_EQ(*kernel_seconds(cores, "matern", {.tile = 960}), 960.0 * 960 / 1.5e6);
}

TEST(KernelSeconds, OfMeasurementsFollowsAPowerLaw) {
    const NodeType fast = example_platform().node_types.at(1);
    // 1 ms at 100 and 8 ms at 200 is a cubic law; one point alone is taken as cubic.
    for (const Index tile : {50, 100, 141, 200, 400}) {
        const double cube = std::pow(static_cast<double>(tile) / 100, 3);
        EXPECT_NEAR(*kernel_seconds(fast.workers[0], "gemm", gemm_work(tile)), 1e-3 * cube, 1e-12 * cube);
        EXPECT_NEAR(*kernel_seconds(fast.workers[1], "gemm", gemm_work(tile)), 1e-4 * cube, 1e-12 * cube);
    }
}

TEST(KernelSeconds, AreWhatWasTimedForTheWorkThatWasTimed) {
    const WorkerGroup group = timed_group();
    EXPECT_NEAR(*kernel_seconds(group, "gemm", gemm_work(100)), 1e-3, 1e-15);
    EXPECT_NEAR(*kernel_seconds(group, "gemm", gemm_work(200)), 8e-3, 1e-15);
    EXPECT_NEAR(*kernel_seconds(group, "gemm", {.tile = 100, .flops = 2e4}), 1e-4, 1e-15);
    EXPECT_NEAR(*kernel_seconds(group, "gemm", {.tile = 200, .flops = 8e4}), 4e-4, 1e-15);
}

TEST(KernelSeconds, AreLinearInTheWorkBetweenNarrowAndSquareCalls) {
    const WorkerGroup group = timed_group();
    for (const double columns : {1.0, 7.0, 50.0, 99.0, 100.0})
        EXPECT_NEAR(*kernel_seconds(group, "gemm", {.tile = 100, .flops = 2e4 * columns}),
                    1e-4 + (columns - 1) / 99 * 9e-4, 1e-12)
            << columns;
    // Less than the narrow call, and more than the square one: in proportion.
    EXPECT_NEAR(*kernel_seconds(group, "gemm", {.tile = 100, .flops = 1e4}), 0.5e-4, 1e-15);
    EXPECT_NEAR(*kernel_seconds(group, "gemm", {.tile = 100, .flops = 4e6}), 2e-3, 1e-15);
    // Between the timed sizes: tile 141.42, both calls by their power laws, which are exact here.
    const double half = *kernel_seconds(group, "gemm", {.tile = 150, .flops = 2 * 150.0 * 150 * 75});
    EXPECT_NEAR(half, 2.25e-4 + (3.375e-3 - 2.25e-4) * 74 / 149, 1e-10);
}

TEST(KernelSeconds, CountBytesWhereThereAreNoFlops) {
    const WorkerGroup group = timed_group();
    EXPECT_NEAR(*kernel_seconds(group, "copy", {.tile = 100, .bytes = 4e4}), 0.25e-5, 1e-15);
    EXPECT_NEAR(*kernel_seconds(group, "copy", {.tile = 500, .bytes = 16e4 * 25}), 25e-5, 1e-12);
}

TEST(KernelSeconds, OfARateInElementsTakeThoseOfTheCall) {
    const WorkerGroup cores = example_platform().node_types.at(0).workers.at(0);
    EXPECT_DOUBLE_EQ(*kernel_seconds(cores, "matern", {.tile = 960, .elements = 960.0 * 80}), 960.0 * 80 / 1.5e6);
}

TEST(KernelSeconds, IsNothingWhereTheKernelCannotRun) {
    const NodeType fast = example_platform().node_types.at(1);
    EXPECT_FALSE(kernel_seconds(fast.workers[1], "matern", gemm_work(100)));
    EXPECT_FALSE(kernel_seconds(fast.workers[0], "unheard", gemm_work(100)));
}

TEST(NodePowers, AddTheWorkersOfANode) {
    const auto powers = node_powers(example_platform(), "gemm", gemm_work(100));
    ASSERT_EQ(powers.size(), 5U);
    EXPECT_NEAR(powers[0], 10 / (2e6 / 10e9), 1e-6);
    EXPECT_DOUBLE_EQ(powers[0], powers[2]);
    EXPECT_NEAR(powers[3], 4 / 1e-3 + 2 / 1e-4, 1e-6);
    EXPECT_EQ(node_powers(example_platform(), "matern", {.tile = 100})[4], 0);
}

TEST(ChooseNodes, KeepsTheNamedCounts) {
    const Platform chosen = choose_nodes(example_platform(), "2fast+1slow");
    EXPECT_EQ(node_count(chosen), 3);
    EXPECT_EQ(node_type(chosen, NodeId{0}).name, "fast");
    EXPECT_EQ(node_type(chosen, NodeId{2}).name, "slow");
    for (const char* bad : {"", "2", "fast", "4slow", "1slow+1slow", "1slow+", "1medium", "0slow"})
        EXPECT_THROW((void)choose_nodes(example_platform(), bad), Error) << bad;
}

struct BadFile {
    const char* pointer;
    json value;
    const char* named;  ///< what the message must contain
};

TEST(Platform, ErrorsNameTheField) {
    const std::vector<BadFile> files{
        {"/format", "other", "format"},
        {"/version", 9, "version 9"},
        {"/node_types/1/workers/0/count", 0, "node_types[1].workers[0].count"},
        {"/node_types/1/workers/0/count", 4294967297, "node_types[1].workers[0].count must be at most"},
        {"/node_types/1/workers/0/count", 18446744073709551615U, "node_types[1].workers[0].count must be a whole"},
        {"/node_types/1/workers/0/memory_bandwidth", "nan B/s", "node_types[1].workers[0].memory_bandwidth"},
        {"/node_types/1/workers/0/host_bandwidth", "-1 B/s", "node_types[1].workers[0].host_bandwidth"},
        {"/node_types/1/workers/0/count", "many", "node_types[1].workers[0].count"},
        {"/node_types/0/nic/bandwidth", "0 GB/s", "node_types[0].nic.bandwidth"},
        {"/node_types/0/nic/bandwidth", 10, "node_types[0].nic.bandwidth must be text with a unit, as \"12 GB/s\""},
        {"/node_types/0/nic/bandwidth", "10 Gbps", "node_types[0].nic.bandwidth"},
        {"/node_types/0/nic/bandwidth", "10 Gbps", "unknown unit"},
        {"/node_types/0/nic/latency", "-1 s", "node_types[0].nic.latency"},
        {"/node_types/0/memory", "lots", "node_types[0].memory"},
        {"/node_types/0/subnet", "c", "node_types[0].subnet"},
        {"/node_types/0/name", "fast", "node_types[1].name"},
        {"/node_types/0/colour", "red", "node_types[0].colour"},
        {"/node_types/1/workers/1/host_bandwidth", "0 B/s", "node_types[1].workers[1].host_bandwidth"},
        {"/node_types/1/workers/1/processor", "fpga", "node_types[1].workers[1].processor"},
        {"/node_types/1/workers/0/kernels/0/seconds/1/tile", 100,
         "node_types[1].workers[0].kernels[0].seconds[1].tile"},
        {"/node_types/1/workers/0/kernels/0/source", "guessed", "node_types[1].workers[0].kernels[0].source"},
        {"/node_types/0/workers/0/kernels/0/bytes", "1 B/s", "node_types[0].workers[0].kernels[0]"},
        {"/node_types/1/workers/1/kernels/1/unavailable", false, "node_types[1].workers[1].kernels[1].unavailable"},
        {"/node_types/1/workers/0/kernels/0/efficiency", 0.5, "node_types[1].workers[0].kernels[0].efficiency"},
        {"/node_types/0/workers/0/kernels/0/narrow", json::array(), "node_types[0].workers[0].kernels[0].narrow"},
        {"/node_types/1/workers/0/kernels/0/seconds/1/work", 5e6,
         "node_types[1].workers[0].kernels[0].seconds[1].work"},
        {"/node_types/1/workers/0/kernels/0/narrow", {{{"tile", 100}, {"value", "1 s"}}}, "kernels[0].narrow[0].work"},
        {"/node_types/0/workers/0/kernels/0/efficiency/1/value", 1.5,
         "kernels[0].efficiency[1].value must be at most 1"},
        {"/node_types/0/workers/0/kernels/2/efficiency", 50, "kernels[2].efficiency[0].value must be at most 1"},
        {"/node_types/0/nic/source", "guessed", "node_types[0].nic.source"},
        {"/topology/subnets/0/uplink/bandwidth", "0 B/s", "topology.subnets[0].uplink.bandwidth"},
        {"/topology/subnets/0/parent", "b", "circle"},
        {"/topology/subnets/0/parent", "z", "topology.subnets[0].parent"},
        {"/topology/kind", "torus", "topology.kind"},
        {"/node_types", json::array(), "node_types"},
        {"/recompression", {{{"rank", 16}, {"slowness", 0}}}, "recompression[0].slowness must be above 0"},
        {"/recompression", {{{"rank", -1}, {"slowness", 2}}}, "recompression[0].rank must be above 0"},
        {"/recompression", {{{"rank", 16}, {"slowness", 2}}, {{"rank", 16}, {"slowness", 2}}}, "recompression[1].rank"},
        {"/recompression", {{{"rank", 16}}}, "recompression[0]"},
    };
    for (const auto& [pointer, value, named] : files) {
        json file = example();
        file[json::json_pointer(pointer)] = value;
        try {
            (void)file.get<Platform>();
            ADD_FAILURE() << pointer << " = " << value << " was accepted";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << pointer << ": " << error.what();
        }
    }
}

TEST(Platform, RefusesNarrowCallsThatAreNotNarrow) {
    Platform platform = example_platform();
    auto& kernel = platform.node_types[1].workers[0].kernels[0];
    kernel = timed_group().kernels[0];
    check_platform(platform);
    std::get<TimedKernel>(kernel.time).narrow[1].work = 2 * 200.0 * 200 * 200;
    EXPECT_THROW(check_platform(platform), Error);
}

TEST(Platform, RefusesAKernelThatNoWorkerCanRun) {
    json file = example();
    file["node_types"][0]["workers"][0]["kernels"][2] = {{"kernel", "matern"}, {"unavailable", true}};
    try {
        (void)file.get<Platform>();
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("\"matern\""), std::string::npos) << error.what();
    }
}

TEST(Platform, NeedsEveryRequiredField) {
    for (const char* pointer : {"/name", "/topology", "/node_types/0/nic", "/node_types/0/memory_bandwidth",
                                "/node_types/0/workers/0/kernels/0/source"}) {
        json file = example();
        const json::json_pointer at(pointer);
        file[at.parent_pointer()].erase(at.back());
        EXPECT_THROW((void)file.get<Platform>(), Error) << pointer;
    }
}

TEST(Platform, RefusesMemoryAndLinksThatMeanNothing) {
    const auto said = [](const char* key, const json& value) {
        json file = example();
        (key == std::string("memory") ? file["node_types"][0] : file["node_types"][0]["nic"])[key] = value;
        return message_of<Error>([&] { check_platform(file.get<Platform>()); });
    };
    EXPECT_EQ(said("memory", "0 GiB"),
              "node_types[0].memory must be greater than 0; leave it out where it is not known");
    EXPECT_THAT(said("latency", "1e300 s"), ::testing::HasSubstr("latency must be at most 3600 s"));
    EXPECT_THAT(said("bandwidth", "1e-300 Gb/s"), ::testing::HasSubstr("bandwidth must be at least a byte per second"));
}

TEST(Platform, MayGiveNoMemoryOfItsNodes) {
    json file = example();
    file["node_types"][0].erase("memory");
    const auto platform = file.get<Platform>();
    EXPECT_NO_THROW(check_platform(platform));
    EXPECT_FALSE(json(platform)["node_types"][0].contains("memory"));
    const std::vector<double> needed{1e15, 1e15, 1e15, 2e9, 1.5e11};  // three slow nodes, two fast ones of 128 GB
    const std::vector<MemoryShortage> shortages = memory_shortages(platform, needed, NeededFor::tiles);
    ASSERT_EQ(shortages.size(), 1U);
    EXPECT_EQ(describe(shortages[0]), "node 4 (fast) needs 140 GiB for its tiles and has 119 GiB");
    EXPECT_EQ(total_memory(platform), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tesela::platform_test
