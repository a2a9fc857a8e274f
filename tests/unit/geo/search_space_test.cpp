#include "tesela/geo/search_space.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::geo::search_space_test {
namespace {

Variable smoothness_of(CovarianceFamily family, const ParameterChoice& choice) {
    Model model{.family = family};
    model.choice(Parameter::smoothness) = choice;
    InlineEngine engine;
    Stream s(engine);
    const Likelihood likelihood(s, tesela::testing::meuse(), model, {.tile = 50});
    return *SearchSpace(likelihood).variable(Parameter::smoothness);
}

std::string complaint(CovarianceFamily family, const ParameterChoice& choice) {
    return message_of<Error>([&] { (void)smoothness_of(family, choice); });
}

constexpr CovarianceFamily matern = CovarianceFamily::matern;
constexpr CovarianceFamily powered = CovarianceFamily::powered_exponential;

// What a warning advises, another lower bound say, must not be refused for a bound that nobody gave.
TEST(SearchSpace, ALowerBoundDoesNotRaiseTheUpperOneBeyondTheFamilysLimit) {
    for (const double lower : {0.001, 0.03, 0.5, 1.9}) {
        const Variable v = smoothness_of(powered, {.lower = lower});
        EXPECT_EQ(v.lower, lower);
        EXPECT_EQ(v.upper, 2) << lower;
        EXPECT_TRUE(v.upper_is_limit) << lower;
    }
    EXPECT_EQ(smoothness_of(matern, {.lower = 3}).upper, 50);
}

TEST(SearchSpace, KnowsWhichUpperBoundsCannotBeRaised) {
    EXPECT_TRUE(smoothness_of(powered, {}).upper_is_limit);
    EXPECT_TRUE(smoothness_of(powered, {.upper = 2}).upper_is_limit);
    EXPECT_FALSE(smoothness_of(powered, {.upper = 1.9}).upper_is_limit);
    EXPECT_FALSE(smoothness_of(matern, {}).upper_is_limit);
    EXPECT_TRUE(smoothness_of(matern, {.upper = 50}).upper_is_limit);
}

TEST(SearchSpace, SaysWhatOfTheUsersIsBeyondTheLimit) {
    const std::string admitted = ", the largest that powered_exponential admits with euclidean distances";
    EXPECT_EQ(complaint(powered, {.upper = 3}), "the upper bound 3 of smoothness is above 2" + admitted);
    EXPECT_EQ(complaint(powered, {.start = 2.5}), "the start 2.5 of smoothness is above 2" + admitted);
    EXPECT_EQ(complaint(powered, {.lower = 2}), "the lower bound 2 of smoothness is not below 2" + admitted);
    EXPECT_EQ(complaint(matern, {.upper = 51}),
              "the upper bound 51 of smoothness is above 50, the largest that matern admits with euclidean distances");
}

}  // namespace
}  // namespace tesela::geo::search_space_test
