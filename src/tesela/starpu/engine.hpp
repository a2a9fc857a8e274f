#pragma once

#include "tesela/flow/critical_worker.hpp"
#include "tesela/flow/engine.hpp"
#include "tesela/kernels/kernel_use.hpp"
#include "tesela/trace/modules.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tesela {
namespace net {
class Nodes;
}

/// Whether accelerators get workers. No kernel uses them yet, and a worker for each would only take a core's time.
enum class Accelerators : std::uint8_t { none, shared };

/// What becomes of NodeDescription::warnings: printed on stderr when the engine starts, or left to who reads them.
enum class Warnings : std::uint8_t { print, keep };

struct StarpuOptions {
    /// Workers of this node, a critical one aside; 0 means the cores at hand divided among the nodes on this machine,
    /// less the one that a critical worker shares.
    int workers = 0;
    /// `streams` or a scheduler of StarPU; empty means `streams` on cores, `dmdas` with accelerators. Under `streams`,
    /// a free worker takes the task of highest priority among the streams that it may work for, and the workers of a
    /// stream can change while its tasks wait.
    std::string scheduler{};
    CriticalWorker critical_worker = CriticalWorker::none;
    /// Workers on top of the cores, for tasks that hold a limited resource (Task::needs) and spend their time waiting,
    /// as for a disk: others compute meanwhile. 0: such tasks run on the workers that compute.
    int resource_workers = 0;
    /// `shared`: those that this process sees, divided among the nodes on this machine.
    Accelerators accelerators = Accelerators::none;
    Warnings warnings = Warnings::print;
    /// Bytes that tiles, copies and messages of this node may take together; 0 means what the machine, the control
    /// group and the limits of the process leave it.
    double memory_bytes = 0;
    /// The largest tag of messages; 0 means what MPI allows.
    int largest_tag = 0;
    /// `bounds`: a kernel of one's own that uses an element outside of a TileSpan fails, with its name, the tile and
    /// the element; it takes a little time per element.
    TileChecks checks = usual_checks;
    /// How long an idle worker sleeps before it looks for work again: 0 spins.
    int idle_microseconds = 20;
};

/// What one node has, found at start-up; the same text can be printed for every node.
struct NodeDescription {
    std::string host;
    int cores = 0;
    int workers = 0;
    bool critical_worker = false;
    int resource_workers = 0;
    int accelerators = 0;
    int nodes_here = 1;
    double quota = 0;  ///< cores whose time the control groups leave this node; 0: no such limit
    int blas_threads = 1;
    std::string blas;
    std::string blas_core;           ///< the processor that the BLAS kernels in use are for
    std::string blas_core_replaced;  ///< what OpenBLAS had taken, where the command chose another; otherwise empty
    std::string vectors;             ///< the vector instructions that Tesela's own loops use: x86-64-v3
    std::string scheduler;
    /// The version of the StarPU that runs, where it comes from (package, built from source, user's own), and how many
    /// cores it was built for.
    std::string starpu;
    std::string starpu_origin;
    int starpu_cores = 0;
    double memory_bytes = 0;
    std::vector<std::string> warnings;

    /// "node 0 of 4: host tesela, 2 cores, 2 workers, …"
    [[nodiscard]] std::string line(NodeId node, Index nodes) const;
};

/// The engine on StarPU, with messages between the nodes when the process was started by mpirun or srun; without them
/// no thread for messages exists. One at a time in a process. Under several nodes, a node that ends or leaves a stream
/// where the others go on ends the job, with a line that says which node and why.
class StarpuEngine final : public Engine {
public:
    /// Throws Error if StarPU cannot start, or one is there already.
    explicit StarpuEngine(const StarpuOptions& options = {});
    ~StarpuEngine() override;
    StarpuEngine(const StarpuEngine&) = delete;
    StarpuEngine& operator=(const StarpuEngine&) = delete;

    [[nodiscard]] NodeId this_node() const override;
    [[nodiscard]] Index node_count() const override;
    [[nodiscard]] int worker_count() const override;
    [[nodiscard]] bool has_critical_worker() const override { return description().critical_worker; }
    [[nodiscard]] Index total_workers() const override;
    /// The processors that its workers are bound to, as the system numbers them; empty where some are bound to none.
    /// Nothing may be pending.
    [[nodiscard]] std::vector<int> worker_cores() const;
    [[nodiscard]] const NodeDescription& description() const;
    /// The descriptions of all nodes, by node; every node calls it.
    [[nodiscard]] std::vector<std::string> start_lines();

    std::unique_ptr<StreamState> open(const StreamOptions& options) override;
    Status close(StreamState& stream) override;
    std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) override;
    void submit(StreamState& stream, const Task& task) override;
    bool move(StreamState& stream, TileRef tile, NodeId to) override;
    void exchange(StreamState& stream, const Exchange& exchange) override;
    void share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) override;
    void retire(StreamState& stream, TileRef tile) override;
    void discard(StreamState& stream, TileRef tile) override;
    void fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) override;
    Status wait(StreamState& stream) override;
    void set_workers(StreamState& stream, WorkerSet workers) override;

    /// Records what happens from now on; nothing may be pending, and every node calls it. Throws Error if a trace is
    /// being written already or a file cannot be.
    void start_trace(const trace::Options& options);
    /// Ends the trace; nothing may be pending, and every node calls it. Throws Error if the file is incomplete.
    /// Destruction ends it too.
    void stop_trace();
    /// How much of this node was submitted and has not ended: tasks and messages of all streams.
    [[nodiscard]] Index pending() const;
    /// Stops the workers until `resume`, so that something else can be measured; nothing may be pending.
    void pause();
    void resume();
    using Engine::gather;
    [[nodiscard]] std::vector<std::string> gather(const std::string& text) override;
    /// The nodes, for something that all of them do together at this point of the program.
    [[nodiscard]] const net::Nodes& together();
    /// Messages and bytes that this node has sent to each node since it started; empty on a single node.
    struct Sent {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] std::vector<Sent> sent() const;
    /// Bytes that tiles of this engine hold now in this node's memory, and those kept for reuse.
    struct MemoryUse {
        double in_use = 0;
        double kept = 0;
        double peak = 0;
        double held_back = 0;   ///< room for tiles that nothing has written yet
        Index allocations = 0;  ///< how often memory was asked of the system
    };
    [[nodiscard]] MemoryUse memory_use() const;
    /// What kernels have done on this node since the program started, by name; kernels of one name count together.
    [[nodiscard]] std::vector<KernelUse> kernel_uses() const;

    class Implementation;

private:
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace tesela
