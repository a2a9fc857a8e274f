#include "support/redistribution.hpp"

#include "support/cases.hpp"
#include "support/shared_engine.hpp"
#include "tesela/distribution/redistribution.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/flow/scalapack.hpp"
#include "tesela/trace/trace.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace tesela::redistribution_test {
namespace {

using testing::any_redistribution;
using testing::engine;
using testing::owners;
using testing::Redistribution;

// Every node draws the same cases and gathers the same values, so all agree on what fails.

template <class T>
void moves_every_element() {
    const Redistribution r = any_redistribution();
    RC_LOG() << r.name() << (sizeof(T) == 4 ? " of floats" : "") << "\n";
    RC_ASSERT(testing::run_redistribution<T>(engine(), r) == testing::expected_target<T>(r));
}

RC_GTEST_PROP(Redistribution, MovesEveryElementToItsPlace, ()) {
    for (int k = 0; k < 3; ++k) {
        moves_every_element<double>();
        moves_every_element<float>();
    }
}

template <class T>
void there_and_back() {
    Redistribution r = any_redistribution();
    r.op = Op::none;
    r.from = testing::any_tiling({r.from_offset.i + r.size.i + 3, r.from_offset.j + r.size.j + 1});
    const Index nodes = engine().node_count();
    Stream s(engine());
    Matrix<T> A(s, r.from, owners(r.from_family, r.from.grid(), nodes));
    Matrix<T> B(s, r.to, owners(r.to_family, r.to.grid(), nodes), {.name = "B"});
    Matrix<T> C(s, r.from, owners("random:8", r.from.grid(), nodes), {.name = "C"});
    generate(s, A.view(), {testing::source_element});
    generate(s, C.view(), {testing::source_element});
    const MatrixView<T> source = A.view().as(r.part);
    redistribute(s, source, B.view(), r.options);
    std::swap(r.options.from_offset, r.options.to_offset);
    r.options.size = r.size;
    redistribute(s, B.view(), C.view().as(r.part), r.options);
    RC_ASSERT(gather(s, C.view()) == gather(s, A.view()));
    RC_ASSERT(s.wait().ok());
}

RC_GTEST_PROP(Redistribution, ThereAndBackIsTheIdentity, ()) {
    there_and_back<double>();
    there_and_back<float>();
}

template <class T>
class RedistributionOf : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RedistributionOf, ElementTypes);

TYPED_TEST(RedistributionOf, ALowerTriangleNeedsNoUpperTiles) {
    using T = TypeParam;
    const Index nodes = engine().node_count();
    Stream s(engine());
    const Tiling from = Tiling::square(97, 13);
    const Tiling to = Tiling::square(97, 20);
    Matrix<T> A(s, from, owners("random:1", from.grid(), nodes), {.stored = Stored::lower});
    Matrix<T> B(s, to, owners("block_cyclic", to.grid(), nodes), {.name = "B", .stored = Stored::lower});
    generate(s, A.view(), {testing::spd_element});
    redistribute(s, A.view(), B.view());
    cholesky(s, B);
    Matrix<T> C(s, to, owners("random:2", to.grid(), nodes), {.name = "C", .stored = Stored::lower});
    generate(s, C.view(), {testing::spd_element});
    cholesky(s, C);
    const auto redistributed = gather(s, B.view());
    const auto direct = gather(s, C.view());
    ASSERT_TRUE(s.wait().ok());
    // The same tiles and the same tasks, whoever owns them.
    for (Index j = 0; j < 97; ++j)
        for (Index i = j; i < 97; ++i)
            ASSERT_NEAR(redistributed[static_cast<std::size_t>(i + 97 * j)],
                        direct[static_cast<std::size_t>(i + 97 * j)], 4096 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(RedistributionOf, TilesToOtherOwnersInPlace) {
    const Index nodes = engine().node_count();
    Stream s(engine());
    const Tiling tiling = Tiling::square(90, 16);
    Matrix<TypeParam> A(s, tiling, owners("block_cyclic", tiling.grid(), nodes));
    generate(s, A.view(), {testing::source_element});
    const auto before = gather(s, A.view());
    const Distribution other = owners("random:5", tiling.grid(), nodes);
    redistribute(s, A.view(), other);
    EXPECT_EQ(A.distribution(), other);
    EXPECT_EQ(gather(s, A.view()), before);
    EXPECT_TRUE(s.wait().ok());
}

struct Sent {
    double bytes = 0;
    double messages = 0;
};

/// What this node has sent so far.
Sent sent_so_far() {
    Sent total;
    for (const auto& to : engine().sent()) {
        total.bytes += static_cast<double>(to.bytes);
        total.messages += static_cast<double>(to.messages);
    }
    return total;
}

/// What this node sends while one redistribution runs.
template <class T>
Sent sent_by(const Redistribution& r) {
    Stream s(engine());
    const Index nodes = engine().node_count();
    Matrix<T> A(s, r.from, owners(r.from_family, r.from.grid(), nodes));
    Matrix<T> B(s, r.to, owners(r.to_family, r.to.grid(), nodes), {.name = "B"});
    generate(s, A.view(), {testing::source_element});
    EXPECT_TRUE(s.wait().ok());
    const Sent before = sent_so_far();
    redistribute(s, testing::source_view(r, A), B.view(), r.options);
    EXPECT_TRUE(s.wait().ok());
    const Sent after = sent_so_far();
    return {after.bytes - before.bytes, after.messages - before.messages};
}

template <class T>
void sends_the_bytes_of_the_schedule() {
    const Redistribution r = any_redistribution();
    RC_LOG() << r.name();
    const Index nodes = engine().node_count();
    const Distribution from = owners(r.from_family, r.from.grid(), nodes);
    const Distribution to = owners(r.to_family, r.to.grid(), nodes);
    const Owners both{from, to};
    RecordingEngine recorder(nodes);
    Stream s(recorder);
    Matrix<T> A(s, r.from, from);
    Matrix<T> B(s, r.to, to);
    const Overlay overlay = redistribution_overlay(testing::source_view(r, A), B.view(), r.options);
    const RedistributionVolume volume = redistribution_volume(overlay, both, dense_bytes(sizeof(T)));
    const auto me = static_cast<std::size_t>(engine().this_node().number());
    const auto mine = static_cast<double>(me < volume.nodes.size() ? volume.nodes[me].sent : 0);

    const Sent exchanged = sent_by<T>(r);
    RC_ASSERT(exchanged.bytes == mine);
}

RC_GTEST_PROP(Redistribution, SendsTheBytesOfTheScheduleAndNoMore, ()) {
    sends_the_bytes_of_the_schedule<double>();
    sends_the_bytes_of_the_schedule<float>();
}

TEST(Redistribution, IsRefusedBeforeAnyMessageWhereItCannotBe) {
    Stream s(engine());
    const Index nodes = engine().node_count();
    const Tiling small = Tiling::square(20, 8);
    const Tiling large = Tiling::square(40, 8);
    Matrix<double> A(s, large, owners("block_cyclic", large.grid(), nodes));
    Matrix<double> B(s, small, owners("block_cyclic", small.grid(), nodes), {.name = "B"});
    Matrix<double> L(s, small, owners("block_cyclic", small.grid(), nodes), {.name = "L", .stored = Stored::lower});
    generate(s, A.view(), {testing::source_element});
    ASSERT_TRUE(s.wait().ok());
    const Sent before = sent_so_far();
    EXPECT_THROW(redistribute(s, A.view(), B.view()), Error);  // larger than the target
    EXPECT_THROW(redistribute(s, A.view(), B.view(), {.size = {10, 10}, .to_offset = {11, 0}}), Error);
    EXPECT_THROW(redistribute(s, A.view(), B.view(), {.size = {10, 10}, .from_offset = {-1, 0}}), Error);
    EXPECT_THROW(redistribute(s, B.view(), A.view()), Error);  // nothing wrote B
    EXPECT_THROW(redistribute(s, A.view(), L.view().as(Part::all), {.size = {20, 20}}), Error);
    // Overlapping parts of one matrix.
    EXPECT_THROW(redistribute(s, A.view(), A.view(), {.size = {20, 20}, .to_offset = {10, 10}}), Error);
    EXPECT_THROW(redistribute(s, A.view(), owners("1d", small.grid(), nodes)), Error);
    EXPECT_TRUE(s.wait().ok());
    EXPECT_EQ(sent_so_far().messages, before.messages);
    // Parts of one matrix that share no tile are fine.
    redistribute(s, A.view(), A.view(), {.size = {8, 8}, .to_offset = {16, 24}});
    const auto all = gather(s, A.view());
    EXPECT_EQ(all[16 + 24 * 40], testing::source_element(nullptr, {0, 0}));
    EXPECT_EQ(all[23 + 31 * 40], testing::source_element(nullptr, {7, 7}));
    EXPECT_TRUE(s.wait().ok());
}

/// A failed stream still sends and receives, so that no node waits for another.
TEST(Redistribution, EndsThoughTheStreamHasFailed) {
    Stream s(engine());
    const Index nodes = engine().node_count();
    const Tiling tiling = Tiling::square(60, 16);
    Matrix<double> A(s, tiling, owners("random:1", tiling.grid(), nodes));
    Matrix<double> B(s, Tiling::square(60, 7), owners("random:2", Tiling::square(60, 7).grid(), nodes), {.name = "B"});
    generate(s, A.view(), {testing::target_element});  // not positive definite
    cholesky(s, A);
    redistribute(s, A.view(), B.view());
    redistribute(s, B.view(), A.view());
    EXPECT_EQ(s.wait().failure, Failure::not_positive_definite);
}

TEST(Redistribution, SeveralRunAtTheSameTime) {
    const Index nodes = engine().node_count();
    Stream one(engine(), {.name = "one"});
    Stream two(engine(), {.name = "two"});
    const Tiling from = Tiling::square(150, 17);
    const Tiling to = Tiling::square(150, 26);
    const auto there_and_back = [&](Stream& s, Matrix<double>& A, Matrix<double>& B) {
        for (int k = 0; k < 3; ++k) {
            redistribute(s, A.view(), B.view(), {.message_bytes = 4000});
            redistribute(s, B.view().transposed(), A.view(), {.message_bytes = 4000});
        }
    };
    std::vector<std::unique_ptr<Matrix<double>>> matrices;
    for (Stream* s : {&one, &two}) {
        matrices.push_back(std::make_unique<Matrix<double>>(*s, from, owners("random:1", from.grid(), nodes)));
        matrices.push_back(std::make_unique<Matrix<double>>(*s, to, owners("random:2", to.grid(), nodes)));
        generate(*s, matrices[matrices.size() - 2]->view(), {testing::source_element});
    }
    there_and_back(one, *matrices[0], *matrices[1]);
    there_and_back(two, *matrices[2], *matrices[3]);
    for (Stream* s : {&one, &two}) {
        const auto& A = *matrices[s == &one ? 0 : 2];
        const auto all = gather(*s, A.view());
        for (Index j = 0; j < 150; ++j)  // transposed three times
            for (Index i = 0; i < 150; ++i)
                ASSERT_EQ(all[static_cast<std::size_t>(i + 150 * j)], testing::source_element(nullptr, {j, i}));
        EXPECT_TRUE(s->wait().ok());
    }
}

TYPED_TEST(RedistributionOf, ScalapackArraysNeedsNoCopy) {
    using T = TypeParam;
    const Index nodes = engine().node_count();
    const ScalapackLayout layout{
        .descriptor = {1, 0, 53, 47, 9, 7, 0, 0, 60}, .grid = {1, nodes}, .order = GridOrder::column_major};
    std::vector<T> local(60 * 60, -1);
    Stream s(engine());
    {
        Matrix<T> S = over_scalapack(s, layout, local.data(), "S");
        const Tiling tiling = Tiling::uniform({53, 47}, {16, 16});
        Matrix<T> A(s, tiling, owners("random:3", tiling.grid(), nodes));
        generate(s, A.view(), {testing::source_element});
        redistribute(s, A.view(), S.view());
    }
    EXPECT_TRUE(s.wait().ok());
    const Index me = engine().this_node().number();
    for (Index j = 0; j < layout.local_size(engine().this_node()).j; ++j)
        for (Index i = 0; i < 60; ++i) {
            const Index column = (j / 7 * nodes + me) * 7 + j % 7;  // of the whole matrix: one row of processes
            const double expected = i < 53 ? testing::source_element(nullptr, {i, column}) : -1;
            ASSERT_EQ(local[static_cast<std::size_t>(i + 60 * j)], expected);
        }
}

std::string shared_path() {
    return (std::filesystem::temp_directory_path() / ("tesela-overlap-" + std::to_string(getppid()))).string();
}

/// When a factorisation began, and when the messages of the redistribution before it arrived, as a trace shows them.
struct Arrivals {
    trace::Time first_factorisation = std::numeric_limits<trace::Time>::max();
    std::vector<trace::Time> received;

    [[nodiscard]] std::size_t after_the_start() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(received, [&](trace::Time time) { return time > first_factorisation; }));
    }
};
Arrivals arrivals_in(const trace::Trace& trace) {
    Arrivals arrivals;
    for (const trace::TaskRow& task : trace.tasks)
        if (trace.kernels[static_cast<std::size_t>(task.kernel)] == "dpotrf")
            arrivals.first_factorisation = std::min(arrivals.first_factorisation, task.start);
    for (const trace::MessageRow& message : trace.messages)
        if (message.direction == trace::Direction::receive && message.matrix >= 0 &&
            trace.matrices[static_cast<std::size_t>(message.matrix)].name == "parcels")
            arrivals.received.push_back(message.end);
    return arrivals;
}

/// Redistributes and factorises, traced; how many messages of the redistribution arrived after the factorisation had
/// begun, as node 0 sees it.
std::size_t arrive_during_the_factorisation(const std::string& path) {
    const Tiling from = Tiling::square(1600, 100);
    const Tiling to = Tiling::square(1600, 64);
    const Index nodes = engine().node_count();
    {
        Stream s(engine());
        Matrix<double> A(s, from, owners("random:1", from.grid(), nodes), {.stored = Stored::lower});
        Matrix<double> B(s, to, owners("block_cyclic", to.grid(), nodes), {.name = "B", .stored = Stored::lower});
        generate(s, A.view(), {testing::spd_element});
        EXPECT_TRUE(s.wait().ok());
        engine().start_trace({.path = path});
        redistribute(s, A.view(), B.view(), {.message_bytes = 20000});
        cholesky(s, B);
        EXPECT_TRUE(s.wait().ok());
        engine().stop_trace();
    }
    engine().barrier();
    std::size_t late = 0;
    if (engine().is_first()) {
        const Arrivals arrivals = arrivals_in(trace::read_trace(path));
        EXPECT_GT(arrivals.received.size(), 10U);
        late = arrivals.after_the_start();
        for (Index node = 0; node < nodes; ++node)
            std::filesystem::remove(node == 0 ? path : fmt::format("{}.{}", path, node));
    }
    return static_cast<std::size_t>(engine().max(static_cast<double>(late)));
}

// On a machine that is busy otherwise the thread that submits may be held up until everything has arrived: so one of
// several tries must overlap.
TEST(Redistribution, MessagesStillArriveWhenTheFactorisationHasBegun) {
    if (engine().node_count() == 1) GTEST_SKIP() << "nothing arrives on one node";
    std::size_t late = 0;
    for (int attempt = 0; attempt < 20 && late == 0; ++attempt) late = arrive_during_the_factorisation(shared_path());
    EXPECT_GT(late, 0U);
}

}  // namespace
}  // namespace tesela::redistribution_test
