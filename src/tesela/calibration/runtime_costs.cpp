#include "tesela/calibration/runtime_costs.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/kernels/dense.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela::calibration {
namespace {

constexpr int repetitions = 5;         // the best counts
constexpr double busy_seconds = 0.25;  // of each repetition
constexpr double share_of_wire = 0.4;  // of which messages are under way, so that all of them meet busy workers
constexpr Index busy_tile = 256;       // what the workers multiply
constexpr Index slots = 4;             // tiles that a node sends in turn
constexpr Index small_tile = 32;       // 8 kB
constexpr Index large_tile = 512;      // 2 MB
constexpr int submitted_tasks = 4000;
constexpr Index token_columns = 64;
constexpr Index tokens_per_worker = 16;

double seconds_between(Clock::time_point start, Clock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}

/// When the last product of this node ended, in the clock's ticks.
struct LastEnd {
    std::atomic<Clock::rep> ticks{0};
    [[nodiscard]] Clock::time_point time() const { return Clock::time_point(Clock::duration(ticks.load())); }
};
struct MultiplyArguments {
    LastEnd* last = nullptr;
};

KernelCost no_cost(std::span<const TileShape>, const void*) noexcept { return {}; }

KernelResult multiply(const KernelCall& call) noexcept {
    constexpr GemmArguments product{.alpha = 1e-9};
    const KernelResult result = Dense<double>::gemm.cpu({call.tiles, &product});
    auto& last = call.args<MultiplyArguments>().last->ticks;
    const Clock::rep now = Clock::now().time_since_epoch().count();
    for (Clock::rep before = last; before < now && !last.compare_exchange_weak(before, now);) {
    }
    return result;
}
KernelResult do_nothing(const KernelCall&) noexcept { return {}; }

const KernelOf<MultiplyArguments, const double, const double, double> multiply_kernel{"multiply", no_cost, multiply};
const KernelOf<NoArguments, double> touch_kernel{"touch", no_cost, do_nothing};
const KernelOf<NoArguments, const double, double> look_kernel{"look", no_cost, do_nothing};
const KernelOf<NoArguments, const double, const double, double> look_at_two_kernel{"look", no_cost, do_nothing};

/// A matrix of which every node has a row of square tiles, each written once.
Matrix<double> row_per_node(Stream& stream, Index nodes, Index columns, Index tile) {
    std::vector<std::int32_t> owners;
    for (Index i = 0; i < nodes; ++i)
        owners.insert(owners.end(), static_cast<std::size_t>(columns), static_cast<std::int32_t>(i));
    Matrix<double> matrix(stream, Tiling::uniform({nodes * tile, columns * tile}, {tile, tile}),
                          Distribution({nodes, columns}, nodes, std::move(owners)));
    for (Index i = 0; i < nodes; ++i)
        for (Index j = 0; j < columns; ++j)
            stream.submit(Task(Dense<double>::laset, LasetArguments{.diagonal = 1}, write(matrix(i, j))));
    return matrix;
}

/// Busy workers on every node, with and without messages of one size meanwhile.
class BusyNodes {
public:
    enum class Messages : std::uint8_t { none, to_the_next };

    BusyNodes(StarpuEngine& engine, Index message_tile)
        : engine_(engine),
          stream_(engine, {.name = "runtime costs", .max_pending = std::numeric_limits<Index>::max()}),
          nodes_(engine.node_count()),
          workers_(static_cast<Index>(engine.max(engine.worker_count()))),
          factors_(row_per_node(stream_, nodes_, 1, busy_tile)),
          products_(row_per_node(stream_, nodes_, workers_, busy_tile)),
          sent_(row_per_node(stream_, nodes_, slots, message_tile)),
          tokens_(row_per_node(stream_, nodes_, slots, 1)) {
        require_done(stream_.wait());
    }

    /// Seconds until the workers of this node have done their products, `rounds` of so many each, while each round
    /// sends a tile of every slot.
    double run(Index rounds, Index products_per_round, Messages messages) {
        engine_.barrier();
        last_.ticks = 0;
        const auto start = Clock::now();
        for (Index r = 0; r < rounds; ++r) {
            for (Index node = 0; node < nodes_; ++node) submit_messages(node, messages);
            for (Index node = 0; node < nodes_; ++node) submit_products(node, products_per_round);
        }
        require_done(stream_.wait());
        return seconds_between(start, last_.time());
    }

private:
    void submit_messages(Index node, Messages messages) {
        constexpr std::int32_t urgent = 1;
        const Index from = messages == Messages::none ? node : (node + 1) % nodes_;
        for (Index s = 0; s < slots; ++s) {
            stream_.submit(Task(touch_kernel, read_write(sent_(from, s))).at(0, urgent));
            stream_.submit(Task(look_kernel, read(sent_(from, s)), read_write(tokens_(node, s))).at(0, urgent));
        }
    }
    void submit_products(Index node, Index count) {
        for (Index k = 0; k < count; ++k)
            for (Index w = 0; w < workers_; ++w)
                stream_.submit(Task(multiply_kernel, {&last_}, read(factors_(node, 0)), read(factors_(node, 0)),
                                    read_write(products_(node, w))));
    }

    StarpuEngine& engine_;
    LastEnd last_;
    Stream stream_;
    Index nodes_;
    Index workers_;
    Matrix<double> factors_;
    Matrix<double> products_;
    Matrix<double> sent_;
    Matrix<double> tokens_;
};

/// Seconds that the workers of this node lose to a message of one tile which it sends or receives.
double lost_to_message(StarpuEngine& engine, const NetworkTimes& network, Index tile) {
    using enum BusyNodes::Messages;
    BusyNodes busy(engine, tile);
    constexpr Index first_products = 16;
    const double product = engine.max(busy.run(1, first_products, none)) / first_products;
    const double bytes = 8.0 * static_cast<double>(tile * tile);
    const double wire = static_cast<double>(slots) * (network.latency + bytes / network.bandwidth);
    const auto rounds = std::clamp<Index>(static_cast<Index>(share_of_wire * busy_seconds / wire), 2, 100);
    // Long enough for the messages, however slow the network.
    const double seconds = std::max(busy_seconds, static_cast<double>(rounds) * wire / share_of_wire);
    const auto products = std::max<Index>(1, std::lround(seconds / product / static_cast<double>(rounds)));
    double without = std::numeric_limits<double>::infinity();
    double with = without;
    for (int r = 0; r < repetitions; ++r) {
        without = std::min(without, busy.run(rounds, products, none));
        with = std::min(with, busy.run(rounds, products, to_the_next));
    }
    const auto messages = static_cast<double>(2 * rounds * slots);  // sent and received
    return std::max(0.0, with - without) * engine.worker_count() / messages;
}

/// Seconds for a task without work: to submit one of this node, one of another (infinite where there is none), and
/// those that a worker needs for it.
struct TaskTimes {
    double submission = std::numeric_limits<double>::infinity();
    double passing = std::numeric_limits<double>::infinity();
    double task = std::numeric_limits<double>::infinity();
};

/// Tasks with three tiles, as those of most algorithms, for every node in turn; one worker of each runs them.
class EmptyTasks {
public:
    explicit EmptyTasks(StarpuEngine& engine)
        : engine_(engine),
          stream_(engine, {.name = "empty tasks", .max_pending = std::numeric_limits<Index>::max(), .workers = {0}}),
          tokens_(row_per_node(stream_, engine.node_count(), token_columns, 1)) {}

    TaskTimes measure() {
        TaskTimes best;
        for (int r = 0; r < repetitions; ++r) {
            require_done(stream_.wait());
            engine_.pause();
            for (Index node = 0; node < engine_.node_count(); ++node) {
                const double seconds = submit(node);
                double& least = NodeId{node} == engine_.this_node() ? best.submission : best.passing;
                least = std::min(least, seconds);
            }
            const auto start = Clock::now();
            engine_.resume();
            require_done(stream_.wait());
            best.task = std::min(best.task, seconds_between(start, Clock::now()) / submitted_tasks);
        }
        return best;
    }

private:
    /// Seconds per task.
    double submit(Index node) {
        const auto start = Clock::now();
        for (Index k = 0; k < submitted_tasks; ++k)
            stream_.submit(Task(look_at_two_kernel, read(tokens_(node, k % token_columns)),
                                read(tokens_(node, (k + 17) % token_columns)),
                                read_write(tokens_(node, (k + 31) % token_columns))));
        return seconds_between(start, Clock::now()) / submitted_tasks;
    }

    StarpuEngine& engine_;
    Stream stream_;
    Matrix<double> tokens_;
};

/// Seconds from one task to the next where all workers of a node take tasks without work that do not wait for each
/// other.
double seconds_between_tasks(StarpuEngine& engine) {
    const auto columns = tokens_per_worker * static_cast<Index>(engine.max(engine.worker_count()));
    Stream stream(engine, {.name = "short tasks", .max_pending = std::numeric_limits<Index>::max()});
    const auto tokens = row_per_node(stream, engine.node_count(), columns, 1);
    double best = std::numeric_limits<double>::infinity();
    for (int r = 0; r < repetitions; ++r) {
        require_done(stream.wait());
        engine.pause();
        for (Index k = 0; k < submitted_tasks; ++k)
            for (Index node = 0; node < engine.node_count(); ++node)
                stream.submit(Task(touch_kernel, read_write(tokens(node, k % columns))));
        const auto start = Clock::now();
        engine.resume();
        require_done(stream.wait());
        best = std::min(best, seconds_between(start, Clock::now()) / submitted_tasks);
    }
    return best;
}

}  // namespace

RuntimeCosts measure_runtime_costs(StarpuEngine& engine, const std::optional<NetworkTimes>& network) {
    const TaskTimes empty = EmptyTasks(engine).measure();
    RuntimeCosts costs{.submission = empty.submission, .task = empty.task, .source = Source::measured};
    if (engine.max(engine.worker_count()) > 1) costs.turn = seconds_between_tasks(engine);
    if (!network) return costs;
    costs.passing = empty.passing;
    const double small = lost_to_message(engine, *network, small_tile);
    const double large = lost_to_message(engine, *network, large_tile);
    const double bytes_between = 8.0 * static_cast<double>(large_tile * large_tile - small_tile * small_tile);
    const double per_byte = std::max(0.0, large - small) / bytes_between;
    costs.message = std::max(0.0, small - per_byte * 8.0 * static_cast<double>(small_tile * small_tile));
    costs.message_bandwidth = per_byte > 0 ? 1 / per_byte : 0;
    return costs;
}

}  // namespace tesela::calibration
