#pragma once

// The same stream traced on an engine and recorded, so that one can be held against the other.

#include "support/cases.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/trace/analysis.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tesela::testing {

/// Generates, factorizes, solves, and reads one value back; returns how it ended.
inline Status traced_work(Engine& engine) {
    Stream s(engine, {.name = "traced"});
    const Tiling tiling = Tiling::square(330, 40);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    Matrix<double> B(s, tiling.with_columns(3, 3), along_diagonal(A.distribution(), 1), {.name = "B"});
    {
        const auto phase = s.phase("generation");
        generate(s, A.view(), {spd_element});
        generate(s, B.view(), {spd_element});
    }
    {
        const auto phase = s.phase("factorization");
        cholesky(s, A);
    }
    {
        const auto phase = s.phase("solve");
        solve_cholesky(s, A.view(), B.view(), {});
    }
    const auto fetched = s.fetch(B(0, 0));
    fetched->wait();
    return s.wait();
}

inline Recording recorded_work(Index nodes) {
    RecordingEngine engine(nodes);
    traced_work(engine);
    return engine.take();
}

/// A trace holds every task of the recorded stream once, with its kernel, step, phase and place, in a sensible order of
/// times, and its graph is that of the recording.
inline void expect_same_stream(const trace::Trace& trace, const Recording& recording) {
    std::vector<const RecordedItem*> items;  // by position in the stream
    std::vector<std::size_t> position(recording.items.size(), recording.items.size());
    for (std::size_t v = 0; v < recording.items.size(); ++v) {
        const RecordedItem& item = recording.items[v];
        if (item.kind != RecordedItem::Kind::task && item.kind != RecordedItem::Kind::fetch) continue;
        position[v] = items.size();
        items.push_back(&item);
    }
    std::map<std::string, Index> kernels;
    std::set<std::uint64_t> seen;
    double flops = 0;
    const std::uint64_t first = trace.tasks.front().id;  // the stream's number is not the same in every run
    for (const trace::TaskRow& task : trace.tasks) {
        ASSERT_LT(task.id - first, items.size());
        const RecordedItem& item = *items[task.id - first];
        EXPECT_TRUE(task.ran()) << task.id;
        EXPECT_LE(task.created, task.ready);
        EXPECT_LE(task.ready, task.start);
        EXPECT_LE(task.start, task.end);
        if (task.kind == trace::TaskKind::fetch) continue;
        EXPECT_TRUE(seen.insert(task.id).second) << "task " << task.id << " was recorded twice";
        ++kernels[trace::name_of(trace.kernels, task.kernel)];
        EXPECT_EQ(task.step, item.step);
        EXPECT_EQ(task.priority, item.priority);
        EXPECT_EQ(task.node, item.node);
        EXPECT_EQ(trace::name_of(trace.phases, task.phase), recording.phases[static_cast<std::size_t>(item.phase)]);
        flops += task.flops;
    }
    EXPECT_EQ(kernels, recording.count_by_kernel());
    EXPECT_NEAR(flops, recording.flops(), 1e-6 * recording.flops());

    // Edges by position; a value that is fetched is one vertex per node here and one in the recording.
    using Edges = std::set<std::pair<std::uint64_t, std::uint64_t>>;
    Edges traced;
    const trace::Graph graph = trace::dependency_graph(trace);
    for (std::size_t v = 0; v < graph.size(); ++v)
        for (const std::uint32_t u : graph.predecessors_of(v))
            traced.insert({trace.tasks[u].id - first, trace.tasks[v].id - first});
    Edges expected;
    const TaskGraph recorded = dependency_graph(recording);
    for (std::size_t v = 0; v < recorded.size(); ++v)
        for (const std::uint32_t u : recorded.predecessors_of(v))
            if (position[u] < items.size() && position[v] < items.size()) expected.insert({position[u], position[v]});
    EXPECT_EQ(traced, expected);
}

}  // namespace tesela::testing
