#pragma once

#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace tesela {

/// A message between two nodes of a simulated cluster, named by a number that is free to use again when it has arrived.
struct SimulatedMessage {
    std::uint32_t id = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t priority = 0;
    double bytes = 0;
};

/// When a message went to the network, had left it to its last byte, and was at its target.
struct MessageTimes {
    double start = 0;
    double sent = 0;
    double arrival = 0;
};

/// Who is told what happens on a timeline.
class TimelineHandler {
public:
    TimelineHandler() = default;
    virtual ~TimelineHandler() = default;
    TimelineHandler(const TimelineHandler&) = delete;
    TimelineHandler& operator=(const TimelineHandler&) = delete;
    TimelineHandler(TimelineHandler&&) = delete;
    TimelineHandler& operator=(TimelineHandler&&) = delete;

    virtual void timer(std::uint64_t what) = 0;
    virtual void message_started(std::uint32_t id) = 0;
    virtual void message_arrived(std::uint32_t id, const MessageTimes& times) = 0;
    /// Called when all that is known to happen at this moment has been told, before time goes on.
    virtual void settle() = 0;
};

/// Simulated time and the network: what is set and sent happens in order of time, and the same at every run. Messages
/// wait at their source by priority (larger first, then by number) until the network model lets them go.
class Timeline {
public:
    Timeline() = default;
    virtual ~Timeline() = default;
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;
    Timeline(Timeline&&) = delete;
    Timeline& operator=(Timeline&&) = delete;

    /// Seconds since the beginning.
    [[nodiscard]] virtual double now() const = 0;
    /// Tells `what` at a time that is not in the past.
    virtual void set_timer(double time, std::uint64_t what) = 0;
    virtual void send(const SimulatedMessage& message) = 0;
    /// Until no timer is set and no message is on its way; then more can be set and sent, and run again.
    virtual void run(TimelineHandler& handler) = 0;
};

/// Makes the timeline of a platform.
using NetworkModel = std::function<std::unique_ptr<Timeline>(const Platform&)>;

/// The port model: network interfaces and uplinks are ports with a capacity in each direction. A message starts when
/// every port on its way has at least half of the rate left that it would have alone; ports that have too little are
/// kept for it from less urgent ones. It goes faster when more is left, and arrives the latencies of its ports after
/// its last byte was sent. Between equal interfaces that is one message at a time per direction, the most urgent first.
[[nodiscard]] std::unique_ptr<Timeline> ports_network(const Platform& platform);

}  // namespace tesela
