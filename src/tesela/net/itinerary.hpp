#pragma once

#include "tesela/net/meetings.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace tesela::net {

/// Another node does something else than this one.
struct Elsewhere {
    int node = 0;
    std::uint64_t topic = 0;  ///< of what it does
    std::string there{};      ///< "waits for stream fit"
    std::string here{};       ///< what this node does
};

/// Counts what this node does, as long as one of its threads does all of it: then what has the same count is the same
/// on every node, and a node that does something else, in whichever stream, is noticed before all wait for each other.
/// With several threads nothing is compared: their order may differ from node to node.
/// Knows no MPI; `heard` may come from any thread.
class Itinerary {
public:
    /// One more step. Returns what another node does in its place, if that is something else.
    [[nodiscard]] std::optional<Elsewhere> step();
    /// The next thing is a meeting; sets the arrival's count. Returns what is wrong with it, if anything.
    [[nodiscard]] std::optional<Elsewhere> arrive(Arrival& arrival, const std::string& described);
    /// The meeting has ended.
    void leave();
    /// Another node has arrived at a meeting that has not ended here. Returns what is wrong with it, if anything.
    [[nodiscard]] std::optional<Elsewhere> heard(int node, const Arrival& arrival, const std::string& described);
    /// The meeting that this node has arrived at and that has not ended; empty if there is none.
    [[nodiscard]] std::string here();

private:
    /// False if another thread has counted too.
    [[nodiscard]] bool count();
    [[nodiscard]] std::optional<Elsewhere> beyond();
    [[nodiscard]] Elsewhere elsewhere(const std::string& here) const;

    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
    struct Place {
        std::uint64_t topic = nowhere;
        std::uint64_t round = nowhere;
        friend bool operator==(const Place&, const Place&) = default;
    };
    std::atomic<const void*> thread_{nullptr};
    std::atomic<bool> several_threads_{false};
    std::atomic<std::uint64_t> count_{0};
    /// Where another node has arrived, and with which count: what has that count here must be that meeting.
    std::atomic<std::uint64_t> expected_count_{nowhere};
    std::mutex mutex_;
    Place expected_;
    int expected_node_ = 0;
    std::string expected_described_;
    Place here_;
    std::string here_described_;
};

}  // namespace tesela::net
