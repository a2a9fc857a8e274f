#include "support.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/trace/analysis.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace tesela::trace::graph_test {
namespace {

using testing::TraceBuilder;

/// Tasks with random accesses to a few data and random durations.
Trace random_trace(int tasks, int data) {
    TraceBuilder builder;
    builder.worker(0, 0);
    for (int k = 0; k < tasks; ++k) {
        std::set<std::uint64_t> used;
        std::vector<std::uint64_t> accesses;
        const int count = *rc::gen::inRange(0, 4);
        for (int a = 0; a < count; ++a) {
            const auto datum = static_cast<std::uint64_t>(*rc::gen::inRange(0, data));
            if (!used.insert(datum).second) continue;
            accesses.push_back(pack_access(datum, static_cast<Use>(*rc::gen::inRange(0, 4))));
        }
        const Time duration = *rc::gen::inRange(1, 100);
        builder.task("k", 0, {0, 0, 1000, 1000 + duration}, accesses);
    }
    return builder.trace();
}

/// Whether two tasks may not be exchanged: one writes what the other uses, and they do not both commute on it.
bool conflict(const Trace& trace, std::size_t a, std::size_t b) {
    for (const std::uint64_t x : trace.accesses_of(trace.tasks[a]))
        for (const std::uint64_t y : trace.accesses_of(trace.tasks[b])) {
            if (datum_of(x) != datum_of(y)) continue;
            if (use_of(x) == Use::read && use_of(y) == Use::read) continue;
            if (use_of(x) == Use::commute && use_of(y) == Use::commute) continue;
            return true;
        }
    return false;
}

using Reach = std::vector<std::vector<bool>>;

Reach closure(std::size_t n, const std::function<bool(std::size_t, std::size_t)>& edge) {
    Reach reach(n, std::vector<bool>(n));
    for (std::size_t b = 0; b < n; ++b)
        for (std::size_t a = 0; a < b; ++a) {
            if (!edge(a, b)) continue;
            reach[a][b] = true;
            for (std::size_t c = 0; c < a; ++c)
                if (reach[c][a]) reach[c][b] = true;
        }
    return reach;
}

RC_GTEST_PROP(Graph, OrdersExactlyTheTasksThatConflict, ()) {
    const Trace trace = random_trace(*rc::gen::inRange(1, 25), *rc::gen::inRange(1, 5));
    const Graph graph = dependency_graph(trace);
    const std::size_t n = trace.tasks.size();
    const auto from_graph = closure(n, [&](std::size_t a, std::size_t b) {
        const auto list = graph.predecessors_of(b);
        return std::find(list.begin(), list.end(), a) != list.end();
    });
    // Commuting tasks separated by an ordinary access are ordered through it, which the closure sees too.
    const auto expected = closure(n, [&](std::size_t a, std::size_t b) { return conflict(trace, a, b); });
    RC_ASSERT(from_graph == expected);
}

RC_GTEST_PROP(CriticalPath, EqualsTheLongestOfAllPaths, ()) {
    const Trace trace = random_trace(*rc::gen::inRange(1, 14), *rc::gen::inRange(1, 4));
    const Graph graph = dependency_graph(trace);
    // Every path, one by one, over conflicts rather than over the graph's own edges.
    const std::size_t n = trace.tasks.size();
    Time longest = 0;
    const std::function<void(std::size_t, Time)> extend = [&](std::size_t v, Time before) {
        const Time until = before + trace.tasks[v].duration();
        longest = std::max(longest, until);
        for (std::size_t w = v + 1; w < n; ++w)
            if (conflict(trace, v, w)) extend(w, until);
    };
    for (std::size_t v = 0; v < n; ++v) extend(v, 0);
    const CriticalPath path = critical_path(trace, graph);
    RC_ASSERT(path.length == longest);
    Time sum = 0;
    for (std::size_t k = 0; k < path.tasks.size(); ++k) {
        sum += trace.tasks[path.tasks[k]].duration();
        if (k == 0) continue;
        const auto list = graph.predecessors_of(path.tasks[k]);
        RC_ASSERT(std::find(list.begin(), list.end(), path.tasks[k - 1]) != list.end());
    }
    RC_ASSERT(sum == longest);
}

TEST(Graph, IsThatOfTheRecordedStream) {
    RecordingEngine engine(4);
    Stream stream(engine);
    {
        const Tiling tiling = Tiling::square(700, 100);
        Matrix<double> a(stream, tiling, block_cyclic(tiling.grid(), {2, 2}), {.stored = Stored::lower});
        for (Index j = 0; j < tiling.grid().cols; ++j)
            for (Index i = j; i < tiling.grid().rows; ++i) a(i, j).matrix->set_written({i, j});
        cholesky(stream, a);
    }
    const Recording& recording = engine.recording();
    TraceBuilder builder(4);
    for (const RecordedItem& item : recording.items) {
        std::vector<std::uint64_t> accesses;
        for (const RecordedAccess& access : recording.accesses_of(item))
            accesses.push_back(pack_access(static_cast<std::uint64_t>(access.datum), static_cast<Use>(access.mode)));
        using Kind = RecordedItem::Kind;
        if (item.kind == Kind::retire || item.kind == Kind::discard || item.kind == Kind::share) accesses.clear();
        builder.task("t", -1, {}, accesses);
    }
    const Graph graph = dependency_graph(builder.trace());
    const TaskGraph expected = tesela::dependency_graph(recording);
    ASSERT_EQ(graph.size(), expected.size());
    ASSERT_GT(graph.size(), 80U);
    for (std::size_t v = 0; v < graph.size(); ++v)
        EXPECT_TRUE(std::ranges::equal(graph.predecessors_of(v), expected.predecessors_of(v))) << v;
}

TEST(Graph, MergesStreamsThatShareDataByTheTimeOfCreation) {
    TraceBuilder builder;
    builder.task("write", -1, {10, 0, 0, 0}, {pack_access(5, Use::write)}).id = task_id(0, 0);
    builder.task("late", -1, {40, 0, 0, 0}, {pack_access(5, Use::read)}).id = task_id(0, 1);
    builder.task("other", -1, {20, 0, 0, 0}, {pack_access(5, Use::read_write)}).id = task_id(1, 0);
    const Graph graph = dependency_graph(builder.trace());
    EXPECT_TRUE(std::ranges::equal(graph.predecessors_of(1), std::vector<std::uint32_t>{2}));
    EXPECT_TRUE(std::ranges::equal(graph.predecessors_of(2), std::vector<std::uint32_t>{0}));
}

}  // namespace
}  // namespace tesela::trace::graph_test
