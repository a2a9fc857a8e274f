#include "tesela/geo/derivatives.hpp"

#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/sample.hpp"
#include "unit/geo/gradient_check.hpp"
#include "unit/geo/processes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tesela::geo::derivatives_test {
namespace {

using tesela::testing::Dense2;
using tesela::testing::DenseProcess;
using tesela::testing::meuse;
using tesela::testing::Real;

constexpr std::array all_trends{Trend::none, Trend::constant, Trend::linear};

TEST(Gradient, EqualsDifferencesForEveryFamilyParameterAndTrend) {
    InlineEngine engine;
    for (const auto& c : tesela::testing::gradient_cases())
        for (const Trend trend : all_trends) {
            Stream s(engine);
            expect_gradient(s, c, {.trend = trend}, trend == Trend::linear ? 37 : 64);
        }
}

TEST(Gradient, OfTheRestrictedLikelihoodEqualsDifferences) {
    InlineEngine engine(2);
    for (const auto& c : tesela::testing::gradient_cases())
        for (const Trend trend : all_trends) {
            Stream s(engine);
            expect_gradient(s, c, {.trend = trend, .estimation = Estimation::reml, .jitter = 0.02}, 43);
        }
}

TEST(Gradient, CountsTheJitterWithSigma2) {
    InlineEngine engine;
    Stream s(engine);
    for (const auto& c : tesela::testing::gradient_cases())
        expect_gradient(s, c, {.trend = Trend::linear, .jitter = 0.02}, 50);
}

TEST(Gradient, LeavesTheFactorAsItIs) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {}, {.tile = 40});
    LikelihoodDerivatives derivatives(likelihood);
    const LikelihoodValue value = likelihood.evaluate(tesela::testing::meuse_kriging_theta);
    const auto factor = gather(s, likelihood.factor());
    const auto whitened = gather(s, likelihood.whitened());
    const Gradient first = derivatives.gradient(value);
    EXPECT_EQ(gather(s, likelihood.factor()), factor);
    EXPECT_EQ(gather(s, likelihood.whitened()), whitened);
    EXPECT_EQ(derivatives.gradient(value), first);
}

TEST(Gradient, IsZeroAtTheMaximum) {
    InlineEngine engine;
    Stream s(engine);
    for (const auto& [theta, log_likelihood] : tesela::testing::meuse_fits()) {
        Model model;
        model.choice(Parameter::smoothness).fixed = theta.smoothness;
        Likelihood likelihood(s, meuse(), model, {.tile = 50});
        const FitResult found = fit(likelihood, {.tolerance = 1e-7});
        LikelihoodDerivatives derivatives(likelihood);
        const Gradient slopes = derivatives.gradient(likelihood.evaluate(found.theta));
        for (const Parameter p : {Parameter::sigma2, Parameter::range, Parameter::nugget})
            EXPECT_NEAR(value_of(found.theta, p) * slopes[static_cast<std::size_t>(p)], 0, 1e-3) << name(p);
    }
}

TEST(Gradient, OfAFailedEvaluationIsRefused) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {.family = CovarianceFamily::squared_exponential}, {.tile = 50});
    LikelihoodDerivatives derivatives(likelihood);
    const LikelihoodValue failed = likelihood.evaluate({.sigma2 = 0.6, .range = 1e5, .nugget = 0});
    ASSERT_FALSE(failed.status.ok());
    EXPECT_THROW((void)derivatives.gradient(failed), Error);
    EXPECT_THROW((void)derivatives.average_information(failed), Error);
    const LikelihoodValue good = likelihood.evaluate({.sigma2 = 0.6, .range = 200, .nugget = 0.1});
    EXPECT_NE(derivatives.gradient(good), Gradient{});
}

/// ∂Σ/∂theta by the derivatives of single covariances.
Dense2 derivative_of_sigma(const DenseProcess& p, Parameter parameter) {
    Dense2 D(p.n(), p.n());
    const PointSet points = p.points();
    const CovarianceDerivatives derivatives(p.covariance(), points.diameter_bound());
    for (Index i = 0; i < p.n(); ++i)
        for (Index j = 0; j < p.n(); ++j) {
            const CovarianceSlopes d = derivatives(distance(points, i, points, j));
            const double same = i == j ? 1 : 0;
            const std::array<double, 4> slopes{d.sigma2 + same * p.model.jitter, d.range, d.smoothness, same};
            D(i, j) = slopes[static_cast<std::size_t>(parameter)];
        }
    return D;
}

Dense2 sigma_with_jitter(const DenseProcess& p) {
    Dense2 S = p.sigma();
    for (Index i = 0; i < p.n(); ++i) S(i, i) += p.model.jitter * p.theta.sigma2;
    return S;
}

/// A := A − Σ⁻¹X(XᵀΣ⁻¹X)⁻¹XᵀA, which makes P·D of A = Σ⁻¹·D.
void restrict(const DenseProcess& p, Dense2& A) {
    const Dense2 X = p.trend_at(p.data.coordinates);
    const Dense2 SX = tesela::testing::eliminate(sigma_with_jitter(p), X).X;
    const Dense2 b = tesela::testing::eliminate(tesela::testing::transposed_product(SX, X),
                                                tesela::testing::transposed_product(X, A))
                         .X;
    for (Index i = 0; i < A.rows; ++i)
        for (Index j = 0; j < A.cols; ++j)
            for (Index k = 0; k < X.cols; ++k) A(i, j) -= SX(i, k) * b(k, j);
}

/// ½ tr(Σ⁻¹ ∂ᵢΣ Σ⁻¹ ∂ⱼΣ), or with P, by elimination of whole matrices.
SmallMatrix dense_expected_information(const DenseProcess& p) {
    std::vector<Dense2> M;
    for (const Parameter parameter : all_parameters) {
        M.push_back(tesela::testing::eliminate(sigma_with_jitter(p), derivative_of_sigma(p, parameter)).X);
        if (p.model.estimation == Estimation::reml) restrict(p, M.back());
    }
    SmallMatrix F(4, 4);
    for (Index a = 0; a < 4; ++a)
        for (Index b = 0; b < 4; ++b) {
            Real sum = 0;
            for (Index i = 0; i < p.n(); ++i)
                for (Index j = 0; j < p.n(); ++j)
                    sum += M[static_cast<std::size_t>(a)](i, j) * M[static_cast<std::size_t>(b)](j, i);
            F(a, b) = static_cast<double>(0.5L * sum);
        }
    return F;
}

/// Elements are compared with the geometric mean of the diagonal's: units of parameters differ.
void expect_equal(const SmallMatrix& got, const SmallMatrix& expected, double tolerance) {
    ASSERT_EQ(got.rows, expected.rows);
    ASSERT_EQ(got.cols, expected.cols);
    for (Index a = 0; a < got.rows; ++a)
        for (Index b = 0; b < got.cols; ++b) {
            const double size = std::sqrt(std::abs(expected(a, a) * expected(b, b)));
            EXPECT_NEAR(got(a, b), expected(a, b), tolerance * size) << a << ' ' << b;
        }
}

/// What rounding may leave of F(a, b) = ½ tr(Mₐ M_b), Mₐ = P ∂ₐΣ, where the data say almost nothing of a parameter, as
/// where points lie together or far apart: Mₐ is a difference of numbers up to n·cond(Σ)·eps of rounding, in logarithms
/// of the parameters, whatever is left of it.
double rounding_of(const DenseProcess& p, const SmallMatrix& information, Index a, Index b) {
    const auto scale = [&](Index k) {
        const double value = value_of(p.theta, static_cast<Parameter>(k));
        return value > 0 ? value : p.theta.sigma2;
    };
    const auto n = static_cast<double>(p.n());
    const double condition = 1 + n * (1 + p.model.jitter) * p.theta.sigma2 / p.theta.nugget;
    const double delta = 4 * n * condition * std::numeric_limits<double>::epsilon();
    const auto length = [&](Index k) { return scale(k) * std::sqrt(std::abs(information(k, k))); };
    return delta * (length(a) + length(b) + delta) / (scale(a) * scale(b));
}

RC_GTEST_PROP(Information, EqualsTheDenseFormula, ()) {
    DenseProcess p = tesela::testing::any_process(60);
    RC_PRE(tesela::testing::usable(p));
    p.model.jitter = *rc::gen::element(0.0, 0.01);
    p.model.estimation = *rc::gen::element(Estimation::ml, Estimation::reml);
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    Stream s(engine);
    const Index tile = *rc::gen::inRange<Index>(7, 70);
    const GridSize grid = Tiling::square(p.n(), tile).grid();
    Likelihood likelihood(s, p.data, p.model,
                          {.tile = tile,
                           .distribution = random_distribution(grid, engine.node_count(), 5),
                           .overlap = *rc::gen::element(Overlap::sync, Overlap::solve, Overlap::order)});
    LikelihoodDerivatives derivatives(likelihood);
    const LikelihoodValue value = likelihood.evaluate(p.theta);
    RC_ASSERT(value.status.ok());
    const SmallMatrix got = derivatives.expected_information(value);
    const SmallMatrix expected = dense_expected_information(p);
    for (Index a = 0; a < 4; ++a)
        for (Index b = 0; b < 4; ++b) {
            RC_LOG() << fmt::format("{} {}: {} {}\n", a, b, got(a, b), expected(a, b));
            const double size = std::sqrt(std::abs(expected(a, a) * expected(b, b)));
            RC_ASSERT(std::abs(got(a, b) - expected(a, b)) <= 1e-8 * size + rounding_of(p, expected, a, b));
        }
}

/// ½ vᵢᵀ P vⱼ by elimination of whole matrices.
SmallMatrix dense_average_information(const DenseProcess& p) {
    const Dense2 S = p.sigma();
    const Dense2 w = tesela::testing::eliminate(S, p.residual()).X;
    Dense2 V(p.n(), 4);
    for (const Parameter parameter : all_parameters) {
        const Dense2 D = derivative_of_sigma(p, parameter);
        for (Index i = 0; i < p.n(); ++i)
            for (Index j = 0; j < p.n(); ++j) V(i, static_cast<Index>(parameter)) += D(i, j) * w(j, 0);
    }
    const Dense2 X = p.trend_at(p.data.coordinates);
    const Dense2 SV = tesela::testing::eliminate(S, V).X;
    const Dense2 SX = tesela::testing::eliminate(S, X).X;
    const Dense2 XSV = tesela::testing::transposed_product(X, SV);
    const Dense2 inner = tesela::testing::eliminate(tesela::testing::transposed_product(SX, X), XSV).X;
    const Dense2 whole = tesela::testing::transposed_product(V, SV);
    const Dense2 trend = tesela::testing::transposed_product(XSV, inner);
    SmallMatrix A(4, 4);
    for (Index a = 0; a < 4; ++a)
        for (Index b = 0; b < 4; ++b) A(a, b) = static_cast<double>(0.5L * (whole(a, b) - trend(a, b)));
    return A;
}

TEST(Information, AverageEqualsTheDenseFormula) {
    InlineEngine engine(3);
    for (const auto& c : tesela::testing::gradient_cases())
        for (const Trend trend : all_trends) {
            Stream s(engine);
            const DenseProcess p{.data = meuse(), .model = {.family = c.family, .trend = trend}, .theta = c.theta};
            Likelihood likelihood(s, p.data, p.model, {.tile = 43});
            LikelihoodDerivatives derivatives(likelihood);
            expect_equal(derivatives.average_information(likelihood.evaluate(p.theta)), dense_average_information(p),
                         1e-7);
        }
}

TEST(Information, AverageCountsTheJitterWithSigma2) {
    InlineEngine engine;
    Stream s(engine);
    const CovarianceParameters theta{.sigma2 = 0.6, .range = 150, .smoothness = 1.5, .nugget = 0.04};
    Likelihood likelihood(s, meuse(), {.jitter = 0.05}, {.tile = 64});
    Likelihood plain(s, meuse(), {}, {.tile = 64});
    CovarianceParameters shifted = theta;
    shifted.nugget += 0.05 * theta.sigma2;
    const SmallMatrix got = LikelihoodDerivatives(likelihood).average_information(likelihood.evaluate(theta));
    const SmallMatrix F = LikelihoodDerivatives(plain).average_information(plain.evaluate(shifted));
    EXPECT_NEAR(got(0, 0), F(0, 0) + 2 * 0.05 * F(0, 3) + 0.05 * 0.05 * F(3, 3), 1e-8 * got(0, 0));
    EXPECT_NEAR(got(0, 1), F(0, 1) + 0.05 * F(3, 1), 1e-8 * std::abs(got(0, 1)));
    EXPECT_NEAR(got(3, 1), F(3, 1), 1e-8 * std::abs(got(3, 1)));
}

/// Second differences of the log-likelihood itself.
SmallMatrix second_differences(Likelihood& likelihood, const CovarianceParameters& theta,
                               std::span<const Parameter> parameters) {
    const auto count = static_cast<Index>(parameters.size());
    SmallMatrix H(count, count);
    const auto moved = [&](Index a, double up_a, Index b, double up_b) {
        CovarianceParameters at = theta;
        value_of(at, parameters[static_cast<std::size_t>(a)]) *= 1 + up_a;
        value_of(at, parameters[static_cast<std::size_t>(b)]) *= 1 + up_b;
        return likelihood.evaluate(at).log_likelihood;
    };
    constexpr double h = 2e-3;
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b) {
            const double units = value_of(theta, parameters[static_cast<std::size_t>(a)]) *
                                 value_of(theta, parameters[static_cast<std::size_t>(b)]);
            const double corners =
                a == b ? moved(a, h, b, 0) - 2 * moved(a, 0, b, 0) + moved(a, -h, b, 0)
                       : (moved(a, h, b, h) - moved(a, h, b, -h) - moved(a, -h, b, h) + moved(a, -h, b, -h)) / 4;
            H(a, b) = -corners / (h * h * units);
        }
    return H;
}

TEST(Information, ObservedIsSymmetricAndEqualsSecondDifferences) {
    InlineEngine engine;
    const std::vector<std::vector<Parameter>> choices{
        {Parameter::sigma2, Parameter::range, Parameter::smoothness, Parameter::nugget},
        {Parameter::nugget, Parameter::range}};
    for (const auto& c : tesela::testing::gradient_cases())
        for (const auto& parameters : choices) {
            if (!uses(c.family, Parameter::smoothness) && parameters.size() == 4) continue;
            Stream s(engine);
            Likelihood likelihood(s, meuse(), {.family = c.family, .trend = Trend::linear}, {.tile = 80});
            LikelihoodDerivatives derivatives(likelihood);
            const SmallMatrix got = observed_information(likelihood, derivatives, c.theta, parameters);
            for (Index a = 0; a < got.rows; ++a)
                for (Index b = 0; b < a; ++b) EXPECT_EQ(got(a, b), got(b, a));
            EXPECT_EQ(likelihood.covariance().parameters(), c.theta);  // evaluated there again
            expect_equal(got, second_differences(likelihood, c.theta, parameters), 1e-4);
        }
}

TEST(Information, ObservedAtTheEndOfARangeLooksInwards) {
    InlineEngine engine;
    Stream s(engine);
    const Parameter nugget = Parameter::nugget;
    const auto at = [&](double value) {
        Likelihood likelihood(s, meuse(), {}, {.tile = 80});
        LikelihoodDerivatives derivatives(likelihood);
        return observed_information(likelihood, derivatives,
                                    {.sigma2 = 0.6, .range = 200, .smoothness = 0.5, .nugget = value},
                                    {&nugget, 1})(0, 0);
    };
    EXPECT_NEAR(at(0) / at(1e-4), 1, 1e-2);
    const Parameter smoothness = Parameter::smoothness;
    const auto powered = [&](double value) {
        Likelihood likelihood(s, meuse(), {.family = CovarianceFamily::powered_exponential}, {.tile = 80});
        LikelihoodDerivatives derivatives(likelihood);
        return observed_information(likelihood, derivatives,
                                    {.sigma2 = 0.6, .range = 200, .smoothness = value, .nugget = 0.2},
                                    {&smoothness, 1})(0, 0);
    };
    EXPECT_NEAR(powered(2) / powered(1.9985), 1, 1e-2);
}

TEST(GradientStream, TakesTwiceTheOperationsOfTheEvaluation) {
    RecordingEngine engine(4);
    Stream s(engine);
    Observations data{.coordinates = random_points(1000, 1), .values = {}};
    data.values = data.coordinates[0];
    Likelihood likelihood(s, data, {.trend = Trend::linear}, {.tile = 25});
    LikelihoodDerivatives derivatives(likelihood);
    const LikelihoodValue value = likelihood.evaluate({.sigma2 = 1, .range = 0.1, .smoothness = 1, .nugget = 0.1});
    const double evaluation = engine.recording().flops();
    EXPECT_EQ(derivatives.gradient(value), Gradient{});  // there are no data
    EXPECT_NEAR(engine.recording().flops() / evaluation, 3, 0.2);
}

TEST(GradientStream, HoldsOneMatrixOfTheSizeOfSigma) {
    RecordingEngine engine(1);
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {}, {.tile = 16});
    LikelihoodDerivatives derivatives(likelihood);
    const LikelihoodValue value = likelihood.evaluate(tesela::testing::meuse_kriging_theta);
    (void)derivatives.gradient(value);
    const auto& grids = engine.recording().grids;
    // 155 points in tiles of 16: Σ and its inverse.
    EXPECT_EQ(std::count_if(grids.begin(), grids.end(), [](const auto& grid) { return grid.tiles.count() >= 100; }), 2);
}

}  // namespace
}  // namespace tesela::geo::derivatives_test
