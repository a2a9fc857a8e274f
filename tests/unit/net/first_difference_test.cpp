#include "tesela/net/first_difference.hpp"

#include "tesela/base/digest.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tesela::net::first_difference_test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t topic = 7;

/// A node that remembers the last of the steps that it has made.
struct Node {
    std::vector<int> steps;
    std::uint64_t remembers = 1000;
    std::string after = "waits";

    [[nodiscard]] Recalled recall(std::uint64_t step) const {
        const std::uint64_t made = steps.size();
        Recalled recalled{.oldest = made < remembers ? 0 : made - remembers + 1, .newest = made};
        if (step > made) recalled.text = after;
        if (step > made || step < recalled.oldest) return recalled;
        Digest digest;
        for (std::uint64_t s = 0; s < step; ++s) digest.add(static_cast<std::uint64_t>(steps[s]));
        recalled.trail = digest.value();
        if (step == 0) return recalled;
        recalled.text = fmt::format("does {}", steps[step - 1] / 2);  // two steps have one name
        recalled.otherwise = "in another way";
        return recalled;
    }
};

/// Nodes with queues between them; what they say to themselves is heard at once.
class Network {
public:
    explicit Network(std::vector<Node> of) : nodes_(std::move(of)) {
        for (int me = 0; me < static_cast<int>(nodes_.size()); ++me)
            differences_.push_back(std::make_unique<FirstDifference>(FirstDifference::Hooks{
                .send =
                    [=, this](int to, const Notice& notice) {
                        if (to == me)
                            differences_[static_cast<std::size_t>(me)]->hear(me, notice);
                        else
                            queue_.push_back({me, to, notice});
                    },
                .recall = [=, this](std::uint64_t of_topic, std::uint64_t step) -> std::optional<Recalled> {
                    if (of_topic != topic) return {};
                    return nodes_[static_cast<std::size_t>(me)].recall(step);
                },
                .found = [this](const std::string& line) { lines_.push_back(line); }}));
    }
    /// What node `asker` finds out.
    std::string find(int asker, const Case& what) {
        EXPECT_TRUE(differences_[static_cast<std::size_t>(asker)]->find(what));
        EXPECT_FALSE(differences_[static_cast<std::size_t>(asker)]->find(what));
        for (; !queue_.empty(); queue_.pop_front())
            differences_[static_cast<std::size_t>(queue_.front().to)]->hear(queue_.front().from, queue_.front().notice);
        EXPECT_EQ(lines_.size(), 1U);
        return lines_.empty() ? "" : lines_.front();
    }

private:
    struct Sent {
        int from;
        int to;
        Notice notice;
    };
    std::vector<Node> nodes_;
    std::vector<std::unique_ptr<FirstDifference>> differences_;
    std::deque<Sent> queue_;
    std::vector<std::string> lines_;
};

Case between(int a, int b) { return {.nodes = {a, b}, .topic = topic, .name = "stream fit", .why = "they differ"}; }

RC_GTEST_PROP(FirstDifference, IsFoundWhereverItIs, ()) {
    const auto common = *rc::gen::inRange<std::size_t>(0, 60);
    std::vector<int> steps(common);
    for (std::size_t s = 0; s < common; ++s) steps[s] = static_cast<int>(s);
    Node here{.steps = steps}, there{.steps = steps};
    const int mine = *rc::gen::inRange(0, 6);
    const int theirs = *rc::gen::suchThat(rc::gen::inRange(0, 6), [&](int step) { return step != mine; });
    here.steps.push_back(mine);
    there.steps.push_back(theirs);
    here.steps.resize(common + 1 + *rc::gen::inRange<std::size_t>(0, 40), 3);
    there.steps.resize(common + 1 + *rc::gen::inRange<std::size_t>(0, 40), 3);
    Network network({here, {}, there});
    const std::string line = network.find(*rc::gen::inRange(0, 3), between(2, 0));
    const std::string other = mine / 2 == theirs / 2 ? "does so in another way" : fmt::format("does {}", theirs / 2);
    RC_ASSERT(line == fmt::format("step {} of stream fit: node 0 does {}, node 2 {}: {}", common + 1, mine / 2, other,
                                  rule_for_nodes));
}

TEST(FirstDifference, IsTheStepAfterTheLastOfANodeThatDoesNoMore) {
    for (const std::size_t common : {0U, 1U, 5U}) {
        const Node here{.steps = std::vector<int>(common + 4, 8)};
        const Node there{.steps = std::vector<int>(common, 8), .after = "waits for stream fit"};
        EXPECT_THAT(
            Network({here, there}).find(1, between(0, 1)),
            HasSubstr(fmt::format("step {} of stream fit: node 0 does 4, node 1 waits for stream fit", common + 1)));
    }
}

TEST(FirstDifference, IsSaidToBeForgottenWhereNobodyRemembersIt) {
    std::vector<int> here(100, 1), there(90, 1);
    here[20] = 3;
    const std::string line =
        Network({{.steps = here, .remembers = 60}, {.steps = there, .remembers = 30}}).find(0, between(0, 1));
    EXPECT_THAT(line, HasSubstr("they differ. The first step that differs is one of the first 61 of stream fit"));
    EXPECT_THAT(Network({{.steps = here, .remembers = 60}, {.steps = std::vector<int>(30, 1)}}).find(0, between(0, 1)),
                HasSubstr("they differ. The first step that differs is one of the first 41"));
}

TEST(FirstDifference, IsNotMadeUpWhereThereIsNone) {
    const Node same{.steps = {1, 2, 3}};
    EXPECT_EQ(Network({same, same}).find(0, between(0, 1)), "they differ");
    Case elsewhere = between(0, 1);
    elsewhere.topic = 8;
    EXPECT_EQ(Network({same, same}).find(0, elsewhere), "they differ");
}

}  // namespace
}  // namespace tesela::net::first_difference_test
