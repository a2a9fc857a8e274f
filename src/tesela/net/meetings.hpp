#pragma once

#include "tesela/net/first_difference.hpp"
#include "tesela/net/transport.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace tesela::net {

/// Where a node has come to in something that all nodes do alike, when it wants to meet the others there.
struct Arrival {
    std::uint64_t topic = 0;     ///< what they do: the engine's life, or a stream's
    std::uint64_t round = 0;     ///< how often they met before in it
    std::uint32_t kind = 0;      ///< what it wants to do there
    std::uint64_t position = 0;  ///< how many steps it has made
    std::uint64_t trail = 0;     ///< a hash of these steps, to compare
    std::string text{};          ///< the name of it, for people
    std::uint64_t count = 0;     ///< how many things the node has done before, in all; 0: not counted (see Itinerary)
};

/// Lets all nodes agree on a number, each in its own time, by notices through node 0: a node says where it has arrived
/// before it waits for its own work, so that one that left the common way is noticed while others still wait for it.
/// Knows no MPI; safe for calls from several threads.
class Meetings {
public:
    struct Hooks {
        std::function<void(int to, const Notice&)> send;
        /// Some node has arrived; the first of its meeting, told to all.
        std::function<void(int node, const Arrival&)> arrived;
        /// Two nodes arrived at different places: nothing is agreed on any more.
        std::function<void(Case)> diverged;
        /// What a kind of arrival is called: "waits for stream fit".
        std::function<std::string(const Arrival&)> describe;
    };
    Meetings(int nodes, Hooks hooks) : nodes_(nodes), hooks_(std::move(hooks)) {}

    /// First: this node has arrived.
    void arrive(const Arrival& arrival);
    /// Then: what it brings. The smallest of all is agreed on.
    void bring(const Arrival& arrival, std::int64_t value);
    /// Then: the outcome, once.
    [[nodiscard]] std::optional<std::int64_t> outcome(const Arrival& arrival);

    /// Notices of these kinds are ours.
    static constexpr std::uint32_t first_kind = 1;
    static constexpr std::uint32_t last_kind = 4;
    void hear(int from, const Notice& notice);

private:
    enum class Kind : std::uint32_t { arrive = first_kind, first_arrived, bring, agreed = last_kind };
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    /// At node 0.
    struct Meeting {
        int first_node = 0;
        Arrival first{};
        int arrived = 0;
        int brought = 0;
        std::int64_t least = 0;
    };
    [[nodiscard]] static Notice notice(Kind kind, const Arrival& arrival);
    [[nodiscard]] static Arrival arrival_of(const Notice& notice);
    void hear_arrival(int from, const Arrival& arrival);
    void hear_value(const Arrival& arrival, std::int64_t value);
    void tell_all(const Notice& notice) const;

    int nodes_;
    Hooks hooks_;
    std::mutex mutex_;
    bool diverged_ = false;
    std::map<Key, Meeting> meetings_;
    std::map<Key, std::int64_t> agreed_;
};

}  // namespace tesela::net
