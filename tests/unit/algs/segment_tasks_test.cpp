// Paper 002's redistribution as tasks, by which `tesela-papers paper002` measures its switches.

#include "paper002/segment_tasks.hpp"

#include "support/redistribution.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tesela::segment_tasks_test {
namespace {

using bench::redistribute_by_tasks;
using bench::SegmentTasksOptions;
using testing::owners;

RC_GTEST_PROP(SegmentTasks, MoveWhatRedistributeMoves, ()) {
    InlineEngine engine(3);
    Stream s(engine);
    const ElementIndex size{*rc::gen::inRange<Index>(0, 70), *rc::gen::inRange<Index>(0, 70)};
    const Tiling from = testing::any_tiling(size);
    const Op op = *rc::gen::element(Op::none, Op::transpose);
    const Tiling to = testing::any_tiling(op == Op::none ? size : ElementIndex{size.j, size.i});
    const Matrix<double> A(s, from, owners(testing::any_family(), from.grid(), 3));
    const Matrix<double> B(s, to, owners(testing::any_family(), to.grid(), 3), {.name = "B"});
    const Matrix<double> C(s, to, B.distribution(), {.name = "C"});
    generate(s, A.view(), {testing::source_element});
    if (*rc::gen::arbitrary<bool>())
        for (const auto* target : {&B, &C}) generate(s, target->view(), {testing::target_element});
    const MatrixView<double> source =
        (op == Op::none ? A.view() : A.view().transposed()).as(*rc::gen::element(Part::all, Part::lower));
    redistribute(s, source, B.view());
    redistribute_by_tasks(s, source, C.view(),
                          {.batch = *rc::gen::inRange<Index>(0, 4),
                           .batch_columns = *rc::gen::element<Index>(0, 0, 1, 2, 5),
                           .message_bytes = *rc::gen::element<Index>(1, 300, 2000, 1 << 20),
                           .isolate_segments = *rc::gen::arbitrary<bool>(),
                           .dynamic_volume = *rc::gen::arbitrary<bool>()});
    for (const auto* target : {&B, &C}) testing::zero_what_was_not_written(s, *target);
    RC_ASSERT(gather(s, C.view()) == gather(s, B.view()));
    RC_ASSERT(s.wait().ok());
}

/// The tasks that a redistribution of 8 columns by tasks packs and unpacks messages with, one column each, and
/// what depends on what.
class MessagesOfColumns {
public:
    MessagesOfColumns(const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to,
                      const SegmentTasksOptions& options)
        : engine_(3) {
        Stream s(engine_);
        const Tiling columns = Tiling::uniform({64, 64}, {64, 8});
        Matrix<double> A(s, columns, Distribution(columns.grid(), 3, from));
        Matrix<double> B(s, columns, Distribution(columns.grid(), 3, to), {.name = "B"});
        generate(s, A.view(), {testing::source_element});
        redistribute_by_tasks(s, A.view(), B.view(), options);
        const Recording& recording = engine_.recording();
        graph_ = dependency_graph(recording);
        for (std::uint32_t v = 0; v < recording.items.size(); ++v) {
            if (recording.items[v].kind != RecordedItem::Kind::task) continue;
            const std::string kernel = recording.items[v].kernel->name;
            if (kernel == "pack_segment") packs.push_back(v);
            if (kernel == "unpack_segment") unpacks.push_back(v);
        }
    }

    [[nodiscard]] bool reaches(std::uint32_t from, std::uint32_t to) const {
        std::vector<bool> before(to + 1, false);
        before[to] = true;
        for (std::uint32_t v = to; v > from; --v)
            if (before[v])
                for (const std::uint32_t u : graph_.predecessors_of(v)) before[u] = true;
        return static_cast<bool>(before[from]);
    }

    std::vector<std::uint32_t> packs, unpacks;  ///< by column

private:
    RecordingEngine engine_;
    TaskGraph graph_;
};

TEST(SegmentTasks, KeepsAtMostBatchMessagesUnderWay) {
    // Packing message k between two nodes depends, through a token, on the unpacking of message k - batch: there are
    // `batch` chains of messages, and one of each is under way.
    const MessagesOfColumns messages(std::vector<std::int32_t>(8, 0), std::vector<std::int32_t>(8, 1),
                                     {.batch = 2, .message_bytes = 64 * 8 * 8});
    ASSERT_EQ(messages.packs.size(), 8U);
    for (std::size_t k = 0; k < 8; ++k)
        for (std::size_t m = 0; m < 8; ++m)
            EXPECT_EQ(messages.reaches(messages.unpacks[m], messages.packs[k]), m < k && (k - m) % 2 == 0)
                << m << " " << k;
}

TEST(SegmentTasks, SendsTheNextBatchOfColumnsWhenTheOneBeforeHasArrived) {
    // Nodes 0 and 1 have four columns each, which go to node 2 or to each other. Paper 002's control dependency:
    // packing waits for the unpacking of all that the same node sent of the batch before, wherever that went.
    const std::vector<std::int32_t> from{0, 1, 0, 1, 0, 1, 0, 1};
    const MessagesOfColumns messages(from, {2, 2, 1, 0, 2, 2, 1, 2},
                                     {.batch = 0, .batch_columns = 4, .message_bytes = 64 * 8 * 8});
    ASSERT_EQ(messages.packs.size(), 8U);
    for (std::size_t k = 0; k < 8; ++k)
        for (std::size_t m = 0; m < 8; ++m)
            EXPECT_EQ(messages.reaches(messages.unpacks[m], messages.packs[k]), m < 4 && k >= 4 && from[m] == from[k])
                << m << " " << k;
}

}  // namespace
}  // namespace tesela::segment_tasks_test
