#include "tesela/geo/model_file.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/io/json_file.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>

namespace tesela::geo::model_file_test {
namespace {

using tesela::testing::meuse;
using ::testing::HasSubstr;

FittedModel fitted_meuse(Trend trend) {
    FittedModel fitted{.model = {.trend = trend}, .observations = meuse(), .result = {}, .program = "tesela test"};
    fitted.model.choice(Parameter::smoothness).fixed = 0.5;
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, fitted.observations, fitted.model, {.tile = 50});
    fitted.result = fit(likelihood);
    fitted.storage = {.tile = 50, .compression = TileAccuracy{.accuracy = 1e-7, .band = 3, .refine = 1e-11}};
    fitted.configuration["na"] = "drop";
    return fitted;
}

/// As it comes back from a file.
nlohmann::json on_disk(const FittedModel& fitted) { return nlohmann::json::parse(to_json(fitted).dump()); }

TEST(ModelFile, ReadsBackWhatPredictionNeedsToTheLastBit) {
    for (const Trend trend : {Trend::none, Trend::constant, Trend::linear}) {
        const FittedModel before = fitted_meuse(trend);
        const FittedModel after = model_from_json(on_disk(before));
        EXPECT_EQ(after.result.theta, before.result.theta);
        EXPECT_EQ(after.observations.coordinates, before.observations.coordinates);
        EXPECT_EQ(after.observations.values, before.observations.values);
        EXPECT_EQ(after.result.trend.names, before.result.trend.names);
        EXPECT_EQ(after.result.trend.coefficients, before.result.trend.coefficients);
        EXPECT_EQ(after.result.trend.standard_errors, before.result.trend.standard_errors);
        EXPECT_EQ(after.model.trend, trend);
        EXPECT_EQ(after.model.choice(Parameter::smoothness).fixed, 0.5);
        EXPECT_FALSE(after.model.choice(Parameter::range).fixed);
        EXPECT_EQ(after.result.log_likelihood, before.result.log_likelihood);
        EXPECT_EQ(after.result.evaluations, before.result.evaluations);
        EXPECT_EQ(after.configuration["na"], "drop");
        EXPECT_EQ(to_json(*after.storage), to_json(*before.storage));
    }
}

TEST(ModelFile, HasTheKeysThatScriptsLookFor) {
    const auto json = to_json(fitted_meuse(Trend::constant));
    EXPECT_EQ(json.at("format"), "tesela-model");
    for (const char* key :
         {"loglik", "theta", "trend", "evaluations", "seconds", "stop_reason", "convention", "warnings"})
        EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json.at("stop_reason"), "converged");
    EXPECT_EQ(json.at("parameters").at("smoothness").at("role"), "fixed");
    EXPECT_NEAR(json.at("theta").at("range").get<double>(), tesela::testing::meuse_fits()[0].theta.range, 21);
    EXPECT_THAT(json.at("convention").get<std::string>(), HasSubstr("K_ν(r/β)"));
}

std::string message_without(const nlohmann::json& json) {
    try {
        (void)model_from_json(json);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ModelFile, NamesTheFieldThatIsMissingOrWrong) {
    const nlohmann::json good = on_disk(fitted_meuse(Trend::constant));
    for (const char* key : {"format", "version", "family", "metric", "theta", "parameters", "trend", "observations",
                            "columns", "loglik", "stop_reason"}) {
        nlohmann::json bad = good;
        bad.erase(key);
        EXPECT_THAT(message_without(bad), HasSubstr(key));
        bad[key] = nlohmann::json::array({nullptr});
        EXPECT_THAT(message_without(bad), HasSubstr(key));
    }
    nlohmann::json bad = good;
    bad["theta"].erase("range");
    EXPECT_THAT(message_without(bad), HasSubstr("theta.range is missing"));
    bad = good;
    bad["family"] = "linear";
    EXPECT_THAT(message_without(bad), HasSubstr("field family: \"linear\" is not a covariance family"));
    bad = good;
    bad["version"] = 2;
    EXPECT_THAT(message_without(bad), HasSubstr("version 1"));
    bad["version"] = 4294967297;
    EXPECT_THAT(message_without(bad), HasSubstr("field version is 4294967297"));
    bad = good;
    bad["evaluations"] = 1e300;
    EXPECT_THAT(message_without(bad), HasSubstr("field evaluations must be a whole number"));
}

TEST(ModelFile, TheParametersAreThoseOfTheta) {
    nlohmann::json file = on_disk(fitted_meuse(Trend::constant));
    file["theta"]["range"] = 250;
    file["theta"]["smoothness"] = 0.7;
    const FittedModel read = model_from_json(file);
    EXPECT_EQ(read.result.theta.range, 250);
    EXPECT_EQ(read.model.choice(Parameter::smoothness).fixed, 0.7);
}

TEST(ModelFile, ASecondValueThatDiffersIsRefused) {
    nlohmann::json file = on_disk(fitted_meuse(Trend::constant));
    file["theta"]["range"] = 250;
    file["parameters"]["range"]["value"] = 250;
    EXPECT_EQ(model_from_json(file).result.theta.range, 250);
    file["parameters"]["range"]["value"] = 251;
    EXPECT_THAT(message_without(file),
                HasSubstr("the fields theta.range and parameters.range.value differ, 250 and 251"));
    file["parameters"]["range"].erase("value");
    file["family"] = "exponential";
    EXPECT_THAT(message_without(file), HasSubstr("theta.smoothness: the family exponential has no smoothness"));
}

TEST(ModelFile, AFileThatIsNoModelIsNamed) {
    const std::string path = ::testing::TempDir() + "/tesela_model_" + std::to_string(getpid()) + ".json";
    nlohmann::ordered_json json = to_json(fitted_meuse(Trend::constant));
    write_json_file(path, json);
    EXPECT_EQ(read_model(path).observations.size(), 155);
    EXPECT_TRUE(is_model_file(path));
    EXPECT_FALSE(is_model_file(TESELA_DATA_DIR "/meuse.csv"));
    EXPECT_FALSE(is_model_file(path + ".not"));
    json["observations"]["values"].erase(0);
    write_json_file(path, json);
    try {
        (void)read_model(path);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(path));
        EXPECT_THAT(error.what(), HasSubstr("154 values at 155 points"));
    }
    std::remove(path.c_str());
}

}  // namespace
}  // namespace tesela::geo::model_file_test
