#pragma once

#include "tesela/net/first_difference.hpp"
#include "tesela/net/itinerary.hpp"
#include "tesela/net/meetings.hpp"
#include "tesela/net/nodes.hpp"
#include "tesela/starpu/internal/stream_state.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace tesela::starpu {

/// What the nodes of a parallel run agree on beside their messages: that they open, wait for and end the same streams
/// at the same steps, and how a stream ended. A node that goes another way ends the job, with a line that says which.
class Agreement {
public:
    Agreement(const net::Nodes& nodes, net::Transport::Options options);
    /// Every node, when all its streams are gone.
    ~Agreement();
    Agreement(const Agreement&) = delete;
    Agreement& operator=(const Agreement&) = delete;
    Agreement(Agreement&&) = delete;
    Agreement& operator=(Agreement&&) = delete;

    [[nodiscard]] net::Transport& transport() { return *transport_; }

    /// One at a time opens a stream, from its number to `know`: hold this meanwhile.
    [[nodiscard]] std::unique_lock<std::mutex> opening() { return std::unique_lock(opening_); }
    /// The slot of a stream that is being opened, the same on every node. Throws Error if too many are open.
    [[nodiscard]] int open(std::uint64_t number, const std::string& name);
    /// From here on its failures are heard.
    void know(StarpuStream& stream);
    /// Waits for the stream's work here, then for the other nodes; the outcome is the same on all.
    enum class Then : std::uint8_t { goes_on, ends };
    [[nodiscard]] Status wait(StarpuStream& stream, Then then, const std::function<void()>& work);
    /// A stream has made one more step, with this count; ends the job if another node has stopped before it.
    void step(StarpuStream& stream, std::uint64_t now);
    /// This node waits for something of a stream, for long: the others look whether they have done the same.
    void waits_long(const StarpuStream& stream);
    /// All nodes have come to something that they do together outside of streams.
    void meet();
    /// Tells the other nodes that a stream has failed here, once per round.
    void tell_failure(StarpuStream& stream);

private:
    enum class Kind : std::uint32_t { open, wait, end, together, finish };
    static constexpr std::uint32_t failure_notice = net::Meetings::last_kind + 1;
    static constexpr std::uint32_t trail_notice = failure_notice + 1;
    static_assert(trail_notice < net::FirstDifference::first_kind);

    /// What was heard of a stream's round that is still to begin here.
    struct Early {
        std::uint64_t round = 0;
        Status failure{};
        std::uint64_t last_step = ~std::uint64_t{0};
        int last_step_of = 0;
    };
    void hear(int from, const net::Notice& notice);
    void hear_failure(const net::Notice& notice);
    void hear_trail(int from, const net::Notice& notice);
    [[nodiscard]] std::optional<net::Case> compare_trail(const StarpuStream& stream) const;
    void arrived(int node, const net::Arrival& arrival);
    [[nodiscard]] std::optional<net::Case> compare(int node, const net::Arrival& arrival);
    [[nodiscard]] net::Case case_of(const net::Elsewhere& other) const;
    void mistaken(int from, const net::Message& expected, const std::string& why);
    /// Ends the job when the step is found in which two nodes differ. Until then this node goes no further.
    void differ(net::Case what);
    [[noreturn]] void go_no_further();
    [[nodiscard]] std::optional<net::Recalled> recall(std::uint64_t topic, std::uint64_t step);
    [[nodiscard]] static std::string describe(const net::Arrival& arrival);
    [[nodiscard]] std::int64_t meet(net::Arrival arrival, const std::function<std::int64_t()>& value);
    /// In what all nodes do outside of streams.
    [[nodiscard]] std::int64_t meet(Kind kind, std::uint64_t position, const std::string& text,
                                    const std::function<std::int64_t()>& value);
    [[nodiscard]] int free_slot();
    [[nodiscard]] Early* early_of(std::uint64_t stream, std::uint64_t round);
    void begin_round(StarpuStream& stream);
    [[nodiscard]] std::string agreed_reason(const std::string& mine) const;

    const net::Nodes& nodes_;
    net::Meetings meetings_;
    net::FirstDifference difference_;
    /// Nodes differ: the job ends soon.
    std::atomic<bool> astray_{false};
    std::unique_ptr<net::Transport> transport_;
    std::mutex opening_;
    std::mutex mutex_;
    std::map<std::uint64_t, StarpuStream*> streams_;
    std::map<std::uint64_t, Early> early_;
    std::uint64_t opened_ = 0;
    std::vector<bool> slots_;
    net::Itinerary itinerary_;
    std::uint64_t meetings_of_engine_ = 0;
    net::NoExit no_exit_;
};

}  // namespace tesela::starpu
