#include "tesela/geo/prediction_loss.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "unit/geo/meuse.hpp"
#include "unit/geo/processes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace tesela::geo::prediction_loss_test {
namespace {

using tesela::testing::Dense2;
using tesela::testing::DenseProcess;
using tesela::testing::eliminate;
using tesela::testing::meuse;
using tesela::testing::meuse_grid;
using tesela::testing::Real;
using tesela::testing::transposed_product;

using Columns = std::vector<std::vector<double>>;

Dense2 covariances(const DenseProcess& p, const Columns& at, Index point) {
    const PointSet here = p.points();
    const PointSet there(p.model.metric, at);
    const Covariance c = p.covariance();
    Dense2 k(p.n(), 1);
    for (Index i = 0; i < p.n(); ++i) k(i, 0) = c(distance(here, i, there, point));
    return k;
}

/// The weights of the best linear unbiased predictor by its bordered system [Σ X; Xᵀ 0]·[λ; μ] = [k; x].
Dense2 weights(const DenseProcess& p, const Columns& at, Index point) {
    const Dense2 S = p.sigma();
    const Dense2 X = p.trend_at(p.data.coordinates);
    const Dense2 x = p.trend_at(at);
    const Dense2 k = covariances(p, at, point);
    Dense2 A(p.n() + X.cols, p.n() + X.cols);
    Dense2 b(p.n() + X.cols, 1);
    for (Index i = 0; i < p.n(); ++i) {
        b(i, 0) = k(i, 0);
        for (Index j = 0; j < p.n(); ++j) A(i, j) = S(i, j);
        for (Index l = 0; l < X.cols; ++l) A(i, p.n() + l) = A(p.n() + l, i) = X(i, l);
    }
    for (Index l = 0; l < X.cols; ++l) b(p.n() + l, 0) = x(point, l);
    return eliminate(A, b).X;
}

/// The truth's mean, from the coefficients that it estimates.
Real mean(const DenseProcess& p, const Columns& at, Index point) {
    const Dense2 x = p.trend_at(at);
    const Dense2 b = p.coefficients();
    Real result = p.model.center;
    for (Index l = 0; l < x.cols; ++l) result += x(point, l) * b(l, 0);
    return result;
}

/// Mean squared error under t of a's predictor of the field without noise.
double error_under_truth(const DenseProcess& t, const DenseProcess& a, const Columns& at, Index point) {
    const Dense2 lambda = weights(a, at, point);
    const Dense2 k = covariances(t, at, point);
    const Dense2 S = t.sigma();
    const Real c = a.model.center;
    Real error = t.theta.sigma2;
    Real bias = mean(t, at, point) - c;
    for (Index i = 0; i < t.n(); ++i) {
        error -= 2 * lambda(i, 0) * k(i, 0);
        bias -= lambda(i, 0) * (mean(t, t.data.coordinates, i) - c);
        for (Index j = 0; j < t.n(); ++j) error += lambda(i, 0) * S(i, j) * lambda(j, 0);
    }
    return static_cast<double>(error + bias * bias);
}

FittedModel fitted(const DenseProcess& p, Likelihood& likelihood) {
    FittedModel result{.model = p.model, .observations = p.data, .result = {}, .program = {}};
    for (std::size_t d = 0; d < p.data.coordinates.size(); ++d)
        result.observations.coordinate_names.push_back(p.data.coordinate_name(d));
    result.result.theta = p.theta;
    result.result.trend = likelihood.evaluate(p.theta).trend;
    return result;
}

DenseProcess another(const DenseProcess& p) {
    DenseProcess result = p;
    result.model.trend = *rc::gen::element(Trend::none, Trend::constant, Trend::linear);
    result.model.center = result.model.trend == Trend::none ? *rc::gen::element(0.0, 1.5) : 0.0;
    result.theta.range *= *rc::gen::element(0.5, 1.0, 1.7);
    result.theta.sigma2 *= *rc::gen::element(0.8, 1.0, 2.0);
    result.theta.nugget *= *rc::gen::element(0.5, 1.0);
    return result;
}

RC_GTEST_PROP(PredictionLoss, ErrorsEqualTheDenseFormula, ()) {
    const DenseProcess t = tesela::testing::any_process(*rc::gen::inRange<Index>(8, 20));
    RC_PRE(tesela::testing::usable(t));
    const DenseProcess a = another(t);
    const Index m = *rc::gen::inRange<Index>(1, 8);
    const Columns at =
        tesela::testing::any_coordinates(t.model.metric, static_cast<Index>(t.data.coordinates.size()), m);
    const Index nodes = *rc::gen::inRange<Index>(1, 5);
    InlineEngine engine(nodes);
    Stream s(engine);
    const Index tile = *rc::gen::inRange<Index>(1, 25);
    const GridSize grid = Tiling::square(t.n(), tile).grid();
    const LikelihoodOptions options{.tile = tile, .distribution = random_distribution(grid, nodes, 3)};
    Likelihood true_likelihood(s, t.data, t.model, options);
    Likelihood likelihood(s, a.data, a.model, options);
    const FittedModel truth = fitted(t, true_likelihood);
    const FittedModel approximation = fitted(a, likelihood);
    const PredictionErrors got =
        prediction_errors({true_likelihood, truth}, {likelihood, approximation}, at,
                          {.of = PredictionOf::signal, .block = *rc::gen::inRange<Index>(0, 5)});
    for (Index i = 0; i < m; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const auto close = [&](double value, double expected) {
            RC_LOG() << value << " " << expected << "\n";
            return std::abs(value - expected) <= 1e-7 * (1 + std::abs(expected));
        };
        RC_ASSERT(close(got.best[k], error_under_truth(t, t, at, i)));
        RC_ASSERT(close(got.claimed[k], error_under_truth(a, a, at, i)));
        RC_ASSERT(close(got.real[k], error_under_truth(t, a, at, i)));
        RC_ASSERT(got.real[k] >= got.best[k] - 1e-9 || a.model.trend.kind() < t.model.trend.kind());
    }
}

TEST(PredictionLoss, OfTheTruthItselfIsNone) {
    InlineEngine engine;
    Stream s(engine);
    const DenseProcess p{meuse(), {}, tesela::testing::meuse_kriging_theta};
    Likelihood a(s, p.data, p.model, {.tile = 50});
    Likelihood b(s, p.data, p.model, {.tile = 50});
    const FittedModel model = fitted(p, a);
    const PredictionLoss loss = prediction_loss(prediction_errors({a, model}, {b, model}, meuse_grid(300)));
    EXPECT_NEAR(loss.mloe, 0, 1e-11);
    EXPECT_NEAR(loss.mmom, 0, 1e-11);
    EXPECT_NEAR(loss.rmom, 0, 1e-11);
}

TEST(PredictionLoss, AveragesRelativeErrors) {
    const PredictionLoss loss = prediction_loss({.best = {1, 2}, .real = {1.5, 2}, .claimed = {0.75, 3}});
    EXPECT_DOUBLE_EQ(loss.mloe, 0.25);
    EXPECT_DOUBLE_EQ(loss.mmom, 0);
    EXPECT_DOUBLE_EQ(loss.rmom, 0.5);
    EXPECT_THROW((void)prediction_loss({}), Error);
    EXPECT_THROW((void)prediction_loss({.best = {0}, .real = {1}, .claimed = {1}}), Error);
}

TEST(PredictionLoss, AnOverstatedVarianceIsMisjudgedAndLosesNothing) {
    InlineEngine engine;
    Stream s(engine);
    const DenseProcess p{meuse(), {}, tesela::testing::meuse_kriging_theta};
    DenseProcess twice = p;
    twice.theta.sigma2 *= 2;
    twice.theta.nugget *= 2;
    Likelihood a(s, p.data, p.model, {.tile = 50});
    Likelihood b(s, p.data, p.model, {.tile = 50});
    const PredictionLoss loss =
        prediction_loss(prediction_errors({a, fitted(p, a)}, {b, fitted(twice, b)}, meuse_grid(100)));
    EXPECT_NEAR(loss.mloe, 0, 1e-10);  // weights depend on ratios alone
    EXPECT_NEAR(loss.mmom, 1, 1e-10);
}

}  // namespace
}  // namespace tesela::geo::prediction_loss_test
