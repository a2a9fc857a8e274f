#include "tesela/apps/geo/stopping.hpp"

#include "tesela/apps/geo/model_file.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "unit/apps/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::geo {
namespace {

using ::testing::HasSubstr;

FitResult fitted(const FitOptions& options) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, tesela::testing::meuse(), {}, {.tile = 50});
    FitResult result = fit(likelihood, options);
    warn_if_stopped_early(result);
    return result;
}

TEST(StoppedEarly, IsWarnedOfAlsoInTheModelFile) {
    const FitResult few = fitted({.max_evaluations = 12});
    ASSERT_FALSE(few.warnings.empty());
    EXPECT_EQ(few.warnings[0].kind, FitWarning::Kind::stopped_early);
    EXPECT_THAT(few.warnings[0].text, HasSubstr("limit of its evaluations (--max-evaluations)"));
    const auto json =
        to_json({.model = {}, .observations = tesela::testing::meuse(), .result = few, .program = "test"});
    EXPECT_EQ(json.at("warnings").at(0), few.warnings[0].text);

    const FitResult fast = fitted({.max_seconds = 1e-9});
    ASSERT_FALSE(fast.warnings.empty());
    EXPECT_THAT(fast.warnings[0].text, HasSubstr("limit of its time (--max-seconds)"));
}

TEST(StoppedEarly, IsNotWhatConverged) {
    for (const FitWarning& warning : fitted({}).warnings) EXPECT_NE(warning.kind, FitWarning::Kind::stopped_early);
}

}  // namespace
}  // namespace tesela::geo
