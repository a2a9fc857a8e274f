#include "tesela/geo/conditioning.hpp"

#include "dense_oracle.hpp"
#include "meuse.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tesela::geo::conditioning_test {
namespace {

using tesela::testing::Dense2;
using tesela::testing::meuse;
using tesela::testing::Real;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

double one_norm(const Dense2& A) {
    Real largest = 0;
    for (Index j = 0; j < A.cols; ++j) {
        Real sum = 0;
        for (Index i = 0; i < A.rows; ++i) sum += std::abs(A(i, j));
        largest = std::max(largest, sum);
    }
    return static_cast<double>(largest);
}

/// κ₁ of the covariance matrix of a likelihood, from the whole inverse in long double.
double true_condition(const Likelihood& likelihood) {
    const PointSet& points = likelihood.points();
    const Index n = points.size();
    std::vector<double> sigma(static_cast<std::size_t>(n * n));
    likelihood.covariance().fill_tile({.rows = &points,
                                       .row_count = n,
                                       .cols = &points,
                                       .col_count = n,
                                       .out = sigma.data(),
                                       .ld = n,
                                       .sets = ObservationSets::same});
    Dense2 A(n, n), identity(n, n);
    for (std::size_t k = 0; k < sigma.size(); ++k) A.a[k] = sigma[k];
    for (Index i = 0; i < n; ++i) identity(i, i) = 1;
    return one_norm(A) * one_norm(tesela::testing::eliminate(A, identity).X);
}

/// (max / min)² of the factor's diagonal: the cheaper bound.
double diagonal_bound(const Likelihood& likelihood) {
    Stream& s = likelihood.stream();
    const std::vector<double> L = gather(s, likelihood.factor());
    require_done(s.wait());
    const auto n = static_cast<std::size_t>(likelihood.points().size());
    double least = L[0], most = L[0];
    for (std::size_t i = 0; i < n; ++i) {
        least = std::min(least, L[i + i * n]);
        most = std::max(most, L[i + i * n]);
    }
    return (most / least) * (most / least);
}

struct Case {
    CovarianceFamily family = CovarianceFamily::matern;
    CovarianceParameters theta;
    Index n = 120;
};

TEST(Conditioning, IsEstimatedFromBelowWithinAFactorOfThree) {
    std::vector<Case> cases;
    for (const double range : {0.01, 0.1, 1.0})
        for (const double smoothness : {0.5, 1.5, 2.5})
            for (const double nugget : {0.0, 1e-9, 1e-4, 0.1})
                for (const Index n : {2, 37, 120})
                    cases.push_back(
                        {.theta = {.sigma2 = 1.7, .range = range, .smoothness = smoothness, .nugget = nugget}, .n = n});
    Index compared = 0;
    double worst_of_diagonal = 1;
    for (const Case& c : cases) {
        InlineEngine engine;
        Stream s(engine);
        Observations data{.coordinates = random_points(c.n, 7)};
        data.values = data.coordinates[0];
        Likelihood likelihood(s, data, {.family = c.family, .trend = Trend::none}, {.tile = 32});
        if (!likelihood.evaluate(c.theta).status.ok()) continue;
        const double truth = true_condition(likelihood);
        if (truth > 1e13) continue;  // the factor itself has hardly a digit
        ++compared;
        const double estimate = estimate_condition(likelihood).estimate;
        const std::string what =
            fmt::format("{} points, {}: {} of {}", c.n, describe(c.family, c.theta), estimate, truth);
        EXPECT_LE(estimate, truth * 1.01) << what;
        EXPECT_GE(estimate, truth / 3) << what;
        worst_of_diagonal = std::max(worst_of_diagonal, truth / diagonal_bound(likelihood));
    }
    EXPECT_GT(compared, 80);
    EXPECT_GT(worst_of_diagonal, 100) << "the diagonal alone would have done";
}

TEST(Conditioning, CountsTheDigitsThatAreLeft) {
    EXPECT_NEAR(Conditioning{.estimate = 1}.digits(), 15.65, 0.01);
    EXPECT_NEAR(Conditioning{.estimate = 1e12}.digits(), 3.65, 0.01);
    EXPECT_EQ(Conditioning{.estimate = 1e30}.digits(), 0);
}

TEST(Conditioning, IsOneOnEnginesWithoutData) {
    RecordingEngine engine(2);
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {}, {.tile = 50});
    likelihood.evaluate({.sigma2 = 1, .range = 200, .smoothness = 0.5, .nugget = 0.1});
    EXPECT_EQ(estimate_condition(likelihood).estimate, 1);
}

/// A smooth field without noise: its covariance matrix is singular but for rounding.
FitResult smooth_fit(double nugget) {
    InlineEngine engine;
    Stream s(engine);
    Observations data{.coordinates = random_points(150, 3)};
    for (std::size_t i = 0; i < data.coordinates[0].size(); ++i)
        data.values.push_back(std::sin(3 * data.coordinates[0][i]) + data.coordinates[1][i]);
    Model model{.family = CovarianceFamily::matern, .trend = Trend::constant};
    model.choice(Parameter::smoothness).fixed = 2.5;
    model.choice(Parameter::range).fixed = 2;
    model.choice(Parameter::nugget).fixed = nugget;
    Likelihood likelihood(s, data, model, {.tile = 50});
    return fit(likelihood);
}

TEST(Conditioning, OfAFitIsWarnedOfOnceWithWhatToDo) {
    const FitResult result = smooth_fit(1e-11);
    EXPECT_LT(result.conditioning.digits(), enough_digits);
    std::vector<FitWarning> found;
    for (const FitWarning& warning : result.warnings)
        if (warning.kind == FitWarning::Kind::ill_conditioned) found.push_back(warning);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0].text, AllOf(HasSubstr("nearly singular"), HasSubstr("nugget"), HasSubstr("apart"),
                                     HasSubstr("merge points"), HasSubstr("--jitter")));
}

TEST(Conditioning, OfAFitWithNoiseIsNoReasonToWarn) {
    const FitResult result = smooth_fit(0.01);
    EXPECT_GT(result.conditioning.digits(), enough_digits);
    for (const FitWarning& warning : result.warnings) EXPECT_NE(warning.kind, FitWarning::Kind::ill_conditioned);
}

TEST(Conditioning, IsGoodEnoughWithTheJitterThatTheWarningAdvises) {
    EXPECT_DOUBLE_EQ(helpful_jitter(60), 1e-9);
    EXPECT_DOUBLE_EQ(helpful_jitter(100'000), 1e-6);
    Observations points{.coordinates = random_points(60, 1)};
    points.coordinates[0][1] = points.coordinates[0][0] + 1e-7;  // almost at one place
    points.coordinates[1][1] = points.coordinates[1][0];
    points.values = points.coordinates[0];
    for (const double jitter : {1e-3 * helpful_jitter(60), helpful_jitter(60)}) {
        InlineEngine engine;
        Stream s(engine);
        Likelihood likelihood(s, points, {.family = CovarianceFamily::squared_exponential, .jitter = jitter},
                              {.tile = 16});
        ASSERT_TRUE(likelihood.evaluate({.sigma2 = 1, .range = 2}).status.ok());
        const std::string warning = explain_conditioning(estimate_condition(likelihood), likelihood);
        if (jitter < helpful_jitter(60))
            EXPECT_THAT(warning, HasSubstr("--jitter 1e-09"));
        else
            EXPECT_THAT(warning, IsEmpty());
    }
}

}  // namespace
}  // namespace tesela::geo::conditioning_test
