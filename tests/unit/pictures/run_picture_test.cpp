#include "tesela/pictures/run_picture.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/colour.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tesela::run_picture_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Two cores, of which one reads for the first half of the time and both multiply in the second.
RunsPicture example() {
    PicturedRun run{.title = "one & only", .makespan = 2};
    run.workers.push_back({.node = 0, .count = 2, .work = {{{0, 1}, 0}, {{1, 2}, 1}, {{1, 2}, 1}}});
    run.workers.push_back({.node = 0, .kind = PicturedWorkers::Kind::accelerators, .count = 1});
    return {.title = "runs", .parts = {"reading", "product"}, .runs = {run}};
}

TEST(DrawRuns, ShowsSharesOfTheWorkersTime) {
    const std::string svg = draw_runs(example());
    // The strip of the cores is 34 high from 72 on, 330 wide from 0 on, and time goes to 2: half of it for half.
    EXPECT_TRUE(holds(svg, "M0 106H0V89H165V106Z")) << svg;
    // Products are on top of what is read, all of it in the second half.
    EXPECT_TRUE(holds(svg, "M0 106H0V89H165V72H330V106Z")) << svg;
    for (const char* text :
         {"one &amp; only: 2", ">node 0 cores<", ">node 0 GPUs<", ">reading<", ">product<", ">runs<"})
        EXPECT_TRUE(holds(svg, text)) << text;
}

TEST(DrawRuns, StepsAndMemoryAreThereWhereARunHasThem) {
    RunsPicture picture = example();
    EXPECT_FALSE(holds(draw_runs(picture), "main memory"));
    picture.runs[0].memory = {{{0, 1e9}, {1, 2e9}}};
    picture.runs[0].steps = {{.part = 1, .step = 3, .span = {1, 2}}};
    picture.steps_label = "row";
    const std::string svg = draw_runs(picture);
    EXPECT_TRUE(holds(svg, "main memory in use"));
    EXPECT_TRUE(holds(svg, ">row<"));
    EXPECT_TRUE(holds(svg, ">3<"));  // the last of four steps, 110 / 4 high each from 56 on
    const std::string colour = hex(categorical_colour(1));
    EXPECT_TRUE(holds(svg, "stroke=\"" + colour + "\" stroke-width=\"27.5\" d=\"M165 152.3H330\"")) << svg;
}

TEST(DrawRuns, RunsStandBesideEachOtherOnOneScaleOfTime) {
    RunsPicture picture = example();
    picture.runs.push_back(picture.runs[0]);
    picture.runs[1].makespan = 4;
    const std::string svg = draw_runs(picture);
    EXPECT_TRUE(holds(svg, "M0 106H0V89H81V97.5H84V106Z")) << svg;  // in bins of 3 pixels, of which one is half full
    EXPECT_EQ(svg.find(">node 0 cores<"), svg.rfind(">node 0 cores<"));
}

/// Where a text stands, counted from the top.
double height_of(const std::string& svg, const std::string& text) {
    const std::size_t line = svg.rfind("<text", svg.find(">" + text + "<"));
    return std::stod(svg.substr(svg.find(" y=\"", line) + 4));
}

TEST(DrawRuns, CaptionsStandBelowTitlesWithAndWithoutSteps) {
    RunsPicture picture = example();
    for (const bool with_steps : {false, true}) {
        if (with_steps) picture.runs[0].steps = {{.part = 1, .step = 3, .span = {1, 2}}};
        const std::string svg = draw_runs(picture);
        constexpr double line = 12;
        EXPECT_GE(height_of(svg, "reading"), height_of(svg, "runs") + line);
        EXPECT_GE(height_of(svg, "one &amp; only: 2.00 s"), height_of(svg, "reading") + line);
        EXPECT_GE(height_of(svg, "busy workers of each node"), height_of(svg, "one &amp; only: 2.00 s") + line);
    }
}

TEST(DrawRuns, RefusesPartsWithoutNames) {
    RunsPicture picture = example();
    picture.parts.pop_back();
    EXPECT_THROW((void)draw_runs(picture), Error);
    EXPECT_THROW((void)draw_runs({.title = "none", .parts = {}, .runs = {}}), Error);
}

}  // namespace
}  // namespace tesela::run_picture_test
