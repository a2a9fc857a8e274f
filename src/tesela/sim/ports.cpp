#include "tesela/sim/internal/message_gate.hpp"
#include "tesela/sim/timeline.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace tesela {
namespace {

using sim::MessageGate;

struct Event {
    double time = 0;
    std::uint64_t sequence = 0;
    std::uint64_t what = 0;
    std::uint32_t epoch = 0;  ///< of the message when this was expected
    enum class Kind : std::uint8_t { timer, sent, arrival } kind = Kind::timer;
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
    explicit Ports(const Platform& platform) : gate_(platform), flights_on_(gate_.network().links().size()) {}

    [[nodiscard]] double now() const override { return now_; }
    void set_timer(double time, std::uint64_t what) override { add({.time = time, .what = what}); }
    void send(const SimulatedMessage& message) override { gate_.wait(message); }

    void run(TimelineHandler& handler) override {
        const std::function let_go = [&](const SimulatedMessage& message, const MessageGate::Rates& rates) {
            start(message, rates);
            handler.message_started(message.id);
        };
        while (true) {
            while (happens_now()) take(handler);
            gate_.open(let_go);
            if (happens_now()) continue;  // messages that take no time
            handler.settle();
            gate_.open(let_go);
            if (events_.empty()) return;
            now_ = std::max(now_, events_.first().time);
        }
    }

private:
    /// A message on its way.
    struct Flight {
        SimulatedMessage message;
        MessageTimes times;
        MessageGate::Rates rates;
        double left = 0;  ///< bytes not sent when the rate last changed
        double since = 0;
        std::uint32_t epoch = 0;
    };

    [[nodiscard]] bool happens_now() const { return !events_.empty() && events_.first().time <= now_; }

    void add(Event event) {
        event.sequence = sequence_++;
        events_.push(event);
    }

    void take(TimelineHandler& handler) {
        const Event event = events_.first();
        events_.pop();
        if (event.kind == Event::Kind::timer) return handler.timer(event.what);
        const auto number = static_cast<std::uint32_t>(event.what);
        if (event.kind == Event::Kind::sent) {
            if (event.epoch == flights_[number].epoch) leave(number);
            return;
        }
        const Flight flight = flights_[number];
        free_flights_.push_back(number);
        handler.message_arrived(flight.message.id, flight.times);
    }

    void start(const SimulatedMessage& message, const MessageGate::Rates& rates) {
        auto number = static_cast<std::uint32_t>(flights_.size());
        if (free_flights_.empty()) {
            flights_.emplace_back();
        } else {
            number = free_flights_.back();
            free_flights_.pop_back();
        }
        flights_[number] = {.message = message,
                            .times = {.start = now_},
                            .rates = rates,
                            .left = message.bytes,
                            .since = now_,
                            .epoch = flights_[number].epoch};
        for (const std::uint32_t l : gate_.network().route(message.from, message.to)) flights_on_[l].push_back(number);
        expect(number);
    }

    void expect(std::uint32_t number) {
        Flight& flight = flights_[number];
        add({.time = now_ + std::max(0.0, flight.left) / flight.rates.claimed,
             .what = number,
             .epoch = ++flight.epoch,
             .kind = Event::Kind::sent});
    }

    /// The last byte is on its way: what is under way on the same links goes faster, then the next may start.
    void leave(std::uint32_t number) {
        Flight& flight = flights_[number];
        gate_.leave(flight.message, flight.rates.claimed);
        double latency = 0;
        faster_.clear();
        for (const std::uint32_t l : gate_.network().route(flight.message.from, flight.message.to)) {
            latency += gate_.network().links()[l].latency;
            auto& flights = flights_on_[l];
            flights.erase(std::find(flights.begin(), flights.end(), number));
            faster_.insert(faster_.end(), flights.begin(), flights.end());
        }
        flight.times.sent = now_;
        flight.times.arrival = now_ + latency;
        add({.time = flight.times.arrival, .what = number, .kind = Event::Kind::arrival});
        for (const std::uint32_t other : faster_) go_faster(other);
    }

    void go_faster(std::uint32_t number) {
        Flight& flight = flights_[number];
        const double missing = flight.rates.alone - flight.rates.claimed;
        if (missing <= 1e-9 * flight.rates.alone) return;
        const double more = gate_.claim_more(flight.message, missing);
        if (more == 0) return;
        flight.left -= flight.rates.claimed * (now_ - flight.since);
        flight.since = now_;
        flight.rates.claimed += more;
        expect(number);
    }

    MessageGate gate_;
    double now_ = 0;
    std::uint64_t sequence_ = 0;
    EventQueue events_;
    std::vector<Flight> flights_;
    std::vector<std::uint32_t> free_flights_;
    std::vector<std::vector<std::uint32_t>> flights_on_;  // per link
    std::vector<std::uint32_t> faster_;
};

}  // namespace

std::unique_ptr<Timeline> ports_network(const Platform& platform) { return std::make_unique<Ports>(platform); }

}  // namespace tesela
