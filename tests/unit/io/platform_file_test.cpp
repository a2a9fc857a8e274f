#include "tesela/io/platform_file.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/output_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tesela::platform_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const char* const text = R"({"format": "tesela-platform", "version": 1, "name": "two", "node_types": [
  {"name": "thin", "count": 1, "memory": "1 GiB", "memory_bandwidth": "1 GB/s", "nic": {"bandwidth": "1 GB/s", "latency": "1 us"},
   "workers": [{"name": "gpus", "processor": "gpu", "count": 1, "memory": "1 GB", "memory_bandwidth": "1 GB/s", "host_bandwidth": "1 GB/s",
                "kernels": [{"kernel": "dgemm", "flops": "9 GFLOP/s", "source": "derived"}]},
               {"name": "cores", "processor": "cpu", "count": 2,
                "kernels": [{"kernel": "dgemm", "flops": "2 GFLOP/s", "source": "derived"}, {"kernel": "dpotrf", "flops": "1 GFLOP/s", "source": "derived"}]}]},
  {"name": "fat", "count": 1, "memory": "1 GiB", "memory_bandwidth": "1 GB/s", "nic": {"bandwidth": "1 GB/s", "latency": "1 us"},
   "workers": [{"name": "cores", "processor": "cpu", "count": 4, "kernels": [{"kernel": "dgemm", "flops": "3 GFLOP/s", "source": "derived"}]}]}],
 "topology": {"kind": "flat"}})";

class PlatformFile : public ::testing::Test {
protected:
    PlatformFile() { write_file(file, text); }

    static KernelTime timed(const char* kernel, double seconds) {
        return {.kernel = kernel,
                .time = TimedKernel{.seconds = {{.tile = 100, .value = seconds}}},
                .source = Source::measured};
    }
    TemporaryDirectory folder;
    std::string file = folder.path() + "/two.json";
};

TEST_F(PlatformFile, TakesDurationsOfItsCoresAndKeepsTheOthers) {
    Platform expected = read_platform(file, "");
    merge_durations(file, {{.type = "thin", .kernels = {timed("mine", 1e-3), timed("dgemm", 2e-3)}}});
    auto& kernels = expected.node_types[0].workers[1].kernels;
    kernels[0] = timed("dgemm", 2e-3);
    kernels.push_back(timed("mine", 1e-3));
    EXPECT_EQ(read_platform(file, ""), expected);
    EXPECT_THAT(read_file(file), HasSubstr("\"9 GFLOP/s\"")) << "as it was written";
}

TEST_F(PlatformFile, StaysAsItIsWhereDurationsAreOfNoTypeOfNode) {
    for (const char* type : {"tin", ""})
        EXPECT_THAT(
            [&] {
                merge_durations(file, {{"thin", {timed("mine", 1)}}, {type, {timed("mine", 1)}}});
            },
            ThrowsMessage<Error>(AllOf(HasSubstr(file), HasSubstr("thin, fat"))));
    EXPECT_EQ(read_file(file), text);
}

TEST_F(PlatformFile, StaysAsItIsWhereADurationMakesNoSense) {
    EXPECT_THROW(merge_durations(file, {{"fat", {timed("mine", -1)}}}), Error);
    EXPECT_EQ(read_file(file), text);
}

}  // namespace
}  // namespace tesela::platform_file_test
