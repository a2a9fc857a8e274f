#include "tesela/geo/internal/evaluation_log.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tesela::geo::evaluation_log_test {
namespace {

using ::testing::HasSubstr;

SearchPoint point(double x) {
    SearchPoint result{.logs = {x, x / 3},
                       .theta = {.sigma2 = 1.1 * x, .range = 0.1, .smoothness = 1.0 / 3, .nugget = 1e-300},
                       .log_likelihood = -x * 1e5 / 7,
                       .slope = {x / 9, -0.0}};
    result.information = SmallMatrix(2, 2);
    for (std::size_t k = 0; k < 4; ++k) result.information.values[k] = x / static_cast<double>(k + 11);
    return result;
}

void expect_same(const SearchPoint& a, const SearchPoint& b) {
    EXPECT_EQ(a.logs, b.logs);
    EXPECT_EQ(a.theta, b.theta);
    EXPECT_EQ(a.log_likelihood, b.log_likelihood);
    EXPECT_EQ(a.slope, b.slope);
    EXPECT_EQ(a.information.values, b.information.values);
}

struct Folder : ::testing::Test {
    TemporaryDirectory folder;
    std::string file = folder.path("fit.log");
    nlohmann::ordered_json question{{"observations", {155, "ab"}}, {"tile", 16}};
};
using EvaluationLogs = Folder;

TEST_F(EvaluationLogs, GiveBackEveryDigit) {
    const SearchPoint failed{.logs = {1, 2}};
    {
        EvaluationLog log(file, question);
        EXPECT_FALSE(log.has_next());
        log.add(point(1));
        log.add(failed);
        log.add(point(2));
    }
    EvaluationLog again(file, question);
    expect_same(again.next({1, 1.0 / 3}), point(1));
    expect_same(again.next({1, 2}), failed);
    EXPECT_TRUE(again.has_next());
    expect_same(again.next({2, 2.0 / 3}), point(2));
    EXPECT_FALSE(again.has_next());
}

TEST_F(EvaluationLogs, DoNotBelieveALineThatWasCutOffAnywhere) {
    {
        EvaluationLog log(file, question);
        log.add(point(1));
        log.add(point(2));
    }
    const std::string whole = read_file(file);
    const std::size_t second = whole.find('\n', whole.find('\n') + 1) + 1;
    for (std::size_t size = second; size + 1 < whole.size(); ++size) {
        std::ofstream(file, std::ios::trunc) << whole.substr(0, size);
        EvaluationLog log(file, question);
        expect_same(log.next({1, 1.0 / 3}), point(1));
        ASSERT_FALSE(log.has_next()) << size;
    }
}

TEST_F(EvaluationLogs, AnswerNoOtherQuestion) {
    { EvaluationLog log(file, question); }
    const auto refusal = [&](const nlohmann::ordered_json& other) -> std::string {
        try {
            EvaluationLog log(file, other);
        } catch (const Error& error) {
            return error.what();
        }
        return "taken";
    };
    EXPECT_EQ(refusal(question), "taken");
    EXPECT_THAT(refusal({{"observations", {155, "cd"}}, {"tile", 30}}),
                HasSubstr("the observations are others, tile is 16 in it and 30 here. Give another file"));
    EXPECT_EQ(question_in(file), question);
    EXPECT_TRUE(question_in(folder.path("none")).is_null());
    {
        EvaluationLog log(file, question);
        log.add(point(1));
    }
    EvaluationLog log(file, question);
    EXPECT_THROW((void)log.next({5, 5}), Error);
    std::ofstream(file, std::ios::trunc) << "x,y,z\n1,2,3\n";
    EXPECT_THROW(EvaluationLog(file, question), Error);
    EXPECT_EQ(read_file(file), "x,y,z\n1,2,3\n");
    EXPECT_THROW(EvaluationLog(folder.path("no/such"), question), Error);
    EXPECT_THROW(EvaluationLog("/dev/full", question), Error);
}

TEST(PackedPoints, KeepAll) {
    expect_same(unpack(pack(point(3)), point(3).logs), point(3));
    const SearchPoint bare{.logs = {4}, .log_likelihood = 5};
    expect_same(unpack(pack(bare), bare.logs), bare);
}

}  // namespace
}  // namespace tesela::geo::evaluation_log_test
