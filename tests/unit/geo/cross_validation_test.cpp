#include "tesela/geo/cross_validation.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/internal/part_of.hpp"
#include "tesela/geo/scores.hpp"
#include "unit/geo/meuse.hpp"
#include "unit/geo/processes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace tesela::geo::cross_validation_test {
namespace {

using tesela::testing::DenseProcess;
using tesela::testing::meuse;
using tesela::testing::meuse_kriging_theta;

/// The numbers of the observations inside and outside of a fold.
struct Split {
    std::vector<Index> held_out;
    std::vector<Index> kept;
};
Split split(const Folds& folds, Index fold) {
    Split result;
    for (Index i = 0; i < folds.observations(); ++i)
        (folds.of[static_cast<std::size_t>(i)] == fold ? result.held_out : result.kept).push_back(i);
    return result;
}

/// The definition: for every fold a likelihood of the others, factored anew, and predictions from it.
Predictions factored_again(Stream& s, const Validated& what, const Folds& folds) {
    const auto n = static_cast<std::size_t>(what.observations.size());
    Predictions result{std::vector<double>(n), std::vector<double>(n)};
    for (Index fold = 0; fold < folds.count; ++fold) {
        const auto [held_out, kept] = split(folds, fold);
        Likelihood likelihood(s, taken(what.observations, kept), what.model, {.tile = 64});
        const Predictions got = predict(likelihood, what.theta, taken(what.observations, held_out).coordinates);
        for (std::size_t k = 0; k < held_out.size(); ++k) {
            result.mean[static_cast<std::size_t>(held_out[k])] = got.mean[k];
            result.variance[static_cast<std::size_t>(held_out[k])] = got.variance[k];
        }
    }
    return result;
}

void expect_same(const Predictions& got, const Predictions& expected, double tolerance) {
    ASSERT_EQ(got.mean.size(), expected.mean.size());
    for (std::size_t i = 0; i < got.mean.size(); ++i) {
        EXPECT_NEAR(got.mean[i], expected.mean[i], tolerance) << i;
        EXPECT_NEAR(got.variance[i], expected.variance[i], tolerance) << i;
    }
}

TEST(CrossValidation, EqualsFactoringAgainWithoutEachFoldOfMeuse) {
    InlineEngine engine(3);
    Stream s(engine);
    const Observations data = meuse();
    const std::vector<Folds> all{leave_one_out(155), random_folds(155, 10, 3), random_folds(155, 2, 1),
                                 block_folds(data, Metric::euclidean, {4, 4})};
    for (const Trend trend : {Trend::none, Trend::constant, Trend::linear})
        for (const Folds& folds : all) {
            const Model model{.trend = trend, .center = trend == Trend::none ? 5.9 : 0.0};
            const Validated what{data, model, {.sigma2 = 0.6, .range = 180, .smoothness = 0.9, .nugget = 0.05}};
            const Predictions expected = factored_again(s, what, folds);
            for (const Index tile : {16, 50, 200})
                expect_same(cross_validate(s, what, folds, {.likelihood = {.tile = tile}}), expected, 1e-9);
        }
}

/// krige.cv(log_zinc ~ 1, meuse, vgm(0.55, "Exp", 250, nugget = 0.05), nfold = 155), and ~ x + y, of gstat 2.1.0.
TEST(CrossValidation, LeaveOneOutEqualsGstat) {
    struct Reference {
        Trend trend;
        std::array<double, 3> mean;
        std::array<double, 3> variance;
        double rmse;
        double mae;
        double mean_error;
        double standardised_square;
    };
    const std::array references{Reference{Trend::constant,
                                          {6.68685892098, 6.66465892587, 6.28036988591},
                                          {0.277967466496, 0.279130830046, 0.303930018486},
                                          0.409415393531,
                                          0.311657154448,
                                          -0.000637755006778,
                                          0.547758785453},
                                Reference{Trend::linear,
                                          {6.74611661871, 6.71899786233, 6.28089615365},
                                          {0.281611484575, 0.280371575645, 0.304480730270},
                                          0.409837220465,
                                          0.306007672078,
                                          0.00728044050312,
                                          0.531599613567}};
    InlineEngine engine;
    Stream s(engine);
    const Observations data = meuse();
    for (const Reference& r : references) {
        const Model model{.family = CovarianceFamily::exponential, .trend = r.trend};
        const Predictions got = cross_validate(s, {data, model, meuse_kriging_theta}, leave_one_out(155));
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(got.mean[i], r.mean[i], 1e-9);
            EXPECT_NEAR(got.variance[i], r.variance[i], 1e-9);
        }
        const Scores scores = score(residuals(data.values, got), 0.95);
        EXPECT_NEAR(scores.rmse, r.rmse, 1e-9);
        EXPECT_NEAR(scores.mae, r.mae, 1e-9);
        EXPECT_NEAR(scores.mean_error, r.mean_error, 1e-9);
        EXPECT_NEAR(scores.standardised_square, r.standardised_square, 1e-9);
    }
}

RC_GTEST_PROP(CrossValidation, EqualsTheDenseFormulaWithoutTheFold, ()) {
    const DenseProcess p = tesela::testing::any_process(*rc::gen::inRange<Index>(12, 25));
    RC_PRE(tesela::testing::usable(p));
    const Index nodes = *rc::gen::inRange<Index>(1, 5);
    InlineEngine engine(nodes);
    Stream s(engine);
    const Folds folds =
        random_folds(p.n(), *rc::gen::inRange<Index>(3, p.n() + 1), *rc::gen::inRange<std::uint64_t>(0, 99));
    const Index tile = *rc::gen::inRange<Index>(1, 30);
    const GridSize grid = fold_tiling(folds, tile).grid();
    const Predictions got =
        cross_validate(s, {p.data, p.model, p.theta}, folds,
                       {.likelihood = {.tile = tile, .distribution = random_distribution(grid, nodes, 3)}});
    for (Index fold = 0; fold < folds.count; ++fold) {
        const auto [held_out, kept] = split(folds, fold);
        const DenseProcess rest{taken(p.data, kept), p.model, p.theta};
        const auto at = taken(p.data, held_out).coordinates;
        for (std::size_t k = 0; k < held_out.size(); ++k) {
            const auto expected = rest.predict(at, static_cast<Index>(k));
            const auto i = static_cast<std::size_t>(held_out[k]);
            RC_ASSERT(std::abs(got.mean[i] - expected.mean) <= 1e-7 * (1 + std::abs(expected.mean)));
            RC_ASSERT(std::abs(got.variance[i] - expected.variance) <= 1e-7 * (1 + expected.variance));
        }
    }
}

/// As in predictions: the matrix has it, the variance of an observation has not.
TEST(CrossValidation, AJitterIsNotPartOfAnObservationsVariance) {
    InlineEngine engine;
    Stream s(engine);
    const Observations data = meuse();
    CovarianceParameters with_noise = meuse_kriging_theta;
    with_noise.nugget += 0.01 * with_noise.sigma2;
    const Folds folds = random_folds(155, 7, 1);
    Predictions expected = cross_validate(s, {data, {}, with_noise}, folds);
    for (double& variance : expected.variance) variance -= 0.01 * meuse_kriging_theta.sigma2;
    expect_same(cross_validate(s, {data, {.jitter = 0.01}, meuse_kriging_theta}, folds), expected, 1e-12);
}

TEST(CrossValidation, NoTileHoldsAPartOfAFoldAndSomethingElse) {
    for (const Index count : {2, 3, 7, 40, 155})
        for (const Index tile : {1, 8, 23, 60, 500}) {
            const Folds folds = random_folds(155, count, 5);
            const std::vector<Index> cuts = fold_tiling(folds, tile).row_cuts();
            const std::vector<Index> begins = by_folds(folds).begins;
            EXPECT_EQ(cuts.back(), 155);
            for (std::size_t t = 1; t < cuts.size(); ++t) {
                EXPECT_LE(cuts[t] - cuts[t - 1], tile);
                // A tile that ends inside a fold begins inside it or with it.
                const auto fold_end = std::ranges::lower_bound(begins, cuts[t]);
                if (*fold_end != cuts[t]) {
                    EXPECT_GE(cuts[t - 1], *(fold_end - 1)) << count << " folds, tiles of " << tile;
                }
            }
        }
}

TEST(CrossValidation, SaysWhichFoldLeavesTheTrendUndetermined) {
    InlineEngine engine;
    Stream s(engine);
    // All but the last three are on a line.
    const Observations data{.coordinates = {{0, 1, 2, 3, 4, 5, 6, 1, 5}, {0, 0, 0, 0, 0, 0, 3, 4, 5}},
                            .values = {1, 3, 2, 5, 4, 6, 2, 3, 1}};
    const Folds folds{.of = {0, 0, 0, 0, 0, 0, 1, 1, 1}, .count = 2};
    const CovarianceParameters theta{.sigma2 = 1, .range = 1, .smoothness = 0.5, .nugget = 0.1};
    EXPECT_NO_THROW((void)cross_validate(s, {data, {.trend = Trend::constant}, theta}, folds));
    try {
        (void)cross_validate(s, {data, {.trend = Trend::linear}, theta}, folds);
        FAIL() << "a trend that is not determined";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("without fold 2"), std::string::npos) << error.what();
    }
    EXPECT_THROW((void)cross_validate(s, {data, {}, theta}, {.of = std::vector<Index>(9, 0), .count = 1}), Error);
    EXPECT_THROW((void)cross_validate(s, {data, {}, theta}, leave_one_out(8)), Error);
}

TEST(CrossValidation, AMatrixThatIsNotPositiveDefiniteIsANumericalFailure) {
    InlineEngine engine;
    Stream s(engine);
    const CovarianceParameters singular{.sigma2 = 1, .range = 1e6, .smoothness = 4, .nugget = 0};
    const Observations data = meuse();
    EXPECT_THROW((void)cross_validate(s, {data, {}, singular}, leave_one_out(155)), NotPositiveDefinite);
}

}  // namespace
}  // namespace tesela::geo::cross_validation_test
