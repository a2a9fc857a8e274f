#include "tesela/net/network.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/net/internal/communicator.hpp"
#include "tesela/net/internal/timed_rounds.hpp"
#include "tesela/net/nodes.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tesela {
namespace {

using net::check;

constexpr Index smallest_message = 1024;
/// Messages walk through so many bytes, so that they come from memory and not from a cache.
constexpr Index walked_bytes = Index{64} << 20;

std::vector<Index> message_sizes(Index largest) {
    std::vector<Index> sizes{0};
    for (Index bytes = smallest_message; bytes <= largest; bytes *= 2) sizes.push_back(bytes);
    return sizes;
}

/// One of the two nodes that exchange messages; blocking calls, which answer as fast as MPI can.
class Player {
public:
    enum class Serves : std::uint8_t { first, second };
    struct Partner {
        MPI_Comm comm = MPI_COMM_NULL;
        int node = 0;
        Serves i_serve = Serves::first;
    };

    Player(const Partner& partner, const NetworkOptions& options)
        : partner_(partner),
          seconds_per_size_(options.seconds_per_size),
          memory_(static_cast<std::size_t>(std::max(walked_bytes, 2 * options.largest_message))) {}

    /// Seconds one way for each size, and at the end those of an exchange of the largest.
    std::vector<double> play(const std::vector<Index>& sizes) {
        std::vector<double> seconds;
        for (const Index bytes : sizes) seconds.push_back(median_round([&] { there_and_back(bytes); }) / 2);
        seconds.push_back(median_round([&] { exchange(sizes.back()); }));
        return seconds;
    }

private:
    void there_and_back(Index bytes) {
        if (partner_.i_serve == Serves::first) send(bytes);
        receive(bytes);
        if (partner_.i_serve == Serves::second) send(bytes);
    }
    void send(Index bytes) {
        check(MPI_Send(next(bytes), static_cast<int>(bytes), MPI_BYTE, partner_.node, 0, partner_.comm), "MPI_Send");
    }
    void receive(Index bytes) {
        check(MPI_Recv(next(bytes), static_cast<int>(bytes), MPI_BYTE, partner_.node, 0, partner_.comm,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
    }
    void exchange(Index bytes) {
        std::byte* const out = next(bytes);
        check(MPI_Sendrecv(out, static_cast<int>(bytes), MPI_BYTE, partner_.node, 0, next(bytes),
                           static_cast<int>(bytes), MPI_BYTE, partner_.node, 0, partner_.comm, MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
    }
    std::byte* next(Index bytes) {
        const auto size = static_cast<std::size_t>(bytes);
        if (at_ + size > memory_.size()) at_ = 0;
        std::byte* const here = memory_.data() + at_;
        at_ += size;
        return here;
    }

    /// Both players do the round equally often.
    template <class Round>
    double median_round(Round round) {
        const auto timed = [&] {
            const double start = MPI_Wtime();
            round();
            return MPI_Wtime() - start;
        };
        return median(net::timed_rounds(seconds_per_size_, timed, [this](bool on) { return agree_to_go_on(on); }));
    }
    /// By the clock of the player that serves first.
    [[nodiscard]] bool agree_to_go_on(bool on) const {
        int goes_on = on ? 1 : 0;
        if (partner_.i_serve == Serves::first)
            check(MPI_Send(&goes_on, 1, MPI_INT, partner_.node, 1, partner_.comm), "MPI_Send");
        else
            check(MPI_Recv(&goes_on, 1, MPI_INT, partner_.node, 1, partner_.comm, MPI_STATUS_IGNORE), "MPI_Recv");
        return goes_on != 0;
    }

    Partner partner_;
    double seconds_per_size_;
    std::vector<std::byte> memory_;
    std::size_t at_ = 0;
};

void require_two_nodes(const net::Nodes& nodes, const NetworkOptions& options) {
    const int a = options.first, b = options.second;
    if (a == b || std::min(a, b) < 0 || std::max(a, b) >= nodes.count())
        throw Error(
            "the network between nodes {} and {} cannot be measured on {} nodes; start at least two with mpirun", a, b,
            nodes.count());
    if (options.largest_message < smallest_message || options.largest_message > Index{1} << 30)
        throw Error("messages of {} bytes cannot be timed; take between 1 KiB and 1 GiB", options.largest_message);
}

}  // namespace

NetworkTimes measure_network(const net::Nodes& nodes, const NetworkOptions& options) {
    require_two_nodes(nodes, options);
    const net::Nodes::Communicator comm(nodes.communicator().get());
    const std::vector<Index> sizes = message_sizes(options.largest_message);
    std::vector<double> seconds(sizes.size() + 1);
    nodes.meet();
    if (nodes.me() == options.first)
        seconds = Player({comm.get(), options.second, Player::Serves::first}, options).play(sizes);
    if (nodes.me() == options.second)
        seconds = Player({comm.get(), options.first, Player::Serves::second}, options).play(sizes);
    nodes.meet();
    nodes.broadcast(std::as_writable_bytes(std::span{seconds}), options.first);
    NetworkTimes times{.latency = seconds.front()};
    for (std::size_t n = 1; n < sizes.size(); ++n) times.points.push_back({sizes[n], seconds[n]});
    const auto largest = static_cast<double>(sizes.back());
    times.bandwidth = largest / times.points.back().seconds;
    times.bidirectional_bandwidth = largest / seconds.back();
    return times;
}

}  // namespace tesela
