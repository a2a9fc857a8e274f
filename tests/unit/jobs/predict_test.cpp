#include "tesela/jobs/predict.hpp"

#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/model_field.hpp"

#include <gmock/gmock.h>

namespace tesela::jobs::predict_test {
namespace {

/// A model of observations 0, 1, 2, … at random points.
geo::FittedModel model_of(Index n) {
    geo::FittedModel fitted;
    fitted.model.family = CovarianceFamily::exponential;
    fitted.model.trend = geo::Trend::constant;
    fitted.observations.coordinates = geo::random_points(n, 5);
    for (Index i = 0; i < n; ++i) fitted.observations.values.push_back(static_cast<double>(i % 7));
    fitted.result.theta = {.sigma2 = 1, .range = 0.2, .nugget = 0.1};
    return fitted;
}

TEST(Predict, SaysWhereTheTrendOfTheModelIsAnother) {
    geo::FittedModel fitted = model_of(50);
    const geo::Sites places(geo::random_points(10, 9));
    InlineEngine engine;
    Stream stream(engine);
    const geo::ResolvedEvaluation resolved = geo::resolve({}, {.observations = 50}, {});
    const Predicted first = predict(stream, {fitted, places}, resolved);
    EXPECT_FALSE(first.other_coefficient) << "a model that has none";
    fitted.result.trend = first.predictions.trend;
    EXPECT_FALSE(predict(stream, {fitted, places}, resolved).other_coefficient);
    fitted.result.trend.coefficients[0] += 0.01 * first.predictions.trend.standard_errors[0];
    const auto other = predict(stream, {fitted, places}, resolved).other_coefficient;
    ASSERT_TRUE(other);
    EXPECT_EQ(other->estimated, first.predictions.trend.coefficients[0]);
    EXPECT_EQ(other->in_model, fitted.result.trend.coefficients[0]);
}

TEST(Predict, TimeIsNotMeasuredWhereThereIsLittleToDo) {
    const geo::FittedModel fitted = model_of(50);
    const geo::Sites places(geo::random_points(10, 9));
    InlineEngine engine;
    EXPECT_FALSE(expected_time(engine, {fitted, places}, geo::resolve({}, {.observations = 50}, {})));
}

TEST(Predict, TimeOfPlacesIsThatOfTheirSolves) {
    const geo::FittedModel fitted = model_of(4000);
    const geo::Sites places(geo::random_points(100000, 9));
    InlineEngine engine;
    geo::ResolvedEvaluation resolved = geo::resolve({}, {.observations = 4000}, {});
    const auto time = expected_time(engine, {fitted, places}, resolved);
    ASSERT_TRUE(time);
    // n³/3 operations before, n² for each place: 75 times as many, covariances aside.
    EXPECT_GT(time->places, 20 * time->factor);
    EXPECT_LT(time->places, 300 * time->factor);
}

TEST(Predict, AModelTellsHowItsMatrixWasStored) {
    geo::FittedModel fitted = model_of(50);
    RankSampler sampler(fitted.observations, fitted.model, fitted.result.theta);
    EXPECT_FALSE(facts_of(sampler, fitted).stored_part);
    fitted.storage = geo::MatrixStorage{.tile = 20};
    fitted.configuration["compression"] = {{"bytes", 10.0}, {"dense_bytes", 40.0}};
    EXPECT_EQ(facts_of(sampler, fitted).model->tile, 20);
    EXPECT_EQ(facts_of(sampler, fitted).stored_part, 0.25);
}

TEST(Validate, HeldOutObservationsArePredictedFromTheOthers) {
    const geo::FittedModel fitted = model_of(50);
    InlineEngine engine;
    Stream stream(engine);
    const Validation all = validate(stream, {.fitted = fitted, .folds = geo::leave_one_out(50)});
    ASSERT_EQ(all.predictions.mean.size(), 50);
    geo::FittedModel others = fitted;
    geo::Observations last = fitted.observations;
    for (auto& column : others.observations.coordinates) column.pop_back();
    others.observations.values.pop_back();
    for (auto& column : last.coordinates) column.erase(column.begin(), column.end() - 1);
    last.values = {last.values.back()};
    const Validation alone = validate(stream, {.fitted = others, .held_out = last});
    EXPECT_NEAR(alone.predictions.mean[0], all.predictions.mean.back(), 1e-9);
}

TEST(Sample, TheMeanIsAddedToEveryDraw) {
    InlineEngine engine;
    Stream stream(engine);
    SampleRequest request{.field = {.family = CovarianceFamily::exponential, .theta = {.sigma2 = 1, .range = 0.2}},
                          .points = geo::random_points(5, 1),
                          .draws = 2};
    const auto plain = sample(stream, request);
    request.mean = {1, 2, 3, 4, 5};
    const auto shifted = sample(stream, request);
    for (std::size_t draw = 0; draw < 2; ++draw)
        for (std::size_t i = 0; i < 5; ++i)
            EXPECT_DOUBLE_EQ(shifted[draw][i], plain[draw][i] + request.mean[i]) << draw << " " << i;
}

}  // namespace
}  // namespace tesela::jobs::predict_test
