#include "harness/experiment.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tesela::bench::experiment_test {
namespace {

struct CountOptions {
    int count = 1;
};

void add_count_options(CLI::App& command, CountOptions& options) {
    command.add_option("--count", options.count, "At most 3 is right");
}

Report run_count(const CountOptions& options) {
    if (options.count < 0) throw Error("--count must be at least 0");
    return {.figures = {{"count", options.count}}, .checks = {at_most("the count", options.count, 3)}};
}

Report run_nothing(const CountOptions&) { return {}; }

/// What a program with the experiments `count` and `nothing` returns, and what it says.
struct Ending {
    int exit_code = 0;
    std::string out;
    std::string err;
};
Ending run_program(std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const ExperimentProgram program{.name = "program",
                                    .description = "What a test runs",
                                    .experiments = {experiment("count", "Counts", add_count_options, run_count),
                                                    experiment("nothing", "Does", add_count_options, run_nothing)}};
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int exit_code = run_experiment(program, static_cast<int>(words.size()), arguments.data());
    return {.exit_code = exit_code,
            .out = ::testing::internal::GetCapturedStdout(),
            .err = ::testing::internal::GetCapturedStderr()};
}

TEST(Experiments, ThatMeetTheirBarsEndWith0) {
    const Ending by_default = run_program({"count", "--json"});
    EXPECT_EQ(by_default.exit_code, 0);
    EXPECT_EQ(Row::parse(by_default.out), as_json(run_count({})));
    const Ending ending = run_program({"count", "--count", "3"});
    EXPECT_EQ(ending.exit_code, 0);
    EXPECT_EQ(ending.out, as_text(run_count({.count = 3})));
    EXPECT_EQ(ending.err, "");
}

TEST(Experiments, ThatMissABarEndWith1AndPrintTheirReportAllTheSame) {
    const Ending ending = run_program({"count", "--count", "4"});
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_EQ(ending.out, as_text(run_count({.count = 4})));
}

TEST(Experiments, ThatThrowAnErrorEndWith2AndOneLineThatNamesThem) {
    const Ending ending = run_program({"count", "--count", "-1"});
    EXPECT_EQ(ending.exit_code, 2);
    EXPECT_EQ(ending.out, "");
    EXPECT_EQ(ending.err, "program count: --count must be at least 0\n");
}

TEST(Experiments, ThatDoNotExistOrWhoseOptionsDoNotEndWith2) {
    using Words = std::vector<std::string>;
    for (const Words& words : {Words{}, Words{"recount"}, Words{"count", "--most", "3"}, Words{"count", "--count", "x"},
                               Words{"count", "4"}}) {
        const Ending ending = run_program(words);
        EXPECT_EQ(ending.exit_code, 2) << ::testing::PrintToString(words);
        EXPECT_EQ(ending.out, "") << ::testing::PrintToString(words);
        EXPECT_NE(ending.err.find("(see --help)\n"), std::string::npos) << ending.err;
    }
}

TEST(Experiments, SayWhatTheyAreAndEndWith0) {
    const Ending ending = run_program({"count", "--help"});
    EXPECT_EQ(ending.exit_code, 0);
    EXPECT_NE(ending.out.find("At most 3 is right"), std::string::npos) << ending.out;
}

}  // namespace
}  // namespace tesela::bench::experiment_test
