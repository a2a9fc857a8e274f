#include "tesela/starpu/network.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/starpu/internal/parallel.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <thread>

namespace tesela {
namespace {

using starpu::check_mpi;

constexpr Index smallest_message = 1024;
/// Messages walk through so many bytes, so that they come from memory and not from a cache.
constexpr Index walked_bytes = Index{64} << 20;
constexpr int fewest_rounds = 8;
constexpr int most_rounds = 2000;

/// A communicator that is freed at the end.
class Communicator {
public:
    Communicator() : comm_(starpu::Parallel().duplicate()) {}
    ~Communicator() { MPI_Comm_free(&comm_); }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    Communicator(Communicator&&) = delete;
    Communicator& operator=(Communicator&&) = delete;
    [[nodiscard]] MPI_Comm get() const { return comm_; }

    /// Waits until every node has come here, without keeping a core busy meanwhile.
    void meet() const {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
        for (int done = 0; done == 0;) {
            check_mpi(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }

private:
    MPI_Comm comm_;
};

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
        check_mpi(MPI_Send(next(bytes), static_cast<int>(bytes), MPI_BYTE, partner_.node, 0, partner_.comm),
                  "MPI_Send");
    }
    void receive(Index bytes) {
        check_mpi(MPI_Recv(next(bytes), static_cast<int>(bytes), MPI_BYTE, partner_.node, 0, partner_.comm,
                           MPI_STATUS_IGNORE),
                  "MPI_Recv");
    }
    void exchange(Index bytes) {
        std::byte* const out = next(bytes);
        check_mpi(MPI_Sendrecv(out, static_cast<int>(bytes), MPI_BYTE, partner_.node, 0, next(bytes),
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

    /// Both players do the round equally often. The first rounds, which fill MPI's own buffers and settle its protocol,
    /// do not count.
    template <class Round>
    double median_round(Round round) {
        const auto timed = [&] {
            const double start = MPI_Wtime();
            round();
            return MPI_Wtime() - start;
        };
        double first_rounds = 0;
        for (int r = 0; r < fewest_rounds; ++r) first_rounds += timed();
        const int rounds = agree_on_rounds(first_rounds / fewest_rounds);
        std::vector<double> times;
        for (int r = 0; r < rounds; ++r) times.push_back(timed());
        return median(std::move(times));
    }
    /// As many as fit into the time for one size, by the clock of the player that serves first.
    [[nodiscard]] int agree_on_rounds(double round_seconds) const {
        int rounds =
            static_cast<int>(std::clamp(seconds_per_size_ / round_seconds, double{fewest_rounds}, double{most_rounds}));
        if (partner_.i_serve == Serves::first)
            check_mpi(MPI_Send(&rounds, 1, MPI_INT, partner_.node, 1, partner_.comm), "MPI_Send");
        else
            check_mpi(MPI_Recv(&rounds, 1, MPI_INT, partner_.node, 1, partner_.comm, MPI_STATUS_IGNORE), "MPI_Recv");
        return rounds;
    }

    Partner partner_;
    double seconds_per_size_;
    std::vector<std::byte> memory_;
    std::size_t at_ = 0;
};

void require_two_nodes(const StarpuEngine& engine, const NetworkOptions& options) {
    const Index nodes = engine.node_count();
    const Index a = options.first.number(), b = options.second.number();
    if (a == b || std::min(a, b) < 0 || std::max(a, b) >= nodes)
        throw Error(
            "the network between nodes {} and {} cannot be measured on {} nodes; start at least two with mpirun", a, b,
            nodes);
    if (options.largest_message < smallest_message || options.largest_message > Index{1} << 30)
        throw Error("messages of {} bytes cannot be timed; take between 1 KiB and 1 GiB", options.largest_message);
}

}  // namespace

NetworkTimes measure_network(StarpuEngine& engine, const NetworkOptions& options) {
    require_two_nodes(engine, options);
    const Communicator comm;
    const int first = static_cast<int>(options.first.number());
    const int second = static_cast<int>(options.second.number());
    const NodeId me = engine.this_node();
    const std::vector<Index> sizes = message_sizes(options.largest_message);
    std::vector<double> seconds(sizes.size() + 1);
    comm.meet();
    if (me == options.first) seconds = Player({comm.get(), second, Player::Serves::first}, options).play(sizes);
    if (me == options.second) seconds = Player({comm.get(), first, Player::Serves::second}, options).play(sizes);
    comm.meet();
    check_mpi(MPI_Bcast(seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, first, comm.get()), "MPI_Bcast");
    NetworkTimes times{.latency = seconds.front()};
    for (std::size_t n = 1; n < sizes.size(); ++n) times.points.push_back({sizes[n], seconds[n]});
    const auto largest = static_cast<double>(sizes.back());
    times.bandwidth = largest / times.points.back().seconds;
    times.bidirectional_bandwidth = largest / seconds.back();
    return times;
}

std::vector<std::string> gather_texts(StarpuEngine& engine, const std::string& text) {
    const auto nodes = static_cast<std::size_t>(engine.node_count());
    if (nodes == 1) return {text};
    const Communicator comm;
    const int size = static_cast<int>(text.size());
    std::vector<int> sizes(nodes), begins(nodes);
    comm.meet();
    check_mpi(MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm.get()), "MPI_Allgather");
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), ' ');
    check_mpi(
        MPI_Allgatherv(text.data(), size, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR, comm.get()),
        "MPI_Allgatherv");
    std::vector<std::string> texts;
    for (std::size_t n = 0; n < nodes; ++n)
        texts.push_back(all.substr(static_cast<std::size_t>(begins[n]), static_cast<std::size_t>(sizes[n])));
    return texts;
}

}  // namespace tesela
