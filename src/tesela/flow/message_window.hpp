#pragma once

#include "tesela/base/index.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>

namespace tesela {

/// How much of a stream may be under way between two nodes at a time.
struct MessageLimits {
    Index bytes = Index{64} << 20U;
    Index messages = 256;
    /// With so many bytes on their way to a node only the oldest message may join them: MPI has all that it is given
    /// share the link, so that the first arrives when the last does.
    Index bytes_at_once = Index{256} << 10U;

    /// With all the others, what waits to be received takes an eighth of a node's memory at most; of the two nodes' the
    /// smaller counts, so that both have the same.
    [[nodiscard]] static MessageLimits between(double memory, double memory_of_other, Index nodes) {
        constexpr auto most = static_cast<double>(Index{64} << 20U);
        const double share = std::min(memory, memory_of_other) / 8 / static_cast<double>(nodes);
        return {.bytes = static_cast<Index>(std::clamp(share, 1.0, most))};
    }
};

/// The messages of one stream from one node to another, on one of the two sides: which of them may be under way. Both
/// sides number them alike, by the order of the stream. From the oldest that has not ended on, those are inside the
/// window that have less than so many bytes before them, ended or not: one starts only inside, the most urgent first.
/// The oldest is always inside; since all that it waits for is earlier in a stream that is the same everywhere, the
/// nodes never wait for each other in a circle. `What` is what the caller knows a message by.
template <class What>
class MessageWindow {
public:
    explicit MessageWindow(const MessageLimits& limits) : limits_(limits) {}

    [[nodiscard]] const MessageLimits& limits() const { return limits_; }

    /// The next message of the stream; returns its number.
    std::uint64_t add(What what, Index bytes, std::int32_t priority) {
        const std::uint64_t number = first_ + entries_.size();
        entries_.push_back({.what = what, .bytes = bytes, .priority = priority});
        widen();
        return number;
    }
    /// Nothing but the window keeps it back any more.
    void ready(std::uint64_t number) {
        Entry& message = entry(number);
        message.state = State::ready;
        if (number < end_) startable_.push({message.priority, number});
    }
    [[nodiscard]] bool can_start() {
        while (!startable_.empty() && !waits(startable_.top().number)) startable_.pop();
        return !startable_.empty();
    }
    /// The most urgent message that may start now, and its priority; only if there is one.
    [[nodiscard]] What next() { return entry(startable_.top().number).what; }
    [[nodiscard]] std::int32_t next_priority() const { return startable_.top().priority; }
    /// That message is under way.
    void start() {
        start(entry(startable_.top().number));
        startable_.pop();
    }
    /// Whether the oldest could start, however urgent others are; then it, its priority, and that it is under way.
    [[nodiscard]] bool oldest_can_start() const { return !entries_.empty() && entries_.front().state == State::ready; }
    [[nodiscard]] What oldest() const { return entries_.front().what; }
    [[nodiscard]] std::int32_t oldest_priority() const { return entries_.front().priority; }
    void start_oldest() { start(entries_.front()); }
    /// Whether as much is under way as should be at once.
    [[nodiscard]] bool enough() const { return bytes_under_way_ >= limits_.bytes_at_once; }
    void ended(std::uint64_t number) {
        Entry& message = entry(number);
        message.state = State::ended;
        bytes_under_way_ -= message.bytes;
        while (!entries_.empty() && entries_.front().state == State::ended) {
            bytes_inside_ -= entries_.front().bytes;
            entries_.pop_front();
            ++first_;
        }
        widen();
    }

private:
    enum class State : std::uint8_t { waiting, ready, started, ended };
    struct Entry {
        What what{};
        Index bytes = 0;
        std::int32_t priority = 0;
        State state = State::waiting;
    };
    struct Startable {
        std::int32_t priority = 0;
        std::uint64_t number = 0;
        friend bool operator<(const Startable& a, const Startable& b) {  // the first to go is the greatest
            return a.priority != b.priority ? a.priority < b.priority : a.number > b.number;
        }
    };
    void start(Entry& message) {
        message.state = State::started;
        bytes_under_way_ += message.bytes;
    }
    [[nodiscard]] Entry& entry(std::uint64_t number) { return entries_[static_cast<std::size_t>(number - first_)]; }

    [[nodiscard]] bool waits(std::uint64_t number) { return number >= first_ && entry(number).state == State::ready; }

    /// Lets in what has room.
    void widen() {
        const std::uint64_t all = first_ + entries_.size();
        while (end_ < all && end_ - first_ < static_cast<std::uint64_t>(limits_.messages) &&
               (end_ == first_ || bytes_inside_ < limits_.bytes)) {
            const Entry& message = entry(end_);
            bytes_inside_ += message.bytes;
            if (message.state == State::ready) startable_.push({message.priority, end_});
            ++end_;
        }
    }

    MessageLimits limits_;
    std::uint64_t first_ = 0;  // the oldest that has not ended
    std::uint64_t end_ = 0;    // those before it are inside
    Index bytes_inside_ = 0;   // from the oldest on
    Index bytes_under_way_ = 0;
    std::deque<Entry> entries_;
    std::priority_queue<Startable> startable_;
};

/// Sends of a node that are under way; few at a time, so that urgent ones need not queue behind others in the network.
struct SendsUnderWay {
    int now = 0;
    int most = 20;  ///< the oldest between two nodes may be one more

    [[nodiscard]] bool enough() const { return now >= most; }
};

/// Starts the next send of a node, if one may go now, and returns it: of all its windows (`for_each_window` calls what
/// it is given with each) the most urgent that can start; where enough are under way, in the window or from the node,
/// the oldest of a window, which nothing holds back.
template <class What, class ForEachWindow>
[[nodiscard]] std::optional<What> start_next_send(SendsUnderWay& sends, const ForEachWindow& for_each_window) {
    struct Candidate {
        MessageWindow<What>* window = nullptr;
        bool oldest = false;
        std::int32_t priority = 0;
    };
    Candidate best;
    for_each_window([&](MessageWindow<What>& window) {
        const bool oldest = sends.enough() || window.enough();
        if (oldest ? !window.oldest_can_start() : !window.can_start()) return;
        const std::int32_t priority = oldest ? window.oldest_priority() : window.next_priority();
        if (best.window == nullptr || priority > best.priority) best = {&window, oldest, priority};
    });
    if (best.window == nullptr) return {};
    const What chosen = best.oldest ? best.window->oldest() : best.window->next();
    if (best.oldest)
        best.window->start_oldest();
    else
        best.window->start();
    ++sends.now;
    return chosen;
}

}  // namespace tesela
