#include "limits/limited.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/net/nodes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace tesela {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const StarpuOptions one_worker{.workers = 1, .warnings = Warnings::keep};

/// All nodes learn what one of them could not do, and can go on.
TEST(Start, ThatFailsOnOneNodeIsAnErrorOnAll) {
    const int last = net::Nodes().count() - 1;
    StarpuOptions options = one_worker;
    if (net::Nodes().me() == last) options.scheduler = "nonsense";
    EXPECT_THAT([&] { StarpuEngine engine(options); }, ThrowsMessage<Error>(HasSubstr("nonsense")));
    StarpuEngine engine(one_worker);
    EXPECT_EQ(engine.max(1), 1);
}

TEST(Start, RefusesTagsAndMemoryThatCannotBe) {
    StarpuOptions options = one_worker;
    options.memory_bytes = -5;
    EXPECT_THROW(StarpuEngine engine(options), Error);
    if (net::Nodes().count() == 1) return;
    for (const int tag : {-1, 1, 254, 510}) {
        options = one_worker;
        options.largest_tag = tag;
        EXPECT_THAT([&] { StarpuEngine engine(options); }, ThrowsMessage<Error>(HasSubstr("largest tag"))) << tag;
    }
    options.largest_tag = 511;
    StarpuEngine engine(options);
    EXPECT_TRUE(Stream(engine).wait().ok());
}

TEST(End, OfAnEngineBeforeItsStreamsAndMatricesIsNoAbort) {
    const Tiling tiling = Tiling::square(8, 4);
    std::unique_ptr<Stream> s;
    std::unique_ptr<Matrix<double>> A;
    {
        StarpuEngine engine(one_worker);
        s = std::make_unique<Stream>(engine);
        A = std::make_unique<Matrix<double>>(*s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()));
        fill(*s, *A, {});
    }
    EXPECT_THAT([&] { fill(*s, *A, {}); }, ThrowsMessage<Error>(HasSubstr("after its engine is gone")));
    EXPECT_THROW((void)s->wait(), Error);
    EXPECT_THROW(Matrix<double>(*s, tiling, squarest_block_cyclic(tiling.grid(), 1)), Error);
    StarpuEngine engine(one_worker);  // another does not know them
    EXPECT_THROW(fill(*s, *A, {}), Error);
}

/// Two threads on each node, each with a stream of its own, in an order that differs between nodes.
TEST(Threads, DriveStreamsOfTheirOwn) {
    StarpuEngine engine(one_worker);
    const Tiling tiling = Tiling::square(20, 5);
    const Index nodes = engine.node_count();
    Stream first(engine, {.name = "first"}), second(engine, {.name = "second"});
    std::vector<double> values[2];
    const auto work = [&](Stream& s, std::vector<double>& into) {
        Matrix<double> A(s, tiling, random_distribution(tiling.grid(), nodes, 1));
        for (int round = 0; round < 5; ++round) {
            generate(s, A, [round](Index i, Index j) { return static_cast<double>(100 * round + i + j); });
            into = gather(s, A);
            if (!s.wait().ok()) into.clear();
        }
    };
    std::thread one([&] { work(first, values[0]); });
    if (engine.this_node().number() % 2 == 0) one.join();
    work(second, values[1]);
    if (one.joinable()) one.join();
    for (const auto& found : values) {
        ASSERT_EQ(found.size(), 400U);
        EXPECT_EQ(found[21], 402.0);
    }
}

}  // namespace
}  // namespace tesela
