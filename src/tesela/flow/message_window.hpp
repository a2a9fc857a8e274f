#pragma once

#include "tesela/base/index.hpp"

#include <cstdint>
#include <deque>
#include <queue>

namespace tesela {

/// The messages of one stream from one node to another, on one of the two sides: which of them may be under way. Both
/// sides number them alike, by the order of the stream. From the oldest that has not ended on, those are inside the
/// window that have less than so many bytes before them: one starts only inside, the most urgent first. The oldest is
/// always inside; since all that it waits for is earlier in a stream that is the same everywhere, the nodes never wait
/// for each other in a circle.
/// `What` is what the caller knows a message by.
template <class What>
class MessageWindow {
public:
    struct Limits {
        Index bytes = Index{64} << 20U;
        Index messages = 256;
    };
    MessageWindow() : MessageWindow(Limits{}) {}
    explicit MessageWindow(const Limits& limits) : limits_(limits) {}

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
        entry(startable_.top().number).state = State::started;
        startable_.pop();
    }
    /// Whether the oldest could start, however urgent others are; then it, and that it is under way.
    [[nodiscard]] bool oldest_can_start() const { return !entries_.empty() && entries_.front().state == State::ready; }
    [[nodiscard]] What oldest() const { return entries_.front().what; }
    void start_oldest() { entries_.front().state = State::started; }
    void ended(std::uint64_t number) {
        Entry& message = entry(number);
        message.state = State::ended;
        bytes_inside_ -= message.bytes;
        while (!entries_.empty() && entries_.front().state == State::ended) {
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

    Limits limits_;
    std::uint64_t first_ = 0;  // the oldest that has not ended
    std::uint64_t end_ = 0;    // those before it are inside
    Index bytes_inside_ = 0;   // of those that have not ended
    std::deque<Entry> entries_;
    std::priority_queue<Startable> startable_;
};

}  // namespace tesela
