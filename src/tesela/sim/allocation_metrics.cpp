#include "tesela/sim/allocation_metrics.hpp"

#include "tesela/base/error.hpp"
#include "tesela/sim/rank_model.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <string_view>

namespace tesela {
namespace {

const RecordedDatum* written_tile(const Recording& recording, const RecordedItem& item) {
    for (const RecordedAccess& access : recording.accesses_of(item))
        if (writes(access.mode)) return &recording.data[static_cast<std::size_t>(access.datum)];
    return nullptr;
}

double kernel_cost(const KernelCosts& costs, std::string_view kernel) {
    if (kernel.ends_with("potrf") || kernel.ends_with("getrf")) return costs.factor;
    if (kernel.ends_with("trsm")) return costs.solve;
    if (kernel.ends_with("syrk")) return costs.symmetric_update;
    if (kernel.ends_with("gemm") || kernel.ends_with("gemv")) return costs.update;
    return 0;
}

double duration(const Recording& recording, const RecordedItem& item, const Workload& workload) {
    if (item.kind != RecordedItem::Kind::task) return 0;
    const double cost = kernel_cost(workload.costs, item.kernel->name);
    const RecordedDatum* tile = written_tile(recording, item);
    if (cost == 0 || tile == nullptr) return 0;
    const GridSize grid = workload.density.grid();
    if (tile->index.i >= grid.rows || tile->index.j >= grid.cols)
        throw Error("the recording writes tile ({}, {}), but the workload has {} x {} tiles", tile->index.i,
                    tile->index.j, grid.rows, grid.cols);
    return cost * workload.density[tile->index];
}

/// Nodes that run one task each at a time, the most urgent of those that are ready.
class ListSchedule {
public:
    struct Input {
        const std::vector<double>& durations;
        const std::vector<double>& priorities;
        const std::vector<std::uint32_t>& first_successor;
        const std::vector<std::uint32_t>& successors;
        const std::vector<std::int32_t>& places;
    };
    ListSchedule(const Input& input, std::vector<std::uint32_t> waits_for, Index nodes, Preemption preemption)
        : in_(input),
          waits_for_(std::move(waits_for)),
          left_(input.durations),
          nodes_(static_cast<std::size_t>(nodes)),
          preemption_(preemption) {}

    double makespan() {
        std::vector<std::uint32_t> first;
        for (std::uint32_t v = 0; v < waits_for_.size(); ++v)
            if (waits_for_[v] == 0) first.push_back(v);
        for (const std::uint32_t v : first) make_ready(v);
        while (true) {
            for (const std::int32_t node : touched_) choose(node);
            touched_.clear();
            if (events_.empty()) return now_;
            now_ = events_.top().time;
            // All that ends now has ended before anything is chosen.
            while (!events_.empty() && events_.top().time == now_) {
                const Event event = events_.top();
                events_.pop();
                Node& node = nodes_[static_cast<std::size_t>(event.node)];
                if (event.epoch == node.epoch) end_task(event.node);
            }
        }
    }

private:
    static constexpr std::uint32_t nothing = ~std::uint32_t{0};
    struct Event {
        double time = 0;
        std::int32_t node = 0;
        std::uint32_t epoch = 0;
        bool operator>(const Event& other) const { return time != other.time ? time > other.time : node > other.node; }
    };
    struct Ready {
        double priority = 0;
        std::uint32_t item = 0;
        bool operator<(const Ready& other) const {
            return priority != other.priority ? priority < other.priority : item > other.item;
        }
    };
    struct Node {
        std::priority_queue<Ready> ready;
        std::uint32_t running = nothing;
        double since = 0;
        std::uint32_t epoch = 0;  // counts starts, so that the end of a task that gave way is not believed
    };

    void make_ready(std::uint32_t v) {
        if (in_.durations[v] == 0) {
            release_successors(v);
            return;
        }
        nodes_[static_cast<std::size_t>(in_.places[v])].ready.push({in_.priorities[v], v});
        touched_.push_back(in_.places[v]);
    }
    void release_successors(std::uint32_t v) {
        for (std::uint32_t k = in_.first_successor[v]; k < in_.first_successor[v + 1]; ++k)
            if (--waits_for_[in_.successors[k]] == 0) make_ready(in_.successors[k]);
    }
    void end_task(std::int32_t number) {
        Node& node = nodes_[static_cast<std::size_t>(number)];
        const std::uint32_t v = std::exchange(node.running, nothing);
        touched_.push_back(number);
        release_successors(v);
    }
    void choose(std::int32_t number) {
        Node& node = nodes_[static_cast<std::size_t>(number)];
        if (node.ready.empty()) return;
        if (node.running != nothing) {
            if (preemption_ == Preemption::none || node.ready.top().priority <= in_.priorities[node.running]) return;
            left_[node.running] -= now_ - node.since;
            node.ready.push({in_.priorities[node.running], node.running});
        }
        node.running = node.ready.top().item;
        node.ready.pop();
        node.since = now_;
        events_.push({now_ + left_[node.running], number, ++node.epoch});
    }

    Input in_;
    std::vector<std::uint32_t> waits_for_;
    std::vector<double> left_;
    std::vector<Node> nodes_;
    Preemption preemption_;
    std::vector<std::int32_t> touched_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    double now_ = 0;
};

}  // namespace

AllocationMetrics::AllocationMetrics(const Recording& recording, const Workload& workload) : recording_(recording) {
    durations_.reserve(recording.items.size());
    for (const RecordedItem& item : recording.items) durations_.push_back(duration(recording, item, workload));
    const TaskGraph graph = dependency_graph(recording);
    waits_for_.resize(graph.size());
    first_successor_.assign(graph.size() + 1, 0);
    for (const std::uint32_t u : graph.predecessors) ++first_successor_[u + 1];
    for (std::size_t v = 0; v < graph.size(); ++v) first_successor_[v + 1] += first_successor_[v];
    successors_.resize(graph.predecessors.size());
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (std::uint32_t v = 0; v < graph.size(); ++v) {
        waits_for_[v] = static_cast<std::uint32_t>(graph.predecessors_of(v).size());
        for (const std::uint32_t u : graph.predecessors_of(v)) successors_[next[u]++] = v;
    }
    priorities_ = durations_;
    for (std::size_t v = graph.size(); v-- > 0;) {
        double longest = 0;
        for (std::uint32_t k = first_successor_[v]; k < first_successor_[v + 1]; ++k)
            longest = std::max(longest, priorities_[successors_[k]]);
        priorities_[v] += longest;
    }
}

double AllocationMetrics::critical_path() const {
    return priorities_.empty() ? 0 : *std::max_element(priorities_.begin(), priorities_.end());
}

double AllocationMetrics::ideal(Index nodes) const {
    double total = 0;
    for (const double seconds : durations_) total += seconds;
    return total / static_cast<double>(nodes);
}

std::vector<std::int32_t> AllocationMetrics::places(const Distribution& distribution) const {
    std::vector<std::int32_t> result;
    result.reserve(recording_.items.size());
    for (const RecordedItem& item : recording_.items) {
        const RecordedDatum* tile = item.kind == RecordedItem::Kind::task ? written_tile(recording_, item) : nullptr;
        const GridSize grid = distribution.grid();
        if (tile != nullptr && (tile->index.i >= grid.rows || tile->index.j >= grid.cols))
            throw Error("the operation has more tiles than the {} x {} of the distribution", grid.rows, grid.cols);
        result.push_back(tile == nullptr ? 0 : static_cast<std::int32_t>(distribution.owner(tile->index).number()));
    }
    return result;
}

double AllocationMetrics::load(const Distribution& distribution) const {
    std::vector<double> loads(static_cast<std::size_t>(distribution.nodes()));
    const std::vector<std::int32_t> place = places(distribution);
    for (std::size_t v = 0; v < place.size(); ++v) loads[static_cast<std::size_t>(place[v])] += durations_[v];
    return *std::max_element(loads.begin(), loads.end());
}

double AllocationMetrics::dependency_makespan(const Distribution& distribution, Preemption preemption) const {
    const std::vector<std::int32_t> place = places(distribution);
    return ListSchedule({durations_, priorities_, first_successor_, successors_, place}, waits_for_,
                        distribution.nodes(), preemption)
        .makespan();
}

double CommunicationModel::unit(const KernelCosts& costs) const {
    const auto rows = static_cast<double>(tile);
    return 2 * rows * rows * rows / flops / costs.update;
}

namespace {

/// Equal nodes of one worker, for which each kernel on full tiles takes its cost.
Platform unit_nodes(Index nodes, const KernelCosts& costs, const CommunicationModel& model) {
    WorkerGroup worker{.name = "node", .count = 1};
    const double unit = model.unit(costs);
    const auto add = [&](const char* kernel, double cost) {
        worker.kernels.push_back(
            {.kernel = kernel, .time = TimedKernel{.seconds = {{model.tile, cost * unit}}}, .source = Source::derived});
    };
    add("dpotrf", costs.factor);
    add("dgetrf", costs.factor);
    add("dtrsm", costs.solve);
    add("dsyrk", costs.symmetric_update);
    add("dgemm", costs.update);
    constexpr double plenty = 1e18;
    return {.name = "paper 001",
            .node_types = {{.name = "node",
                            .count = nodes,
                            .memory = plenty,
                            .memory_bandwidth = plenty,
                            .nic = {.bandwidth = model.bandwidth, .latency = 2 * model.latency},
                            .workers = {worker}}}};
}

}  // namespace

double communication_makespan(const Workload& workload, Index nodes, const CommunicationModel& model,
                              const std::function<void(Stream&, const Tiling&)>& submit) {
    SimulationOptions options{.scheduler = SimulatedScheduler::priority,
                              .submission_seconds = 0,
                              .passing_seconds = 0,
                              .ranks = ranks_from_density(workload.density, model.tile)};
    options.duration_factor = [&](const Recording& recording, std::uint32_t item) {
        const RecordedDatum* tile = written_tile(recording, recording.items[item]);
        return tile == nullptr ? 1.0 : workload.density[tile->index];
    };
    SimulatedEngine engine(unit_nodes(nodes, workload.costs, model), options);
    {
        Stream stream(engine, {.max_pending = std::numeric_limits<Index>::max()});
        const Index tiles = workload.density.grid().rows;
        submit(stream, Tiling::square(tiles * model.tile, model.tile));
    }
    return engine.result().makespan / model.unit(workload.costs);
}

}  // namespace tesela
