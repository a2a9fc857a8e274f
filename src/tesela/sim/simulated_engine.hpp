#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/sim/allocation_costs.hpp"
#include "tesela/sim/gpu_traffic.hpp"
#include "tesela/sim/rank_model.hpp"
#include "tesela/sim/schedule.hpp"
#include "tesela/sim/timeline.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// How a node chooses a worker for a task. `earliest_finish`, as StarPU's dmdas: when a task becomes ready it goes to
/// the workers that are expected to end it first, data transfers included, and waits there by priority. `priority`: one
/// list by priority, from which a worker that is free takes the first task that it can run.
enum class SimulatedScheduler : std::uint8_t { earliest_finish, priority };

struct SimulationOptions {
    SimulatedScheduler scheduler = SimulatedScheduler::earliest_finish;
    NetworkModel network = ports_network;
    /// Durations are multiplied by exp(noise·z - noise²/2), z normal: mean 1, a function of seed and task alone.
    double noise = 0;
    std::uint64_t seed = 0;
    /// What submission of a task costs on a node that runs it (or sends or receives for it), and on any other; where
    /// not given, what the platform says.
    std::optional<double> submission_seconds{};
    std::optional<double> passing_seconds{};
    RankModel ranks{};
    /// Where given, a task takes this many times its duration on the platform, whatever the ranks of its tiles.
    std::function<double(const Recording& recording, std::uint32_t item)> duration_factor{};
    CriticalWorker critical = CriticalWorker::none;
    AllocationCosts allocation{};
    /// Told of the run as it goes; they outlive the engine.
    std::vector<ScheduleObserver*> observers{};
    /// Told now and then how many tasks have been simulated.
    std::function<void(Index tasks)> progress{};
};

/// What a simulated run came to, over all waits so far.
struct SimulationResult {
    double makespan = 0;
    /// No schedule of these tasks on these nodes is shorter: see area_bound in sim/internal/bounds.hpp.
    double area_bound = 0;
    double critical_path = 0;
    double lower_bound = 0;
    Index tasks = 0;
    Index transfers = 0;
    double bytes = 0;
    double flops = 0;
    /// Share of the time of cores and cards spent in kernels (trace::share_of_time): over all, and per node.
    double utilisation = 0;
    std::vector<double> node_utilisation;
    std::vector<double> memory_peak;  ///< bytes of tiles in each node's main memory
    std::vector<GpuTraffic> node_gpus;
    std::vector<std::string> warnings;
};

/// The engine on a simulated cluster: records the stream and, at each wait, finds out what the StarPU engine would do
/// with it on the platform. Every node submits the whole stream at its own pace, within its throttle; tiles are sent to
/// the nodes that read them and kept there until written, moved or retired; a wait is a barrier for all nodes.
/// Simulated time goes on from one wait to the next. There is no data: futures yield the caller's default.
class SimulatedEngine final : public Engine {
public:
    /// Throws Error for a platform that check_platform refuses or options that make no sense.
    explicit SimulatedEngine(Platform platform, SimulationOptions options = {});
    ~SimulatedEngine() override;
    SimulatedEngine(const SimulatedEngine&) = delete;
    SimulatedEngine& operator=(const SimulatedEngine&) = delete;

    [[nodiscard]] NodeId this_node() const override { return NodeId{0}; }
    [[nodiscard]] Index node_count() const override;
    /// Of node 0: cores and GPUs.
    [[nodiscard]] int worker_count() const override;
    [[nodiscard]] Index total_workers() const override;

    std::unique_ptr<StreamState> open(const StreamOptions& options) override;
    std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) override;
    void submit(StreamState& stream, const Task& task) override;
    bool move(StreamState& stream, TileRef tile, NodeId to) override;
    void exchange(StreamState& stream, const Exchange& exchange) override;
    void share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) override;
    void retire(StreamState& stream, TileRef tile) override;
    void discard(StreamState& stream, TileRef tile) override;
    void fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) override;
    /// Simulates what all streams have submitted since the last wait. Throws Error naming a kernel that no worker of
    /// its node can run.
    Status wait(StreamState& stream) override;
    /// Acts when a node's submission comes to this point of the stream, on the workers of these numbers of every node
    /// (as in simulated_workers). Throws Error for a worker that no node has, a node that would have none left, or
    /// under the scheduler earliest_finish, which chooses workers before they are free.
    void set_workers(StreamState& stream, WorkerSet workers) override;

    [[nodiscard]] const Platform& platform() const;
    [[nodiscard]] const Recording& recording() const;
    [[nodiscard]] SimulationResult result() const;

private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace tesela
