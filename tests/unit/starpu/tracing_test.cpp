#include "support/shared_engine.hpp"
#include "support/trace_file.hpp"
#include "support/traced_cholesky.hpp"
#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

namespace tesela::tracing_test {
namespace {

using testing::engine;
using testing::TraceFile;

TEST(Tracing, RecordsEveryTaskOfTheStreamOnce) {
    const TraceFile file;
    engine().start_trace({.path = file.path});
    EXPECT_TRUE(testing::traced_work(engine()).ok());
    engine().stop_trace();
    const trace::Trace trace = trace::read_trace(file.path);
    EXPECT_TRUE(trace.warnings.empty());
    testing::expect_same_stream(trace, testing::recorded_work(1));
    EXPECT_EQ(trace.workers.size(), 2U);
    EXPECT_FALSE(trace.memory.empty());
    EXPECT_FALSE(trace.waits.empty());
    const trace::Summary summary = trace::summarise(trace, trace::dependency_graph(trace));
    EXPECT_GT(summary.utilisation, 0);
    EXPECT_LE(summary.utilisation, 1);
    EXPECT_LE(summary.area_of_this_schedule, summary.makespan * (1 + 1e-9));
    EXPECT_NEAR(summary.utilisation * 2 * summary.makespan + summary.idle.total(), 2 * summary.makespan, 1e-9);
}

TEST(Tracing, StartsAndStopsWithinAStream) {
    const TraceFile file;
    EXPECT_TRUE(testing::traced_work(engine()).ok());
    for (int repetition = 0; repetition < 3; ++repetition) {
        engine().start_trace({.path = file.path});
        EXPECT_TRUE(testing::traced_work(engine()).ok());
        engine().stop_trace();
        testing::expect_same_stream(trace::read_trace(file.path), testing::recorded_work(1));
    }
    engine().stop_trace();  // nothing to stop
}

TEST(Tracing, LeavesOutWhatWasNotAskedFor) {
    const TraceFile file;
    engine().start_trace({.path = file.path, .modules = {trace::Module::memory}});
    testing::traced_work(engine());
    engine().stop_trace();
    const trace::Trace trace = trace::read_trace(file.path);
    EXPECT_TRUE(trace.tasks.empty());
    EXPECT_TRUE(trace.waits.empty());
    EXPECT_FALSE(trace.memory.empty());
}

TEST(Tracing, RecordsTheTasksThatAFailedStreamSkips) {
    const TraceFile file;
    engine().start_trace({.path = file.path});
    {
        Stream s(engine());
        const Tiling tiling = Tiling::square(200, 40);
        Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1), {.stored = Stored::lower});
        fill(s, A.view(), {1.0, -1.0});
        cholesky(s, A);
        EXPECT_FALSE(s.wait().ok());
    }
    engine().stop_trace();
    const trace::Trace trace = trace::read_trace(file.path);
    EXPECT_EQ(trace.tasks.size(), 15U + 35U);
    for (const trace::TaskRow& task : trace.tasks) EXPECT_TRUE(task.ran());
}

TEST(Tracing, SaysThatItIsOnAlreadyOrCannotWrite) {
    const TraceFile file;
    EXPECT_THROW(engine().start_trace({.path = "/nonexistent/run.trace"}), Error);
    engine().start_trace({.path = file.path});
    EXPECT_THROW(engine().start_trace({.path = file.path + ".other"}), Error);
    engine().stop_trace();
    EXPECT_EQ(trace::read_trace(file.path).tasks.size(), 0U);
}

}  // namespace
}  // namespace tesela::tracing_test
