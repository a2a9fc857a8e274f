#include "tesela/net/transport.hpp"

#include "support/on_any_node.hpp"
#include "support/seed.hpp"
#include "support/shared_engine.hpp"
#include "tesela/base/random.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tesela::net::transport_test {
namespace {

using tesela::testing::engine;
using tesela::testing::on_any_node;
using Ends = Transport::Ends;

void sleep_a_little() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

/// What a message is like: both of its nodes know.
struct Item {
    Index column_bytes = 0;
    Index columns = 1;
    Index gap = 0;  // between columns
    Ends ends = Ends::when_free;
    bool left_out = false;  // nothing is sent where bytes are expected
    bool any_size = false;
    bool thrown_away = false;  // the receiver has no memory
    int refusals = 0;          // of room, by the receiver
    std::uint8_t first = 0;

    [[nodiscard]] Index bytes() const { return column_bytes * columns; }
    [[nodiscard]] Index sent() const { return left_out ? 0 : bytes(); }
    [[nodiscard]] std::uint8_t byte(Index k) const { return static_cast<std::uint8_t>(first + 31 * k + k / 256); }
};

/// The messages from one node to another in one slot, and how far they are on this node.
class Channel {
public:
    Channel(std::uint64_t seed, int from, int to, int slot, std::uint64_t count)
        : random_(seed + static_cast<std::uint64_t>(1000 * from + to)),
          slot_(slot),
          count_(count),
          done_(count) {}

    [[nodiscard]] Item item(std::uint64_t n) const {
        const auto below = [&](std::uint64_t bound, std::uint64_t what) {
            return static_cast<Index>(random_.below(bound, {n * 16 + what, static_cast<std::uint64_t>(slot_)}));
        };
        Item item;
        // Mostly small; some beyond what MPI sends without asking, some empty.
        const Index kind = below(20, 0);
        item.column_bytes = kind == 0 ? 0 : kind < 17 ? 1 + below(200, 1) : 1 + below(30000, 1);
        item.columns = below(3, 2) == 0 ? 1 + below(7, 3) : 1;
        item.gap = below(3, 4) * 8;
        item.ends = below(4, 5) == 0 ? Ends::when_matched : Ends::when_free;
        item.left_out = below(10, 6) == 0;
        item.any_size = below(3, 7) == 0;
        item.thrown_away = below(8, 10) == 0;
        item.refusals = static_cast<int>(below(3, 8));
        item.first = static_cast<std::uint8_t>(below(256, 9));
        return item;
    }
    /// The next message that may be handed over; null if there is none now.
    [[nodiscard]] const std::uint64_t* next() {
        while (oldest_ < posted_ && done_[oldest_]) ++oldest_;
        return posted_ < count_ && posted_ < oldest_ + Transport::numbers ? &posted_ : nullptr;
    }
    void posted() { ++posted_; }
    void ended(std::uint64_t n) { done_[n] = true; }
    [[nodiscard]] bool all_ended() {
        (void)next();
        return oldest_ == count_;
    }

private:
    Random random_;
    int slot_;
    std::uint64_t count_;
    std::uint64_t posted_ = 0;
    std::uint64_t oldest_ = 0;
    std::vector<std::atomic<bool>> done_;
};

/// Collects what goes wrong, from any thread.
class Problems {
public:
    void note(const std::string& problem) {
        const std::lock_guard lock(mutex_);
        if (text_.size() < 500) text_ += problem + "; ";
    }
    [[nodiscard]] std::string text() {
        const std::lock_guard lock(mutex_);
        return text_;
    }

private:
    std::mutex mutex_;
    std::string text_;
};

class TestMessage : public Message {
public:
    TestMessage(Channel& channel, std::uint64_t number, Problems& problems)
        : item_(channel.item(number)),
          channel_(channel),
          number_(number),
          problems_(problems) {}
    [[nodiscard]] std::string describe() const override { return fmt::format("test message {}", number_); }

protected:
    void expect(bool right, const char* what) {
        if (!right) problems_.note(fmt::format("message {} of {} bytes: {}", number_, item_.bytes(), what));
    }
    /// Ends the life of the message.
    void finish() {
        Channel& channel = channel_;
        const std::uint64_t number = number_;
        delete this;
        channel.ended(number);
    }
    Item item_;

private:
    Channel& channel_;
    std::uint64_t number_;
    Problems& problems_;
};

class Sent final : public TestMessage {
public:
    using TestMessage::TestMessage;
    void hand_to(Transport& transport, const Label& label) {
        const Index stride = item_.column_bytes + item_.gap;
        memory_.assign(static_cast<std::size_t>(std::max<Index>(1, stride * item_.columns)), 0xEE);
        Index k = 0;
        for (Index j = 0; j < item_.columns; ++j)
            for (Index i = 0; i < item_.column_bytes; ++i)
                memory_[static_cast<std::size_t>(j * stride + i)] = item_.byte(k++);
        transport.send(label,
                       item_.left_out ? Columns{} : Columns{memory_.data(), item_.column_bytes, item_.columns, stride},
                       item_.ends, *this);
    }
    void ended(Index bytes) override {
        expect(bytes == item_.sent(), "another number of bytes was sent");
        finish();
    }

private:
    std::vector<std::uint8_t> memory_;
};

class Received final : public TestMessage {
public:
    using TestMessage::TestMessage;
    void hand_to(Transport& transport, const Label& label) {
        if (item_.any_size) return transport.receive_any_size(label, *this);
        if (!item_.thrown_away) memory_.assign(static_cast<std::size_t>(item_.bytes() + 8), 0xCC);
        transport.receive(label, item_.thrown_away ? nullptr : memory_.data(), item_.bytes(), *this);
    }
    std::optional<void*> room(Index bytes) override {
        expect(item_.any_size && bytes == item_.sent(), "room for another number of bytes is asked for");
        if (item_.refusals-- > 0) return std::nullopt;
        if (item_.thrown_away) return nullptr;
        memory_.assign(static_cast<std::size_t>(bytes + 8), 0xCC);
        return memory_.data();
    }
    void ended(Index bytes) override {
        expect(bytes == item_.sent(), "another number of bytes came");
        bool same = true;
        for (Index k = 0; k < bytes && !item_.thrown_away; ++k)
            same = same && memory_[static_cast<std::size_t>(k)] == item_.byte(k);
        expect(same, "other bytes came");
        for (std::size_t k = 0; k < 8 && !memory_.empty(); ++k)
            expect(memory_[memory_.size() - 1 - k] == 0xCC, "bytes came beyond the end");
        finish();
    }

private:
    std::vector<std::uint8_t> memory_;
};

/// Notices from each node come in the order in which they were sent.
class Notices {
public:
    explicit Notices(int nodes) : heard_(static_cast<std::size_t>(nodes)) {}
    void hear(int from, const Notice& notice, Problems& problems) {
        auto& next = heard_[static_cast<std::size_t>(from)];
        if (notice.position != next || notice.topic != 42 || notice.value != -from || notice.text[0] != 'n')
            problems.note(
                fmt::format("notice {} of node {} came where {} was next", notice.position, from, next.load()));
        ++next;
    }
    [[nodiscard]] bool all_heard(int me, std::uint64_t each) const {
        for (std::size_t node = 0; node < heard_.size(); ++node)
            if (node != static_cast<std::size_t>(me) && heard_[node] < each) return false;
        return true;
    }

private:
    std::vector<std::atomic<std::uint64_t>> heard_;
};

struct Traffic {
    std::uint64_t seed = 0;
    std::uint64_t messages = 0;  // per pair of nodes and slot
    std::uint64_t notices = 0;   // to each node
};

/// All nodes send to all in several slots, sends from one thread and receives from another.
std::string run_traffic(const Nodes& nodes, const Traffic& traffic) {
    Problems problems;
    Notices notices(nodes.count());
    Transport transport(nodes,
                        {.notice = [&](int from, const Notice& notice) { notices.hear(from, notice, problems); }},
                        {.largest_tag = 32767});
    if (transport.slots() != 127) problems.note(fmt::format("{} slots", transport.slots()));
    nodes.meet();

    struct Line {
        int peer;
        int slot;
        std::unique_ptr<Channel> channel;
    };
    std::vector<Line> out, in;
    for (const int slot : {1, 2, transport.slots()})
        for (int peer = 0; peer < nodes.count(); ++peer) {
            if (peer == nodes.me()) continue;
            const auto channel = [&](int from, int to) {
                return std::make_unique<Channel>(traffic.seed, from, to, slot, traffic.messages);
            };
            out.push_back({peer, slot, channel(nodes.me(), peer)});
            in.push_back({peer, slot, channel(peer, nodes.me())});
        }
    const auto post = [&](std::vector<Line>& lines, auto make) {
        bool left = true;
        while (left) {
            left = false;
            for (Line& line : lines) {
                if (const std::uint64_t* number = line.channel->next()) {
                    make(*line.channel, Label{line.peer, line.slot, *number});
                    line.channel->posted();
                }
                left = left || !line.channel->all_ended();
            }
            sleep_a_little();
        }
    };
    std::thread receiver([&] {
        post(in, [&](Channel& channel, const Label& label) {
            (new Received(channel, label.number, problems))->hand_to(transport, label);
            if (label.number % 7 == 0) transport.help();
        });
    });
    std::uint64_t told = 0;
    post(out, [&](Channel& channel, const Label& label) {
        (new Sent(channel, label.number, problems))->hand_to(transport, label);
        if (told >= traffic.notices || label.number % 2 == 0) return;
        Notice notice{.kind = 1, .topic = 42, .position = told++, .value = -nodes.me()};
        notice.set_text("n");
        transport.notify_others(notice);
    });
    receiver.join();
    while (!notices.all_heard(nodes.me(), told)) sleep_a_little();
    nodes.meet();
    return problems.text();
}

TEST(Transport, CarriesMessagesOfAnySizeInSeveralSlotsBeyondTheirNumbers) {
    if (engine().node_count() == 1) GTEST_SKIP() << "there is nobody to send to";
    const Nodes nodes;
    for (const std::uint64_t seed : {testing::seed(), testing::seed() + 1}) {
        // More than Transport::numbers, so that numbers are used again.
        const Traffic traffic{.seed = seed, .messages = 700, .notices = 100};
        EXPECT_EQ(on_any_node(engine(), run_traffic(nodes, traffic)), "") << "seed " << seed;
    }
}

double free_memory() {
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("MemAvailable:")) return 1024 * std::stod(line.substr(13));
    return 0;
}

/// Memory that costs nothing until it is written.
class Pages {
public:
    explicit Pages(Index bytes)
        : bytes_(static_cast<std::size_t>(bytes)),
          memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~Pages() { munmap(memory_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    Pages(Pages&&) = delete;
    Pages& operator=(Pages&&) = delete;
    [[nodiscard]] bool there() const { return memory_ != MAP_FAILED; }
    [[nodiscard]] char* data() const { return static_cast<char*>(memory_); }

private:
    std::size_t bytes_;
    void* memory_;
};

class Awaited final : public Message {
public:
    explicit Awaited(std::uint64_t identity = 0) : identity_(identity) {}
    [[nodiscard]] std::uint64_t identity() const override { return identity_; }
    void ended(Index bytes) override { bytes_ = bytes; }
    [[nodiscard]] std::string describe() const override { return "the message"; }
    [[nodiscard]] Index wait() const {
        while (bytes_ < 0) sleep_a_little();
        return bytes_;
    }

private:
    std::uint64_t identity_;
    std::atomic<Index> bytes_{-1};
};

/// Node 0 sends, node 1 expects something else: what it is told.
struct Mistake {
    std::uint64_t sent_identity;
    Index sent;
    Index expected;
    std::string text;
};

TEST(Transport, TellsAMessageThatIsAnother) {
    if (engine().node_count() != 2) GTEST_SKIP() << "two nodes are enough";
    constexpr Index large = 2000;  // behind its envelope, and not so large that MPI waits for its receiver
    const std::string end = fmt::format(": {}", rule_for_nodes);
    const std::vector<Mistake> mistakes{
        {7, 80, 80, "node 0 sent another message, of 80 bytes, in place of the message" + end},
        {7, large, large, "node 0 sent another message, of 2000 bytes, in place of the message" + end},
        {5, 40, 80, "node 0 sent 40 bytes of the message in place of 80" + end},
        {5, large, large / 2, "node 0 sent 2000 bytes of the message in place of 1000" + end}};
    const Nodes nodes;
    for (const Mistake& mistake : mistakes) {
        std::mutex mutex;
        std::string told;
        const auto note = [&](int, const Message&, const std::string& why) {
            const std::lock_guard lock(mutex);
            told += why;
        };
        std::vector<char> memory(large);
        Awaited message(nodes.me() == 0 ? mistake.sent_identity : 5);
        {
            Transport transport(nodes, {.notice = [](int, const Notice&) {}, .mistaken = note});
            nodes.meet();
            const Index bytes = nodes.me() == 0 ? mistake.sent : mistake.expected;
            const Label label{.peer = 1 - nodes.me(), .number = 3};
            if (nodes.me() == 0)
                transport.send(label, {memory.data(), bytes, 1, bytes}, Ends::when_free, message);
            else
                transport.receive(label, memory.data(), bytes, message);
        }  // when nothing is under way any more
        EXPECT_EQ(told, nodes.me() == 0 ? "" : mistake.text);
    }
}

TEST(Transport, CarriesAMessageBeyondTwoGigabytes) {
    if (engine().node_count() != 2) GTEST_SKIP() << "two nodes are enough";
    constexpr double wanted = 0x1p33;
    if (engine().max(free_memory() < wanted ? 1 : 0) > 0) GTEST_SKIP() << "less than 8 GiB of memory are free";
    constexpr Index bytes = (Index{1} << 31U) + (Index{3} << 20U) + 12345;
    // Around what an int can count, and where blocks of 1 MiB meet the rest.
    const std::vector<Index> places{0, (Index{1} << 31U) - 1, Index{1} << 31U, bytes - 12346, bytes - 12345, bytes - 1};
    const Nodes nodes;
    const Pages pages(bytes);
    ASSERT_EQ(engine().max(pages.there() ? 0 : 1), 0);
    std::string wrong;
    {
        Transport transport(nodes, {.notice = [](int, const Notice&) {}});
        nodes.meet();
        Awaited message;
        const Label label{.peer = 1 - nodes.me(), .slot = 3, .number = 300};
        if (nodes.me() == 0) {
            for (std::size_t k = 0; k < places.size(); ++k) pages.data()[places[k]] = static_cast<char>(k + 1);
            transport.send(label, {pages.data(), bytes, 1, bytes}, Ends::when_free, message);
        } else {
            transport.receive(label, pages.data(), bytes, message);
        }
        if (const Index ended = message.wait(); ended != bytes) wrong = fmt::format("{} bytes; ", ended);
        for (std::size_t k = 0; k < places.size(); ++k)
            if (pages.data()[places[k]] != static_cast<char>(k + 1))
                wrong += fmt::format("byte {} is wrong; ", places[k]);
        nodes.meet();
    }
    EXPECT_EQ(on_any_node(engine(), wrong), "");
}

}  // namespace
}  // namespace tesela::net::transport_test
