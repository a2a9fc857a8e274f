#include "tesela/flow/directory.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tesela::directory_test {
namespace {

using Node = std::int32_t;

/// One datum by the definition: who owns it, how often it was written or moved, who has its value.
struct Model {
    Node owner = 0;
    std::uint32_t version = 0;
    std::set<Node> holders;
};

struct Send {
    std::size_t datum = 0;
    Node from = 0;
    std::vector<Node> to;
    std::uint32_t version = 0;
};

/// What a step brought about, in order, and whether each thing could happen when it was said: nodes send what they
/// have, are sent what they lack, and drop what they had.
class Witness {
public:
    explicit Witness(const Directory& directory) : directory_(directory) {}

    /// A datum is there from the beginning, on its owner.
    void add(Node owner) { has_.push_back({{owner, directory_.version(has_.size())}}); }
    /// In the step to come a node makes a new value.
    void will_make(std::size_t datum, Node node) { maker_ = {datum, node}; }
    /// The newest value came about on this node, or became that of its owner, without a message.
    void now_has(std::size_t datum, Node node) { has_[datum][node] = directory_.version(datum); }
    void begin() {
        sends.clear();
        taken.clear();
        dropped.clear();
        maker_.reset();
    }

    void send(std::size_t datum, Node from, std::span<const Node> to) {
        const std::uint32_t version = directory_.version(datum);
        // The writer has what it wrote when the directory says so and no earlier.
        if (maker_ && maker_->first == datum && maker_->second == from) now_has(datum, from);
        check(has(datum, from, version), "a node sends what it does not have");
        check(!to.empty(), "a message to nobody");
        for (const Node node : to) {
            check(node != from, "a node sends to itself");
            check(!has(datum, node, version), "a node is sent what it has");
            has_[datum][node] = version;
        }
        check(dropped.empty() || maker_, "sends come before drops");
        sends.push_back({datum, from, {to.begin(), to.end()}, version});
    }
    void take(std::size_t datum, Node node) {
        check(taken.insert(node).second, "a node takes a value twice");
        check(directory_.owner(datum) != node, "the owner takes a value that it has anyway");
    }
    void drop(std::size_t datum, Node node) {
        check(dropped.insert(node).second, "a node drops a value twice");
        check(has_[datum].erase(node) == 1, "a node drops what it does not have");
    }

    std::vector<Send> sends;
    std::set<Node> taken, dropped;
    std::string wrong;

private:
    [[nodiscard]] bool has(std::size_t datum, Node node, std::uint32_t version) const {
        const auto found = has_[datum].find(node);
        return found != has_[datum].end() && found->second == version;
    }
    void check(bool right, const char* what) {
        if (!right && wrong.empty()) wrong = what;
    }

    const Directory& directory_;
    std::vector<std::map<Node, std::uint32_t>> has_;
    std::optional<std::pair<std::size_t, Node>> maker_;
};

std::set<Node> without(const std::set<Node>& all, const std::set<Node>& some) {
    std::set<Node> left;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::inserter(left, left.end()));
    return left;
}

std::set<Node> receivers(const std::vector<Send>& sends) {
    std::set<Node> all;
    for (const Send& send : sends) all.insert(send.to.begin(), send.to.end());
    return all;
}

std::size_t message_count(const std::vector<Send>& sends) {
    return std::accumulate(sends.begin(), sends.end(), std::size_t{0},
                           [](std::size_t sum, const Send& send) { return sum + send.to.size(); });
}

/// Nodes below one in the tree, itself included.
std::size_t subtree(const std::map<Node, std::vector<Node>>& children, Node node) {
    std::size_t size = 1;
    const auto found = children.find(node);
    if (found == children.end()) return size;
    for (const Node child : found->second) size += subtree(children, child);
    return size;
}

/// A binomial tree from the owner to the readers: if a node sends to one other at a time, all have it after as many
/// rounds as it takes to double the number of those that do. Where no place of the tree is empty, the child with most
/// below it is served first; otherwise the first may have lost more than the others.
std::string not_binomial(const std::vector<Send>& sends, Node owner, const std::set<Node>& readers) {
    if (receivers(sends) != readers || message_count(sends) != readers.size()) return "not one message for each reader";
    std::map<Node, std::vector<Node>> children;
    std::map<Node, std::size_t> round{{owner, 0}};
    std::size_t last = 0;
    for (const Send& send : sends) {
        if (!children.emplace(send.from, send.to).second) return "a node is told twice to send";
        if (!round.contains(send.from)) return "a node sends before it has the value";
        std::size_t at = round[send.from];
        for (const Node node : send.to) last = std::max(last, round[node] = ++at);
    }
    // ⌈log₂(readers + 1)⌉
    if (last > static_cast<std::size_t>(std::bit_width(readers.size()))) return "more rounds than it takes to double";
    if (!std::has_single_bit(readers.size() + 1)) return {};
    for (const auto& [node, list] : children)
        for (std::size_t k = 1; k < list.size(); ++k)
            if (subtree(children, list[k]) > subtree(children, list[k - 1])) return "a smaller part is served first";
    return {};
}

/// The directory and its model, side by side, on the same steps.
class Comparison {
public:
    explicit Comparison(Index nodes) : directory(nodes), witness(directory) {}

    void add(Node owner, Directory::Value value) {
        directory.add(owner, value);
        models.push_back({owner, value == Directory::Value::given ? 1U : 0U, {owner}});
        witness.add(owner);
    }

    void read(std::size_t datum, Node node) {
        directory.read(datum, node, begin());
        const std::set<Node> missing = without({node}, models[datum].holders);
        expect_sends(models[datum].owner, missing);
        expect(witness.taken, missing, "taken");
        expect(witness.dropped, {}, "dropped");
        models[datum].holders.insert(node);
        agree(datum);
    }

    void write(std::size_t datum, Node node) {
        Model& model = models[datum];
        begin();
        witness.will_make(datum, node);
        directory.written(datum, node, witness);
        const std::set<Node> left{model.owner, node};
        expect_sends(node, node == model.owner ? std::set<Node>{} : std::set<Node>{model.owner});
        expect(witness.taken, without({node}, model.holders), "taken");
        expect(witness.dropped, without(model.holders, left), "dropped");
        witness.now_has(datum, node);
        model.holders = left;
        ++model.version;
        agree(datum);
    }

    void move(std::size_t datum, Node to) {
        Model& model = models[datum];
        const bool travels = model.version > 0 && !model.holders.contains(to);
        directory.move(datum, to, begin());
        if (to == model.owner) {
            expect_sends(to, {});
            expect(witness.dropped, {}, "dropped");
        } else {
            expect_sends(model.owner, travels ? std::set<Node>{to} : std::set<Node>{});
            expect(witness.dropped, without(model.holders, {to}), "dropped");
            model = {to, model.version > 0 ? model.version + 1 : 0, {to}};
            witness.now_has(datum, to);
        }
        expect(witness.taken, {}, "taken");
        agree(datum);
    }

    void retire(std::size_t datum) {
        Model& model = models[datum];
        directory.retire(datum, begin());
        expect_sends(model.owner, {});
        expect(witness.taken, {}, "taken");
        expect(witness.dropped, without(model.holders, {model.owner}), "dropped");
        model.holders = {model.owner};
        agree(datum);
    }

    void share(std::size_t datum, const std::vector<Node>& readers) {
        Model& model = models[datum];
        directory.share(datum, readers, begin());
        const std::set<Node> missing = without({readers.begin(), readers.end()}, model.holders);
        note(not_binomial(witness.sends, model.owner, missing));
        expect(witness.taken, missing, "taken");
        expect(witness.dropped, {}, "dropped");
        model.holders.insert(missing.begin(), missing.end());
        agree(datum);
    }

    void visit(std::size_t datum) {
        Model& model = models[datum];
        std::set<Node> all;
        for (Node node = 0; node < directory.nodes(); ++node) all.insert(node);
        const std::set<Node> missing = without(all, model.holders);
        int runs = 0;
        begin();
        directory.visit(datum, witness, [&] {
            ++runs;
            note(not_binomial(witness.sends, model.owner, missing));
            expect(witness.taken, missing, "taken before the visit");
            expect(witness.dropped, {}, "dropped before the visit");
        });
        if (runs != 1) note("a visit does not run once");
        note(not_binomial(witness.sends, model.owner, missing));
        expect(witness.dropped, missing, "dropped");
        agree(datum);
    }

    Directory directory;
    Witness witness;
    std::vector<Model> models;
    std::string wrong;

private:
    Witness& begin() {
        witness.begin();
        return witness;
    }
    void note(const std::string& problem) {
        if (wrong.empty()) wrong = problem;
    }
    void expect(const std::set<Node>& found, const std::set<Node>& wanted, const char* what) {
        if (found != wanted) note(std::string("the wrong nodes are ") + what);
    }
    void expect_sends(Node from, const std::set<Node>& to) {
        if (message_count(witness.sends) != to.size() || receivers(witness.sends) != to) note("the wrong messages");
        for (const Send& send : witness.sends)
            if (send.from != from) note("the wrong node sends");
    }
    /// The directory says what the model says, of this datum; others are looked at when they have their turn.
    void agree(std::size_t datum) {
        const Model& model = models[datum];
        if (directory.owner(datum) != model.owner) note("the wrong owner");
        if (directory.version(datum) != model.version) note("the wrong version");
        if (!directory.holds(datum, model.owner)) note("the owner does not hold it");
        for (Node node = 0; node < directory.nodes(); ++node)
            if (directory.holds(datum, node) != model.holders.contains(node)) note("the wrong holders");
        note(witness.wrong);
    }
};

Comparison any_data(Index nodes) {
    Comparison c(nodes);
    const auto any_node = rc::gen::inRange<Node>(0, static_cast<Node>(nodes));
    for (int d = *rc::gen::inRange(1, 5); d > 0; --d)
        c.add(*any_node, *rc::gen::element(Directory::Value::none, Directory::Value::given));
    return c;
}

void any_step(Comparison& c) {
    const auto any_node = rc::gen::inRange<Node>(0, static_cast<Node>(c.directory.nodes()));
    const auto datum = *rc::gen::inRange<std::size_t>(0, c.models.size());
    const bool has_value = c.models[datum].version > 0;
    switch (*rc::gen::inRange(has_value ? 0 : 4, 7)) {
        case 0:
        case 1: return c.read(datum, *any_node);
        case 2: return c.share(datum, *rc::gen::container<std::vector<Node>>(any_node));
        case 3: return c.visit(datum);
        case 4: return c.write(datum, *any_node);
        case 5: return c.move(datum, *any_node);
        default: return c.retire(datum);
    }
}

// Node counts around the words that holders are kept in, and in between.
RC_GTEST_PROP(Directory, DoesWhatItsDefinitionSays, ()) {
    const Index nodes = *rc::gen::oneOf(rc::gen::inRange<Index>(1, 9), rc::gen::inRange<Index>(62, 67),
                                        rc::gen::inRange<Index>(1, 131));
    Comparison c = any_data(nodes);
    for (int step = *rc::gen::inRange(1, 60); step > 0; --step) {
        any_step(c);
        RC_ASSERT(c.wrong == "");
    }
}

TEST(Directory, SharesWithAnyNumberOfNodesAlongABinomialTree) {
    for (Node nodes = 1; nodes <= 130; ++nodes)
        for (const Node owner : {Node{0}, nodes / 2, nodes - 1}) {
            Comparison c(nodes);
            c.add(owner, Directory::Value::given);
            std::vector<Node> all(static_cast<std::size_t>(nodes));
            std::iota(all.begin(), all.end(), 0);
            c.share(0, all);
            ASSERT_EQ(c.wrong, "") << nodes << " nodes, owner " << owner;
            ASSERT_EQ(message_count(c.witness.sends), all.size() - 1);
            c.share(0, all);
            ASSERT_TRUE(c.witness.sends.empty());
        }
}

TEST(Directory, AReaderGetsAVersionOnce) {
    Comparison c(70);
    c.add(3, Directory::Value::given);
    c.read(0, 69);
    EXPECT_EQ(c.witness.sends.size(), 1U);
    c.read(0, 69);
    EXPECT_TRUE(c.witness.sends.empty());
    c.write(0, 3);
    c.read(0, 69);
    EXPECT_EQ(c.witness.sends.size(), 1U);
    EXPECT_EQ(c.wrong, "");
}

TEST(Directory, AMoveOfATileWithoutAValueSendsNothing) {
    Comparison c(100);
    c.add(2, Directory::Value::none);
    c.move(0, 99);
    EXPECT_TRUE(c.witness.sends.empty());
    EXPECT_EQ(c.directory.version(0), 0U);
    EXPECT_EQ(c.directory.owner(0), 99);
    c.write(0, 99);
    c.move(0, 65);
    EXPECT_EQ(c.witness.sends.size(), 1U);
    EXPECT_EQ(c.directory.version(0), 2U);
    EXPECT_EQ(c.wrong, "");
}

TEST(Directory, AMoveToANodeThatHoldsACopySendsNothing) {
    Comparison c(4);
    c.add(0, Directory::Value::given);
    c.read(0, 1);
    c.read(0, 2);
    c.move(0, 1);
    EXPECT_TRUE(c.witness.sends.empty());
    EXPECT_EQ(c.witness.dropped, (std::set<Node>{0, 2}));
    EXPECT_EQ(c.wrong, "");
}

TEST(Directory, AVisitLeavesWhoHoldsItAsBefore) {
    Comparison c(66);
    c.add(64, Directory::Value::given);
    c.read(0, 65);
    c.visit(0);
    EXPECT_EQ(message_count(c.witness.sends), 64U);
    EXPECT_TRUE(c.directory.holds(0, 65));
    EXPECT_FALSE(c.directory.holds(0, 0));
    EXPECT_EQ(c.wrong, "");
}

}  // namespace
}  // namespace tesela::directory_test
