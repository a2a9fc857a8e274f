#include "support.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/trace_hdf5.hpp"
#include "tesela/io/trace_export.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace tesela::export_test {
namespace {

using namespace trace;
using trace::testing::TemporaryFolder;
using trace::testing::TraceBuilder;

Trace example() {
    TraceBuilder b(2);
    const Code here = b.worker(0, 0);
    const Code there = b.worker(1, 0);
    b.task("say \"hi\"\n", here, {0, 0, 1500, 2500}, {pack_access(0, Use::write)});
    b.task("plain", here, {0, 2500, 2500, 4001}, {pack_access(0, Use::read_write)});
    b.task("plain", there, {0, 4500, 5000, 6000}, {pack_access(0, Use::read)});
    b.task("never", -1, {0, unknown_time, unknown_time, unknown_time}, {pack_access(0, Use::read)});
    Trace trace = b.trace();
    trace.messages = {
        {.direction = Direction::send, .node = 0, .peer = 1, .tag = 0, .bytes = 8, .start = 4100, .end = 4200},
        {.direction = Direction::receive, .node = 1, .peer = 0, .tag = 0, .bytes = 8, .start = 4150, .end = 4400}};
    trace.memory = {{0, 0, 1000, 64}, {0, 0, 7000, -64}};
    trace.events = {{"mine", {{"x"}, {"y", FieldType::real}}, {1}, {3000}, {7, std::bit_cast<std::uint64_t>(0.25)}}};
    return trace;
}

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
}

TEST(Perfetto, IsJsonWithEveryTaskThatRan) {
    const TemporaryFolder folder;
    export_perfetto(example(), folder.file("t.json"));
    const auto events = nlohmann::json::parse(text_of(folder.file("t.json"))).at("traceEvents");
    int tasks = 0;
    for (const auto& event : events) {
        if (event.at("ph") != "X") continue;
        ++tasks;
        if (event.at("args").at("task") != 1) continue;
        EXPECT_DOUBLE_EQ(event.at("ts").get<double>(), 2.5);
        EXPECT_DOUBLE_EQ(event.at("dur").get<double>(), 1.501);
    }
    EXPECT_EQ(tasks, 3);
    const auto mine = std::find_if(events.begin(), events.end(), [](const auto& e) { return e.at("name") == "mine"; });
    ASSERT_NE(mine, events.end());
    EXPECT_EQ(mine->at("args").at("x"), 7);
    EXPECT_EQ(mine->at("args").at("y"), 0.25);
}

TEST(Paje, IsInOrderOfTime) {
    const TemporaryFolder folder;
    export_paje(example(), folder.file("t.paje"));
    std::istringstream lines(text_of(folder.file("t.paje")));
    double before = 0;
    int states = 0;
    int links = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("%")) continue;
        std::istringstream fields(line);
        int event = 0;
        double time = 0;
        fields >> event;
        if (event < 5) continue;
        fields >> time;
        EXPECT_GE(time, before) << line;
        before = time;
        states += event == 7 ? 1 : 0;
        links += event == 9 || event == 10 ? 1 : 0;
    }
    EXPECT_EQ(states, 2 + 2 * 3);  // idle at first, then begin and end of each task
    EXPECT_EQ(links, 2);
}

TEST(Dot, HasABoxPerTaskAndAnArrowPerDependency) {
    const TemporaryFolder folder;
    export_dot(example(), folder.file("t.dot"));
    const std::string text = text_of(folder.file("t.dot"));
    EXPECT_NE(text.find("t0 -> t1;"), std::string::npos);
    EXPECT_NE(text.find("t1 -> t2;"), std::string::npos);
    EXPECT_NE(text.find("t1 -> t3;"), std::string::npos);
    EXPECT_EQ(text.find("t2 -> t3;"), std::string::npos);
    EXPECT_NE(text.find("say \\\"hi\\\""), std::string::npos);
}

TEST(Exports, ThatCannotBeWrittenSaySo) {
    EXPECT_THROW(export_perfetto(example(), "/nonexistent/t"), Error);
    EXPECT_THROW(export_paje(example(), "/nonexistent/t"), Error);
    EXPECT_THROW(export_dot(example(), "/nonexistent/t"), Error);
    EXPECT_THROW(export_hdf5(example(), "/nonexistent/t"), Error);
}

}  // namespace
}  // namespace tesela::export_test
