#pragma once

#include "tesela/flow/attachment.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/flow/status.hpp"
#include "tesela/flow/task.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tesela {

/// Workers of a node that a stream may use, numbered from 0 (cores first, then accelerators); empty means all.
using WorkerSet = std::vector<int>;

/// Throws Error for a number that is not one of `count` workers.
void check_workers(const WorkerSet& workers, int count);

struct StreamOptions {
    std::string name = "stream";
    /// Submission waits when this many tasks of the stream are pending on this node, so that memory stays bounded.
    Index max_pending = 16384;
    WorkerSet workers{};
};

/// What an engine keeps for one stream; engines derive from it.
class StreamState {
public:
    explicit StreamState(StreamOptions options) : options_(std::move(options)) {}
    virtual ~StreamState() = default;
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
    StreamState(StreamState&&) = delete;
    StreamState& operator=(StreamState&&) = delete;

    [[nodiscard]] const StreamOptions& options() const { return options_; }
    FailureFlag failure;
    /// Names of the phases, by PhaseId.
    std::vector<std::string> phases{""};

protected:
    StreamOptions options_;
};

/// Where the value of a tile arrives on its way out of an engine (see Future).
class Fetched {
public:
    explicit Fetched(std::size_t bytes) : bytes_(bytes) {}
    [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
    /// True unless the engine has no data.
    [[nodiscard]] bool has_value() const { return has_value_; }
    void arrive(bool with_value);
    void wait();

private:
    std::vector<std::byte> bytes_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    bool done_ = false;
    bool has_value_ = false;
};

/// Takes a stream of tasks and does something with it: runs it now, runs it on cores and nodes, records it, simulates
/// it. Every node of a parallel run submits the same stream; communication and the leaving out of what does not concern
/// this node happen in here. Algorithms see Stream, which checks and lowers before it calls these.
class Engine {
public:
    Engine() = default;
    virtual ~Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    Engine(Engine&&) = delete;
    Engine& operator=(Engine&&) = delete;

    [[nodiscard]] virtual NodeId this_node() const = 0;
    [[nodiscard]] virtual Index node_count() const = 0;
    /// Workers of this node that compute.
    [[nodiscard]] virtual int worker_count() const = 0;
    /// Workers of all nodes: the same number on every node, for choices that all must make alike.
    [[nodiscard]] virtual Index total_workers() const { return worker_count() * node_count(); }

    /// Opens a stream. Under several nodes every node opens its streams in the same order.
    virtual std::unique_ptr<StreamState> open(const StreamOptions& options) = 0;
    /// Ends a stream, after its pending work. On every node, at the same point of it.
    virtual void close(StreamState& stream) { (void)wait(stream); }
    /// Takes a matrix in. Throws Error when its tiles do not fit into this node's memory.
    virtual std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) = 0;
    /// Precondition: accesses are not `reduce`, `task.node` is set, tiles that are read have been written.
    virtual void submit(StreamState& stream, const Task& task) = 0;
    /// Gives a tile to another node, as a step of the stream. The attachment still names the old owner.
    virtual void move(StreamState& stream, TileRef tile, NodeId to) = 0;
    /// Moves parts of one matrix into another, as a step of the stream. Precondition: Stream::exchange has checked it.
    virtual void exchange(StreamState& stream, const Exchange& exchange) = 0;
    /// Nodes are going to read a tile: brings it to those that do not hold it, along a tree (see Directory::share).
    virtual void share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) = 0;
    /// Copies of the tile on nodes that do not own it are not needed any more.
    virtual void retire(StreamState& stream, TileRef tile) = 0;
    /// Brings the value that a tile has at this point of the stream to every node.
    virtual void fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) = 0;
    /// Waits for all work of the stream on all nodes; says how it ended and clears the failure.
    virtual Status wait(StreamState& stream) = 0;
    /// Changes the workers of a stream, for tasks that wait as well as for those to come; tasks that have started go on
    /// where they are. When it returns, no task of the stream starts on another worker. Throws Error for a worker that
    /// does not exist, or if the engine's scheduler gives tasks to workers before they are free.
    virtual void set_workers(StreamState& stream, WorkerSet workers) = 0;
};

}  // namespace tesela
