#include "tesela/calibration/calibrate.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/make_kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tesela::calibration::calibrate_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

CalibrationOptions quick(std::vector<Specimen> list) {
    return {
        .specimens = std::move(list), .tiles = {24, 48, 96}, .workers = 2, .seconds = 0.002, .walked_bytes = 1 << 20};
}
CalibrationOptions quick_of(const std::vector<std::string>& kernels) { return quick(of_kernels(specimens(), kernels)); }

TEST(Specimens, HoldEveryKernelThatAlgorithmsSubmit) {
    const auto names = kernel_names(of_type(specimens(), ElementType::f64));
    using K = Dense<double>;
    for (const Kernel* kernel : std::initializer_list<const Kernel*>{
             &K::potrf, &K::getrf, &K::trtri, &K::lauum, &K::trsm, &K::trmm, &K::syrk, &K::gemm, &K::gemv, &K::geadd,
             &K::laset, &K::scale, &K::generate, &K::dot, &K::logdet})
        EXPECT_THAT(names, Contains(kernel->name));
    for (const char* name : {ParcelTaskNames::pack, ParcelTaskNames::unpack, ParcelTaskNames::copy})
        EXPECT_THAT(names, Contains(name));
    EXPECT_THAT(names, Not(Contains("sgemm")));
    EXPECT_THAT(kernel_names(of_type(specimens(), ElementType::f32)), Contains("sgemm"));
}

TEST(Specimens, OfAnUnknownKernelAreAnErrorThatListsThoseThatThereAre) {
    try {
        (void)of_kernels(specimens(), {"dgem"});
        FAIL() << "found it";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("\"dgem\""), HasSubstr("dpotrf")));
    }
}

TEST(TimeKernels, GiveOneSampleForEachKernelTileAndShape) {
    const auto samples = time_kernels(quick_of({"dgemm", "sgemm", "dlogdet"}));
    EXPECT_EQ(samples.size(), 3U * (2 + 2 + 1));
    for (const auto& sample : samples)
        for (const Spread* spread : {&sample.alone, &sample.busy}) {
            EXPECT_GT(spread->best, 0);
            EXPECT_LE(spread->best, spread->mean);
            EXPECT_LE(spread->best, spread->slow);
            EXPECT_GE(spread->calls, 7);
            EXPECT_GE(spread->rounds, 2);
            EXPECT_LE(spread->rounds, 6);
            EXPECT_GE(spread->drift, 0);
            EXPECT_TRUE(spread->rounds == 6 || spread->drift <= steady_drift);
        }
}

TEST(TimeKernels, UnderOneLoadOnlyAreTheSameForBoth) {
    CalibrationOptions options = quick_of({"dgemm"});
    options.loads = {Load::busy};
    Index announced = 0;
    options.progress = [&](Index, Index of, const std::string&) {
        EXPECT_EQ(of, 6);  // three sizes in two shapes
        ++announced;
    };
    for (const KernelSample& sample : time_kernels(options)) {
        EXPECT_EQ(sample.alone.mean, sample.busy.mean);
        EXPECT_GE(sample.busy.calls, 14);
    }
    EXPECT_EQ(announced, 6);
}

TEST(TimeKernels, RunEveryKernelWithoutFailure) {
    CalibrationOptions options = quick(specimens());
    options.tiles = {1, 7, 33};
    EXPECT_NO_THROW((void)time_kernels(options));
}

TEST(TimeKernels, MeasureTheKernelAndNotMoreThanTheTimeThatPassed) {
    CalibrationOptions options = quick_of({"dgemm"});
    options.tiles = {192};
    options.workers = 1;
    const auto start = Clock::now();
    const auto samples = time_kernels(options);
    const double passed = seconds_since(start);
    double counted = 0;
    for (const auto& sample : samples) counted += sample.alone.best * static_cast<double>(sample.alone.calls);
    EXPECT_LT(counted, passed);
    // 2·192³ flops: no core does a million of them per second only, nor 10 TFLOP/s.
    EXPECT_GT(samples[0].alone.mean, samples[0].cost.flops / 1e13);
    EXPECT_LT(samples[0].alone.best, samples[0].cost.flops / 1e6);
    EXPECT_DOUBLE_EQ(samples[0].cost.flops, 2 * 192.0 * 192 * 192);
}

TEST(TimeKernels, TellProgressUpToTheEnd) {
    CalibrationOptions options = quick_of({"dlaset"});
    std::vector<Index> done;
    options.progress = [&](Index d, Index of, const std::string& next) {
        EXPECT_EQ(of, 6);  // three sizes, alone and busy
        EXPECT_THAT(next, HasSubstr("dlaset"));
        done.push_back(d);
    };
    (void)time_kernels(options);
    EXPECT_EQ(done, (std::vector<Index>{0, 1, 2, 3, 4, 5}));
}

TEST(TimeKernels, LeaveTheThreadsOfBlasAsTheyWere) {
    const int before = set_blas_threads(2);
    if (describe_blas().threads != 2) GTEST_SKIP() << "this BLAS has no threads of its own";
    (void)time_kernels(quick_of({"dlaset"}));
    EXPECT_EQ(set_blas_threads(before), 2);
}

TEST(CalibrationOptions, ThatMakeNoSenseAreErrorsThatSayWhy) {
    const auto message = [](const CalibrationOptions& options) -> std::string {
        try {
            check(options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const auto dgemm = of_kernels(specimens(), {"dgemm"});
    EXPECT_EQ(message(quick(dgemm)), "");
    EXPECT_THAT(message(quick({})), HasSubstr("kernel"));
    EXPECT_THAT(message({.specimens = dgemm, .tiles = {64, -1}}), HasSubstr("-1"));
    EXPECT_THAT(message({.specimens = dgemm, .tiles = {100'000}}), HasSubstr("100000"));
    EXPECT_THAT(message({.specimens = dgemm, .workers = 0}), HasSubstr("worker"));
    EXPECT_THAT(message({.specimens = dgemm, .seconds = 0}), HasSubstr("above 0"));
}

KernelResult doubled(const double& factor, TileSpan<const double> x, TileSpan<double> y) noexcept {
    for (Index i = 0; i < x.rows(); ++i) y(i, 0) = factor * x(i, 0);
    return {};
}

TEST(TimeKernels, TimeAKernelOfOnesOwn) {
    CalibrationOptions options = quick({Specimen::of(make_kernel<doubled>("doubled"), 2.0, Specimen::columns({1, 1}))});
    options.tiles = {100};
    const std::vector<KernelTime> times = kernel_times(time_kernels(options), Load::busy);
    ASSERT_EQ(times.size(), 1U);
    EXPECT_EQ(times[0].kernel, "doubled");
    const TimedCall& call = std::get<TimedKernel>(times[0].time).seconds.at(0);
    EXPECT_EQ(call.tile, 100);
    EXPECT_EQ(call.work, 2 * 100 * sizeof(double));
    EXPECT_GT(call.value, 0);
}

TEST(Specimens, OfOperandsThatDoNotFitOrAreTooFewAreErrors) {
    EXPECT_THROW((void)Specimen::of(make_kernel<doubled>("doubled"), 2.0, Specimen::columns({1})), Error);
    EXPECT_THROW(check(quick({Specimen::of(make_kernel<doubled>("doubled"), 2.0, Specimen::columns({1, 9}))})), Error);
}

KernelSample sample(const char* kernel, Index tile, CallShape shape, double seconds) {
    const auto n = static_cast<double>(tile);
    return {.kernel = kernel,
            .tile = tile,
            .shape = shape,
            .cost = {.flops = shape == CallShape::square ? n * n * n : n * n, .bytes = 16 * n * n},
            .alone = {.mean = seconds},
            .busy = {.mean = 2 * seconds}};
}

TEST(KernelTimes, KeepTheMediansOfTheLoadWithTheWork) {
    const std::vector<KernelSample> samples{
        sample("dtrsm", 100, CallShape::square, 1e-3), sample("dtrsm", 100, CallShape::narrow, 1e-5),
        sample("dtrsm", 200, CallShape::square, 8e-3), sample("dtrsm", 200, CallShape::narrow, 4e-5)};
    for (const Load load : {Load::alone, Load::busy}) {
        const WorkerGroup group{.name = "cores", .count = 1, .kernels = kernel_times(samples, load)};
        ASSERT_EQ(group.kernels.size(), 1U);
        EXPECT_EQ(group.kernels[0].source, Source::measured);
        for (const auto& one : samples)
            EXPECT_NEAR(
                *kernel_seconds(group, "dtrsm", {.tile = one.tile, .flops = one.cost.flops, .bytes = one.cost.bytes}),
                one.under(load).mean, 1e-12);
    }
}

TEST(KernelTimes, OfAMeasurementMakeAValidPlatform) {
    const auto samples = time_kernels(quick(of_type(specimens(), ElementType::f64)));
    const NodeType type{.name = "node",
                        .count = 1,
                        .memory = 1e9,
                        .memory_bandwidth = 1e9,
                        .nic = {.bandwidth = 1e9, .latency = 0},
                        .workers = {{.name = "cores", .count = 2, .kernels = kernel_times(samples, Load::busy)}}};
    EXPECT_NO_THROW(check_platform({.name = "p", .node_types = {type}, .subnets = {}}));
}

MeasuredNode node(const char* description, double seconds, double bandwidth) {
    return {.description = description,
            .type = {.name = "host",
                     .count = 1,
                     .memory = 1e9,
                     .memory_bandwidth = bandwidth,
                     .nic = {.bandwidth = 1e9},
                     .workers = {{.name = "cores",
                                  .count = 2,
                                  .kernels = {{.kernel = "dgemm",
                                               .time = TimedKernel{.seconds = {{.tile = 100, .value = seconds}}},
                                               .source = Source::measured}}}}}};
}

TEST(GroupAlike, CountsEqualNodesAndTakesMedians) {
    const auto [types, type_of] =
        group_alike({node("fast", 1.9, 10), node("slow", 5, 2), node("fast", 2.1, 30), node("fast", 2, 20)});
    EXPECT_EQ(type_of, (std::vector<std::size_t>{0, 1, 0, 0}));
    ASSERT_EQ(types.size(), 2U);
    EXPECT_EQ(types[0].count, 3);
    EXPECT_EQ(types[1].count, 1);
    EXPECT_EQ(types[0].memory_bandwidth, 20);
    EXPECT_EQ(*kernel_seconds(types[0].workers[0], "dgemm", {.tile = 100}), 2);
    EXPECT_EQ(*kernel_seconds(types[1].workers[0], "dgemm", {.tile = 100}), 5);
    EXPECT_NE(types[0].name, types[1].name);
    check_platform({.name = "p", .node_types = types, .subnets = {}});
}

TEST(GroupAlike, ANodeThatIsSlowerThanOthersLikeItIsOfATypeOfItsOwn) {
    const auto [types, type_of] = group_alike({node("cores", 1, 10), node("cores", 2, 10), node("cores", 1.05, 10)});
    EXPECT_EQ(type_of, (std::vector<std::size_t>{0, 1, 0}));
    EXPECT_EQ(types[0].count, 2);
    EXPECT_EQ(*kernel_seconds(types[1].workers[0], "dgemm", {.tile = 100}), 2);
}

}  // namespace
}  // namespace tesela::calibration::calibrate_test
