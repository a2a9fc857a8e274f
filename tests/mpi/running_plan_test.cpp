#include "tesela/steering/running_plan.hpp"

#include "support/shared_engine.hpp"
#include "support/temporary_directory.hpp"
#include "tesela/apps/geo/sample.hpp"
#include "tesela/distribution/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

namespace tesela::steering {
namespace {

using tesela::testing::engine;

constexpr Index points = 600;
constexpr Index tile = 60;
const CovarianceParameters theta{.sigma2 = 1, .range = 0.1, .smoothness = 0.5, .nugget = 0.1};

geo::Observations observations() {
    geo::Observations data{.coordinates = geo::random_points(points, 1)};
    for (Index i = 0; i < points; ++i) data.values.push_back(std::sin(static_cast<double>(i)));
    return data;
}

geo::LikelihoodOptions with(const plan::PhaseDistributions& owners) {
    geo::LikelihoodOptions options{.tile = tile, .distribution = owners.second};
    if (owners.first != owners.second) options.generation = owners.first;
    return options;
}

/// Covariances as ever, after a while.
std::atomic<int> pause_milliseconds{15};
KernelResult run_slowly(const KernelCall& call) noexcept {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_milliseconds));
    return covariance_kernel.cpu(call);
}
const CovarianceKernel slow_covariance{"dcmg", covariance_kernel.cost, run_slowly};

TEST(RunningPlan, LeavesLessToANodeThatTurnsOutToBeSlowAndTheValueAsItIs) {
    if (engine().node_count() == 1) GTEST_SKIP() << "one node has no choice";
    const Index slow = engine().node_count() - 1;
    RunningPlan plan(engine(), {.evaluation = {.points = points, .tile = tile}, .budget_seconds = 1});
    EXPECT_EQ(plan.lines().size(), 3U);
    const auto generated_there = [&] {
        return tile_counts(plan.owners().first, Stored::lower)[static_cast<std::size_t>(slow)];
    };
    geo::LikelihoodOptions options = with(plan.owners());
    if (engine().this_node() == NodeId{slow}) options.generator = &slow_covariance;
    Stream stream(engine());
    geo::Likelihood likelihood(stream, observations(), {}, options);
    const double value = likelihood.evaluate(theta).log_likelihood;
    const Index before = generated_there();
    Index changes = 0;
    for (Index k = 1; k <= 8; ++k) {
        if (plan.correct(likelihood, k) == RunningPlan::Outcome::changed) ++changes;
        EXPECT_NEAR(likelihood.evaluate(theta).log_likelihood, value, 1e-9 * std::abs(value));
    }
    EXPECT_GE(changes, 1);
    EXPECT_LT(generated_there(), before);
}

TEST(RunningPlan, GoesBackToOwnersWithWhichEvaluationsTookLess) {
    if (engine().node_count() == 1) GTEST_SKIP() << "one node has no choice";
    const Index slow = engine().node_count() - 1;
    std::vector<std::string> told;
    RunningPlanOptions options{.evaluation = {.points = points, .tile = tile}, .budget_seconds = 1};
    options.tell = [&](const std::string& line) { told.push_back(line); };
    RunningPlan plan(engine(), options);
    geo::LikelihoodOptions owners = with(plan.owners());
    pause_milliseconds = engine().this_node() == NodeId{slow} ? 15 : 0;
    owners.generator = &slow_covariance;
    Stream stream(engine());
    geo::Likelihood likelihood(stream, observations(), {}, owners);
    (void)likelihood.evaluate(theta);
    std::optional<plan::PhaseDistributions> before;
    RunningPlan::Outcome last{};
    for (Index k = 1; k <= 40 && last != RunningPlan::Outcome::reverted; ++k) {
        const plan::PhaseDistributions now = plan.owners();
        last = plan.correct(likelihood, k);
        if (last == RunningPlan::Outcome::changed && !before) {
            before = now;
            pause_milliseconds = 40;  // whoever owns what, it is worse from now on
        }
        (void)likelihood.evaluate(theta);
    }
    pause_milliseconds = 15;
    ASSERT_EQ(last, RunningPlan::Outcome::reverted);
    EXPECT_EQ(plan.owners(), *before);
    EXPECT_EQ(*likelihood.options().distribution, before->second);
    if (engine().this_node() == NodeId{0}) {
        EXPECT_THAT(told, ::testing::Contains(::testing::HasSubstr("tiles change hands")));
        EXPECT_THAT(told.back(), ::testing::HasSubstr("back to these"));
    } else {
        EXPECT_TRUE(told.empty());
    }
}

TEST(RunningPlan, TakesNodesThatItKnowsFromAFileAndIsTheSameOnAllNodes) {
    const TemporaryDirectory folder;
    const auto plan = [&] {
        return RunningPlan(
            engine(),
            {.evaluation = {.points = points, .tile = tile}, .budget_seconds = 0, .cache_folder = folder.path()});
    };
    const RunningPlan first = plan();
    EXPECT_THAT(first.lines().front(), ::testing::HasSubstr("measured in"));
    const RunningPlan second = plan();
    EXPECT_THAT(second.lines().front(), ::testing::HasSubstr("as measured before"));
    EXPECT_EQ(first.owners(), second.owners());
    const std::string mine = nlohmann::json(second.owners().second).dump();
    for (const std::string& owners : engine().gather(mine)) EXPECT_EQ(owners, mine);
}

}  // namespace
}  // namespace tesela::steering
