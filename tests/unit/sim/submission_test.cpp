#include "tesela/sim/internal/submission.hpp"
#include "tesela/flow/engine.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace tesela::sim::submission_test {
namespace {

constexpr SubmissionCosts costs{.step_seconds = 1, .passing_seconds = 0.125};

/// One vertex per item, from 0 on.
std::vector<SubmissionStep> one_per_item(std::uint32_t count) {
    std::vector<SubmissionStep> steps;
    for (std::uint32_t k = 0; k < count; ++k) steps.push_back({.item = k, .vertex = k});
    return steps;
}

TEST(Submission, TakesTimeForEachStepAndALittleForWhatItPassesOver) {
    const std::vector<SubmissionStep> steps{
        {.item = 12, .vertex = 0}, {.item = 12, .vertex = 1}, {.item = 13, .vertex = 2}};
    const std::vector<std::uint16_t> streams(20, 0);
    const Throttle throttle{{100}, streams};
    Submission submission(costs);
    submission.begin(steps, 10, throttle, 5);
    EXPECT_EQ(submission.last(), 5);
    EXPECT_EQ(submission.next_time(5), 5 + 2 * 0.125 + 1);  // items 10 and 11 are of other nodes
    EXPECT_EQ(submission.submit(6.25)->vertex, 0U);
    EXPECT_EQ(submission.last(), 6.25);
    EXPECT_EQ(submission.next_time(6.25), 7.25);
    EXPECT_EQ(submission.submit(7.25)->vertex, 1U);
    EXPECT_EQ(submission.next_time(7.25), 8.25);
    EXPECT_EQ(submission.submit(8.25)->vertex, 2U);
    EXPECT_FALSE(submission.next_time(8.25));
}

TEST(Submission, HoldsStepsBackWhileTooMuchIsPendingUntilAQuarterHasEnded) {
    constexpr Index limit = 8;
    const std::vector<SubmissionStep> steps = one_per_item(20);
    const std::vector<std::uint16_t> streams(20, 0);
    const Throttle throttle{{limit}, streams};
    Submission submission(costs);
    submission.begin(steps, 0, throttle, 0);
    for (std::uint32_t k = 0; k < limit; ++k) EXPECT_EQ(submission.submit(k)->vertex, k);
    EXPECT_FALSE(submission.submit(8));
    for (Index pending = limit; pending - 1 > resume_level(limit); --pending) EXPECT_FALSE(submission.ended(0));
    EXPECT_EQ(submission.ended(0), 8);  // since when it was held back
    EXPECT_EQ(submission.submit(11)->vertex, 8U);
    EXPECT_FALSE(submission.ended(0));  // nothing is held back any more
}

TEST(Submission, GoesOnOnlyWhenTheStreamThatIsHeldBackHasLessPending) {
    const std::vector<SubmissionStep> steps = one_per_item(4);
    const std::vector<std::uint16_t> streams{0, 0, 1, 0};  // of each item
    const Throttle throttle{{2, 8}, streams};
    Submission submission(costs);
    submission.begin(steps, 0, throttle, 0);
    for (std::uint32_t k = 0; k < 3; ++k) EXPECT_EQ(submission.submit(k)->vertex, k);
    EXPECT_FALSE(submission.submit(3));
    EXPECT_FALSE(submission.ended(1));  // another stream's
    EXPECT_EQ(submission.ended(0), 3);
}

TEST(Submission, NeverStopsInTheMiddleOfAnItem) {
    std::vector<SubmissionStep> steps;
    for (std::uint32_t k = 0; k < 5; ++k) steps.push_back({.item = 0, .vertex = k});
    steps.push_back({.item = 1, .vertex = 5});
    const std::vector<std::uint16_t> streams(2, 0);
    const Throttle throttle{{1}, streams};
    Submission submission(costs);
    submission.begin(steps, 0, throttle, 0);
    for (std::uint32_t k = 0; k < 5; ++k) EXPECT_EQ(submission.submit(0)->vertex, k);
    EXPECT_FALSE(submission.submit(0));
}

TEST(Submission, CountsEveryStreamByItself) {
    const std::vector<SubmissionStep> steps = one_per_item(6);
    const std::vector<std::uint16_t> streams{0, 0, 1, 1, 1, 0};
    const Throttle throttle{{2, 3}, streams};
    Submission submission(costs);
    submission.begin(steps, 0, throttle, 0);
    for (int k = 0; k < 5; ++k) EXPECT_TRUE(submission.submit(0));
    EXPECT_FALSE(submission.submit(1));  // two of stream 0 are pending
    EXPECT_EQ(submission.ended(0), 1);
    EXPECT_TRUE(submission.submit(2));
}

TEST(Submission, DoesNotCountChangesOfWorkersAndNeverHoldsThemBack) {
    std::vector<SubmissionStep> steps = one_per_item(3);
    steps.insert(steps.begin() + 1, {.item = 1, .vertex = SubmissionStep::worker_set});
    const std::vector<std::uint16_t> streams(4, 0);
    const Throttle throttle{{1}, streams};
    Submission submission(costs);
    submission.begin(steps, 0, throttle, 0);
    EXPECT_TRUE(submission.submit(0));
    EXPECT_EQ(submission.submit(0)->vertex, SubmissionStep::worker_set);
    EXPECT_EQ(submission.ended(0), std::nullopt);
    EXPECT_TRUE(submission.submit(0));
    EXPECT_FALSE(submission.submit(0));
}

TEST(Submission, BeginsEverySectionWithNothingPending) {
    const std::vector<SubmissionStep> steps = one_per_item(2);
    const std::vector<std::uint16_t> streams(2, 0);
    const Throttle throttle{{1}, streams};
    Submission submission(costs);
    submission.begin(steps, 0, throttle, 0);
    EXPECT_TRUE(submission.submit(0));
    EXPECT_FALSE(submission.submit(0));
    submission.begin(steps, 0, throttle, 9);
    EXPECT_TRUE(submission.submit(9));
}

}  // namespace
}  // namespace tesela::sim::submission_test
