#include "tesela/flow/message_window.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::message_window_test {
namespace {

using Window = MessageWindow<std::uint64_t>;  // knows a message by its number

/// One side by the definition: every message, and the rules applied to all of them each time.
class Model {
public:
    explicit Model(const MessageLimits& limits) : limits_(limits) {}

    enum class State : std::uint8_t { waiting, ready, under_way, ended };
    struct Message {
        Index bytes = 0;
        std::int32_t priority = 0;
        State state = State::waiting;
        bool inside = false;
    };
    std::vector<Message> messages;

    [[nodiscard]] std::size_t oldest() const {
        std::size_t n = 0;
        while (n < messages.size() && messages[n].state == State::ended) ++n;
        return n;
    }
    /// Once inside it stays there; one enters when it is the oldest, or has less than so many bytes before it from
    /// the oldest on and is not too far from that.
    void let_in() {
        const std::size_t first = oldest();
        Index before = 0;
        for (std::size_t n = first; n < messages.size(); ++n) {
            Message& message = messages[n];
            const bool fits = n == first || (before < limits_.bytes && std::cmp_less(n - first, limits_.messages));
            if (!message.inside && !fits) return;
            message.inside = true;
            before += message.bytes;
        }
    }
    /// The most urgent that is ready and inside, of these the oldest.
    [[nodiscard]] std::optional<std::size_t> next() const {
        std::optional<std::size_t> best;
        for (std::size_t n = 0; n < messages.size(); ++n)
            if (messages[n].inside && messages[n].state == State::ready &&
                (!best || messages[n].priority > messages[*best].priority))
                best = n;
        return best;
    }
    /// Whether as many bytes are under way as should be at once.
    [[nodiscard]] bool enough() const {
        Index bytes = 0;
        for (const Message& message : messages)
            if (message.state == State::under_way) bytes += message.bytes;
        return bytes >= limits_.bytes_at_once;
    }
    [[nodiscard]] std::vector<std::size_t> in(State state) const {
        std::vector<std::size_t> numbers;
        for (std::size_t n = 0; n < messages.size(); ++n)
            if (messages[n].state == state) numbers.push_back(n);
        return numbers;
    }

private:
    MessageLimits limits_;
};

MessageLimits any_limits() {
    return {.bytes = *rc::gen::element<Index>(1, 100, 1000, Index{64} << 20U),
            .messages = *rc::gen::element<Index>(1, 2, 7, 256),
            .bytes_at_once = *rc::gen::element<Index>(1, 100, Index{256} << 10U)};
}

/// One random thing happens to both; what differs.
std::string any_step(Window& window, Model& model) {
    using State = Model::State;
    const auto any_of = [](const std::vector<std::size_t>& numbers) { return *rc::gen::elementOf(numbers); };
    switch (*rc::gen::inRange(0, 4)) {
        case 0: {
            const Index bytes = *rc::gen::element<Index>(0, 1, 60, 400, 5000);
            const auto priority = *rc::gen::inRange(0, 3);
            const std::uint64_t number = window.add(model.messages.size(), bytes, priority);
            if (number != model.messages.size()) return "messages are not numbered one after the other";
            model.messages.push_back({.bytes = bytes, .priority = priority});
            break;
        }
        case 1:
            if (const auto waiting = model.in(State::waiting); !waiting.empty()) {
                const std::size_t number = any_of(waiting);
                window.ready(number);
                model.messages[number].state = State::ready;
            }
            break;
        case 2:
            if (window.can_start()) {
                model.messages[window.next()].state = State::under_way;
                window.start();
            }
            break;
        default:
            if (const auto under_way = model.in(State::under_way); !under_way.empty()) {
                const std::size_t number = any_of(under_way);
                window.ended(number);
                model.messages[number].state = State::ended;
            }
    }
    model.let_in();
    const auto next = model.next();
    if (window.can_start() != next.has_value()) return next ? "what may start does not" : "what may not start does";
    if (next && window.next() != *next) return "not the most urgent comes next";
    if (next && window.next_priority() != model.messages[*next].priority) return "the wrong priority";
    if (window.enough() != model.enough()) return "the wrong number of bytes is under way";
    const std::size_t oldest = model.oldest();
    if (oldest < model.messages.size() && window.oldest() != oldest) return "the wrong one is the oldest";
    if (oldest < model.messages.size() && model.messages[oldest].state == State::ready && !next)
        return "the oldest is ready and cannot start";
    return {};
}

RC_GTEST_PROP(MessageWindow, DoesWhatItsDefinitionSays, ()) {
    const MessageLimits limits = any_limits();
    Window window(limits);
    Model model(limits);
    for (int step = *rc::gen::inRange(1, 300); step > 0; --step) RC_ASSERT(any_step(window, model) == "");
}

TEST(MessageWindow, LetsInWhatHasFewerBytesBeforeIt) {
    Window window({.bytes = 100, .messages = 10});
    for (int k = 0; k < 4; ++k) window.ready(window.add(static_cast<std::uint64_t>(k), 60, k));
    EXPECT_EQ(window.next(), 1U);  // 60 bytes are before it; 120 are before the others, though they are more urgent
    window.start();
    EXPECT_EQ(window.next(), 0U);
    window.start();
    EXPECT_FALSE(window.can_start());
    window.ended(1);  // the window begins at 0 still
    EXPECT_FALSE(window.can_start());
    window.ended(0);
    EXPECT_EQ(window.next(), 3U);
}

TEST(MessageWindow, LetsInNoMoreThanItsNumberFromTheOldestOn) {
    Window window({.bytes = 1000, .messages = 3});
    for (std::uint64_t k = 0; k < 5; ++k) (void)window.add(k, 0, 0);
    for (std::uint64_t k = 4; k > 0; --k) window.ready(k);
    for (const std::uint64_t wanted : {1U, 2U}) {
        ASSERT_TRUE(window.can_start());
        EXPECT_EQ(window.next(), wanted);
        window.start();
        window.ended(wanted);
    }
    EXPECT_FALSE(window.can_start());  // 0 has not even started: 3 would be the fourth from it
    window.ready(0);
    window.start();
    window.ended(0);
    EXPECT_EQ(window.next(), 3U);
}

TEST(MessageWindow, LetsTheOldestStartWhateverItsSize) {
    Window window({.bytes = 1, .messages = 1});
    for (std::uint64_t k = 0; k < 20; ++k) window.ready(window.add(k, Index{1} << 40U, 0));
    for (std::uint64_t k = 0; k < 20; ++k) {
        ASSERT_TRUE(window.can_start());
        EXPECT_EQ(window.next(), k);
        window.start();
        EXPECT_FALSE(window.can_start());
        window.ended(k);
    }
}

TEST(MessageWindow, SendsTheMostUrgentOfAllAndNeverHoldsBackTheOldestOfAPair) {
    std::vector<Window> windows(2, Window({.bytes = 1000, .messages = 10}));
    for (std::uint64_t k = 0; k < 4; ++k) windows[k % 2].ready(windows[k % 2].add(k, 1, static_cast<std::int32_t>(k)));
    SendsUnderWay sends{.now = 0, .most = 1};
    const auto next = [&] {
        return start_next_send<std::uint64_t>(sends, [&](const auto& consider) {
            for (Window& window : windows) consider(window);
        });
    };
    EXPECT_EQ(next(), 3U);  // the most urgent; then only the oldest of each
    EXPECT_EQ(next(), 1U);
    EXPECT_EQ(next(), 0U);
    EXPECT_EQ(next(), std::nullopt);
    sends.now = 0;
    EXPECT_EQ(next(), 2U);
}

TEST(MessageWindow, WithEnoughBytesOnTheirWayToANodeOnlyTheOldestJoinsThem) {
    std::vector<Window> windows(2, Window({.bytes = 1000, .messages = 10, .bytes_at_once = 100}));
    for (std::uint64_t k = 0; k < 8; ++k) windows[k % 2].ready(windows[k % 2].add(k, 60, static_cast<std::int32_t>(k)));
    SendsUnderWay sends;
    const auto next = [&] {
        return start_next_send<std::uint64_t>(sends, [&](const auto& consider) {
            for (Window& window : windows) consider(window);
        });
    };
    for (const std::uint64_t wanted : {7U, 6U, 5U, 4U}) EXPECT_EQ(next(), wanted);  // two of 60 to each node
    for (const std::uint64_t wanted : {1U, 0U}) EXPECT_EQ(next(), wanted);          // the more urgent oldest first
    EXPECT_EQ(next(), std::nullopt);
    windows[0].ended(3);  // which is 6
    EXPECT_EQ(next(), std::nullopt);
    windows[0].ended(2);
    EXPECT_EQ(next(), 2U);  // 60 bytes are under way to that node
}

/// Some nodes with one stream of messages. A message is ready on a side when some earlier ones have ended on that node,
/// as tasks and memory would have it. A small one ends at its sender at once, a large one when both sides have begun.
class Nodes {
public:
    Nodes(int count, const MessageLimits& limits, int sends_at_a_time)
        : count_(count),
          under_way_(static_cast<std::size_t>(count), SendsUnderWay{.most = sends_at_a_time}) {
        out_.assign(static_cast<std::size_t>(count * count), Window(limits));
        in_ = out_;
    }

    void add_message() {
        const int from = *rc::gen::inRange(0, count_);
        const int to = (from + *rc::gen::inRange(1, count_)) % count_;
        const std::size_t number = messages_.size();
        Message message{.from = from, .to = to, .small = *rc::gen::arbitrary<bool>()};
        const Index bytes = *rc::gen::element<Index>(0, 30, 500);
        message.number = out_[pair(from, to)].add(number, bytes, *rc::gen::inRange(0, 3));
        if (in_[pair(from, to)].add(number, bytes, 0) != message.number) wrong = "the sides number differently";
        for (std::size_t before = number > 12 ? number - 12 : 0; before < number; ++before)
            if (*rc::gen::inRange(0, 3) == 0) message.after.push_back(before);
        messages_.push_back(message);
    }

    /// Does one thing that can be done, chosen at random; false if there is none.
    bool advance() {
        std::vector<std::function<bool()>> things;
        for (std::size_t n = 0; n < messages_.size(); ++n)
            for (const bool sends : {true, false}) {
                if (!side(n, sends).ready && may_be_ready(n, sends))
                    things.emplace_back([=, this] { return prepare(n, sends); });
                if (may_end(n, sends)) things.emplace_back([=, this] { return end(n, sends); });
            }
        for (int node = 0; node < count_; ++node) {
            things.emplace_back([=, this] { return send_from(node); });
            things.emplace_back([=, this] { return receive_at(node); });
        }
        while (!things.empty()) {
            const auto choice = *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(things));
            if (things[static_cast<std::size_t>(choice)]()) return true;
            things.erase(things.begin() + choice);
        }
        return false;
    }

    [[nodiscard]] std::size_t left() const {
        return static_cast<std::size_t>(std::count_if(messages_.begin(), messages_.end(), [](const Message& m) {
            return !m.sending.ended || !m.receiving.ended;
        }));
    }
    std::string wrong;

private:
    struct Side {
        bool ready = false;
        bool started = false;
        bool ended = false;
    };
    struct Message {
        int from = 0;
        int to = 0;
        bool small = false;
        std::uint64_t number = 0;        // between its nodes
        std::vector<std::size_t> after;  // earlier messages that it waits for
        Side sending{}, receiving{};
    };
    [[nodiscard]] std::size_t pair(int from, int to) const { return static_cast<std::size_t>(from * count_ + to); }
    [[nodiscard]] Side& side(std::size_t n, bool sends) {
        return sends ? messages_[n].sending : messages_[n].receiving;
    }
    [[nodiscard]] Window& window(std::size_t n, bool sends) {
        return (sends ? out_ : in_)[pair(messages_[n].from, messages_[n].to)];
    }
    bool prepare(std::size_t n, bool sends) {
        side(n, sends).ready = true;
        window(n, sends).ready(messages_[n].number);
        return true;
    }
    bool end(std::size_t n, bool sends) {
        side(n, sends).ended = true;
        window(n, sends).ended(messages_[n].number);
        if (sends) --under_way_[static_cast<std::size_t>(messages_[n].from)].now;
        return true;
    }
    bool send_from(int node) {
        const auto chosen =
            start_next_send<std::uint64_t>(under_way_[static_cast<std::size_t>(node)], [&](const auto& consider) {
                for (int to = 0; to < count_; ++to) consider(out_[pair(node, to)]);
            });
        if (chosen) messages_[*chosen].sending.started = true;
        return chosen.has_value();
    }
    bool receive_at(int node) {
        for (int from = 0; from < count_; ++from) {
            Window& window = in_[pair(from, node)];
            if (!window.can_start()) continue;
            messages_[window.next()].receiving.started = true;
            window.start();
            return true;
        }
        return false;
    }
    /// All that it waits for and that concerns its node has ended there.
    [[nodiscard]] bool may_be_ready(std::size_t n, bool sends) const {
        const int node = sends ? messages_[n].from : messages_[n].to;
        return std::all_of(messages_[n].after.begin(), messages_[n].after.end(), [&](std::size_t before) {
            const Message& other = messages_[before];
            return (other.from != node || other.sending.ended) && (other.to != node || other.receiving.ended);
        });
    }
    [[nodiscard]] bool may_end(std::size_t n, bool sends) {
        const Message& m = messages_[n];
        if (side(n, sends).ended || !side(n, sends).started) return false;
        return sends ? m.small || m.receiving.started : m.sending.started;
    }

    int count_;
    std::vector<SendsUnderWay> under_way_;  // by node
    std::vector<Message> messages_;
    std::vector<Window> out_, in_;  // by pair of nodes
};

RC_GTEST_PROP(MessageWindow, NodesNeverWaitForEachOtherInACircle, ()) {
    Nodes nodes(*rc::gen::inRange(2, 5), any_limits(), *rc::gen::element(0, 1, 2, 10));
    const int messages = *rc::gen::inRange(1, 50);
    for (int k = 0; k < messages; ++k) {
        nodes.add_message();
        for (int step = *rc::gen::inRange(0, 4); step > 0; --step) nodes.advance();
    }
    while (nodes.advance()) {
    }
    RC_ASSERT(nodes.wrong == "");
    RC_ASSERT(nodes.left() == 0U);
}

}  // namespace
}  // namespace tesela::message_window_test
