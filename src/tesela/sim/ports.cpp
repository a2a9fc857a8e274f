#include "tesela/sim/internal/connections.hpp"
#include "tesela/sim/internal/fair_shares.hpp"
#include "tesela/sim/timeline.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace tesela {
namespace {

using sim::Connections;
using sim::FairShares;
using sim::QueuedMessage;

struct Event {
    double time = 0;
    std::uint64_t sequence = 0;
    std::uint64_t what = 0;
    enum class Kind : std::uint8_t { timer, arrival } kind = Kind::timer;
    friend bool operator<(const Event& a, const Event& b) {
        return a.time < b.time || (a.time == b.time && a.sequence < b.sequence);
    }
};

/// Events by time. A heap of which each node has four children: half as deep as std::priority_queue's, whose depth is
/// what an event costs, since every step down depends on the one before.
class EventQueue {
public:
    [[nodiscard]] bool empty() const { return events_.empty(); }
    [[nodiscard]] const Event& first() const { return events_.front(); }
    void push(const Event& event) {
        std::size_t at = events_.size();
        events_.push_back(event);
        for (; at > 0 && event < events_[(at - 1) / 4]; at = (at - 1) / 4) events_[at] = events_[(at - 1) / 4];
        events_[at] = event;
    }
    void pop() {
        const Event last = events_.back();
        events_.pop_back();
        if (!events_.empty()) sink(last);
    }

private:
    /// Puts an event where the first was, and then down to its place.
    void sink(const Event& event) {
        std::size_t at = 0;
        for (std::size_t child = 1; child < events_.size(); child = 4 * at + 1) {
            const std::size_t end = std::min(child + 4, events_.size());
            std::size_t least = child;
            for (std::size_t other = child + 1; other < end; ++other)
                if (events_[other] < events_[least]) least = other;
            if (event < events_[least]) break;
            events_[at] = events_[least];
            at = least;
        }
        events_[at] = event;
    }
    std::vector<Event> events_;
};

class Ports final : public Timeline {
public:
    explicit Ports(const Platform& platform) : connections_(platform), shares_(connections_.network().links()) {}

    [[nodiscard]] double now() const override { return now_; }
    void set_timer(double time, std::uint64_t what) override { add({.time = time, .what = what}); }

    void send(const SimulatedMessage& message) override {
        const std::uint32_t number = connections_.add(message, now_);
        if (connections_[number].queue.size() == 1) open(number);
    }

    void run(TimelineHandler& handler) override {
        while (true) {
            while (happens_now()) take(handler);
            if (share_links()) continue;  // some messages take no time
            handler.settle();
            share_links();
            const double next = std::min(next_sent_, events_.empty() ? never : events_.first().time);
            if (next == never) return;
            now_ = std::max(now_, next);
        }
    }

private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    /// A connection on which something is under way: the first message of its queue.
    struct Flow {
        std::uint32_t connection = 0;
        double left = 0;  ///< bytes not sent when the rate last changed
        double since = 0;
        double end = never;
    };
    struct Arrival {
        std::uint32_t id = 0;
        MessageTimes times;
    };

    [[nodiscard]] bool happens_now() const {
        return next_sent_ <= now_ || (!events_.empty() && events_.first().time <= now_);
    }

    void add(Event event) {
        event.sequence = sequence_++;
        events_.push(event);
    }

    void take(TimelineHandler& handler) {
        if (next_sent_ <= now_) return take_sent();
        const Event event = events_.first();
        events_.pop();
        if (event.kind == Event::Kind::timer) return handler.timer(event.what);
        const Arrival arrival = arrivals_[event.what];
        free_arrivals_.push_back(event.what);
        handler.message_arrived(arrival.id, arrival.times);
    }

    void open(std::uint32_t connection) {
        if (connection >= flow_of_.size()) flow_of_.resize(connection + 1);
        flow_of_[connection] = flows_.size();
        flows_.push_back({.connection = connection, .left = first(connection).message.bytes, .since = now_});
        shares_.add(connection, connections_[connection].links);
    }

    void close(std::size_t flow) {
        shares_.remove(flows_[flow].connection);
        flows_[flow] = flows_.back();
        flow_of_[flows_[flow].connection] = flow;
        flows_.pop_back();
    }

    [[nodiscard]] const QueuedMessage& first(std::uint32_t connection) {
        return connections_[connection].queue.front();
    }

    /// The last bytes of messages are on their way: the next of each connection follow at the same rate.
    void take_sent() {
        for (std::size_t f = flows_.size(); f-- > 0;) {
            Flow& flow = flows_[f];
            while (flow.end <= now_) {
                auto& queue = connections_[flow.connection].queue;
                expect_arrival(queue.front(), connections_[flow.connection].latency);
                queue.pop_front();
                if (queue.empty()) {
                    close(f);
                    break;
                }
                flow.left = queue.front().message.bytes;
                flow.since = now_;
                flow.end = now_ + flow.left / shares_.rate(flow.connection);
            }
        }
        find_next_sent();
    }

    void expect_arrival(const QueuedMessage& sent, double latency) {
        std::uint64_t number = arrivals_.size();
        if (free_arrivals_.empty()) {
            arrivals_.emplace_back();
        } else {
            number = free_arrivals_.back();
            free_arrivals_.pop_back();
        }
        arrivals_[number] = {sent.message.id, {.start = sent.start, .sent = now_, .arrival = now_ + latency}};
        add({.time = now_ + latency, .what = number, .kind = Event::Kind::arrival});
    }

    /// After connections were opened or closed; whether something has been sent by that.
    bool share_links() {
        if (!shares_.changed()) return false;
        for (const auto& [connection, before] : shares_.update()) {
            Flow& flow = flows_[flow_of_[connection]];
            flow.left = std::max(0.0, flow.left - before * (now_ - flow.since));
            flow.since = now_;
            flow.end = now_ + flow.left / shares_.rate(connection);
        }
        find_next_sent();
        return next_sent_ <= now_;
    }

    void find_next_sent() {
        next_sent_ = never;
        for (const Flow& flow : flows_) next_sent_ = std::min(next_sent_, flow.end);
    }

    Connections connections_;
    FairShares shares_;
    double now_ = 0;
    double next_sent_ = never;
    std::uint64_t sequence_ = 0;
    EventQueue events_;
    std::vector<Flow> flows_;
    std::vector<std::size_t> flow_of_;  // of connections that are open
    std::vector<Arrival> arrivals_;
    std::vector<std::uint64_t> free_arrivals_;
};

}  // namespace

std::unique_ptr<Timeline> ports_network(const Platform& platform) { return std::make_unique<Ports>(platform); }

}  // namespace tesela
