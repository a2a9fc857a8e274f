#include "limits/limited.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tesela {
namespace {

using testing::on_any_node;

// MPI guarantees tags up to 32767, which is room for 127 streams at a time.
constexpr int fewest_tags = 32767;
constexpr std::size_t most_streams = 127;

const StarpuOptions few_tags{.workers = 1, .warnings = Warnings::keep, .largest_tag = fewest_tags};

/// A message from each node to the next, in a stream of its own.
std::string send_around(Stream& s) {
    const Index nodes = s.engine().node_count();
    std::vector<std::int32_t> owners;
    for (Index node = 0; node < nodes; ++node) owners.push_back(static_cast<std::int32_t>(node));
    Matrix<double> A(s, Tiling::uniform({nodes, 1}, {1, 1}), Distribution({nodes, 1}, nodes, owners));
    fill(s, A.view(), {.off_diagonal = 4, .diagonal = 4});
    for (Index i = 0; i < nodes; ++i) s.move(A(i, 0), NodeId{(i + 1) % nodes});
    const auto values = gather(s, A.view());
    if (values != std::vector<double>(static_cast<std::size_t>(nodes), 4)) return "wrong values";
    return s.wait().ok() ? "" : "the stream failed";
}

TEST(OpenStreams, ManyMoreThanThereAreTagsForOneAfterTheOther) {
    StarpuEngine engine(few_tags);
    std::string wrong;
    for (int k = 0; k < 2000 && wrong.empty(); ++k) {
        Stream s(engine);
        if (k % 50 == 0) wrong = on_any_node(engine, send_around(s));
    }
    EXPECT_EQ(wrong, "");
}

TEST(OpenStreams, OneTooManyAtATimeIsRefusedOnAllNodesAndTheOthersGoOn) {
    StarpuEngine engine(few_tags);
    if (engine.node_count() == 1) GTEST_SKIP() << "streams of one node need no tags";
    std::vector<std::unique_ptr<Stream>> open;
    std::string wrong;
    try {
        while (open.size() < 1000) open.push_back(std::make_unique<Stream>(engine));
    } catch (const Error& error) {
        if (std::string(error.what()).find("127") == std::string::npos) wrong = error.what();
    }
    if (open.size() != most_streams) wrong += fmt::format("{} streams are open", open.size());
    ASSERT_EQ(on_any_node(engine, wrong), "");
    wrong = send_around(*open.front()) + send_around(*open.back());
    EXPECT_EQ(on_any_node(engine, wrong), "");
    // As soon as one ends there is room for another.
    open.erase(open.begin() + 60);
    open.push_back(std::make_unique<Stream>(engine));
    EXPECT_EQ(on_any_node(engine, send_around(*open.back())), "");
    EXPECT_THROW(Stream{engine}, Error);
}

}  // namespace
}  // namespace tesela
