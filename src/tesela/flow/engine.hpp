#pragma once

#include "tesela/base/error.hpp"
#include "tesela/flow/attachment.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/flow/status.hpp"
#include "tesela/flow/task.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace tesela {

/// What `attach` throws where a matrix needs more memory than a node has.
class DoesNotFit : public Error {
public:
    using Error::Error;
};

/// Workers of a node that a stream may use, numbered from 0 (cores first, then accelerators); empty means all.
using WorkerSet = std::vector<int>;

/// Throws Error for a number that is not one of `count` workers.
void check_workers(const WorkerSet& workers, int count);

/// Throws Error if a task's kernel cannot run on cores.
void require_cpu_entry(const Task& task);

/// How what tasks reduce into a tile is added on a node: as they come, which waits for nobody, or in the order of the
/// stream, so that the digits do not depend on who was faster.
enum class Sums : std::uint8_t { as_they_come, in_order };

struct StreamOptions {
    std::string name = "stream";
    /// Submission waits when this many tasks of the stream are pending on this node, so that memory stays bounded.
    Index max_pending = 16384;
    WorkerSet workers{};
    Sums sums = Sums::as_they_come;
};

/// Submission that waits because so many tasks are pending goes on when these are left.
[[nodiscard]] constexpr Index resume_level(Index limit) { return limit * 3 / 4; }

/// What an engine keeps for one stream; engines derive from it.
class StreamState {
public:
    explicit StreamState(StreamOptions options) : options_(std::move(options)) { begin_era(); }
    virtual ~StreamState() = default;
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
    StreamState(StreamState&&) = delete;
    StreamState& operator=(StreamState&&) = delete;

    [[nodiscard]] const StreamOptions& options() const { return options_; }
    FailureFlag failure;
    /// Names the time between two waits, among those of all streams of this process.
    [[nodiscard]] std::uint64_t era() const { return era_.load(std::memory_order_relaxed); }
    void begin_era();
    /// Names of the phases, by PhaseId.
    std::vector<std::string> phases{""};

protected:
    StreamOptions options_;

private:
    std::atomic<std::uint64_t> era_{0};
};

/// How the value of a tile arrives: as its bytes; not, since the engine has no data; not, since what was to write it
/// has failed or did not run.
enum class Arrival : std::uint8_t { value, no_data, failure };

/// Where the value of a tile arrives on its way out of an engine (see Future).
class Fetched {
public:
    explicit Fetched(std::size_t bytes) : bytes_(bytes) {}
    [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
    /// True unless the engine has no data.
    [[nodiscard]] bool has_value() const { return arrived_ == Arrival::value; }
    void arrive(Arrival how);
    /// Waits for it; after a second, and every second from then on, `every_second` is called. Throws Error, on every
    /// node, if there is no value since the work failed that was to make it.
    void wait();
    /// The same without the error.
    [[nodiscard]] Arrival wait_for_arrival();
    std::function<void()> every_second;

private:
    std::vector<std::byte> bytes_;
    std::mutex mutex_;
    std::condition_variable arrives_;
    std::optional<Arrival> arrived_;
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

    /// Expired when the engine is gone.
    [[nodiscard]] std::weak_ptr<const void> life() const { return life_; }

    [[nodiscard]] virtual NodeId this_node() const = 0;
    /// Whether this is node 0, which alone says and writes what is the same for all.
    [[nodiscard]] bool is_first() const { return this_node() == NodeId{0}; }
    [[nodiscard]] virtual Index node_count() const = 0;
    /// Workers of this node that compute.
    [[nodiscard]] virtual int worker_count() const = 0;
    /// Whether this node has one more worker, for critical tasks alone (CriticalWorker).
    [[nodiscard]] virtual bool has_critical_worker() const { return false; }
    /// Workers of all nodes: the same number on every node, for choices that all must make alike.
    [[nodiscard]] virtual Index total_workers() const { return worker_count() * node_count(); }

    // What nodes tell each other outside of streams; every node calls it at the same point of its program. An engine
    // that plays several nodes in one process has each of them bring the same.
    /// Waits until every node has come here.
    void barrier() { (void)gather(std::string()); }
    /// What each node brings, by node.
    [[nodiscard]] virtual std::vector<std::string> gather(const std::string& text) {
        return std::vector<std::string>(static_cast<std::size_t>(node_count()), text);
    }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::vector<T> gather(const T& value) {
        std::vector<T> values;
        for (const std::string& bytes : gather(std::string(reinterpret_cast<const char*>(&value), sizeof(T)))) {
            values.emplace_back();
            std::memcpy(&values.back(), bytes.data(), sizeof(T));
        }
        return values;
    }
    /// The smallest and the largest of what they bring.
    template <class T>
    [[nodiscard]] T min(const T& value) {
        const std::vector<T> all = gather(value);
        return *std::min_element(all.begin(), all.end());
    }
    template <class T>
    [[nodiscard]] T max(const T& value) {
        const std::vector<T> all = gather(value);
        return *std::max_element(all.begin(), all.end());
    }
    /// What one of them brings.
    template <class T>
    [[nodiscard]] T broadcast(const T& value, NodeId from = NodeId{0}) {
        return gather(value)[static_cast<std::size_t>(from.number())];
    }

    /// Throws Error, on every node, unless all bring the same number: a digest of `what`, such as "the observations".
    void require_alike(std::string_view what, std::uint64_t digest);

    /// Opens a stream. Under several nodes every node opens its streams in the same order.
    virtual std::unique_ptr<StreamState> open(const StreamOptions& options) = 0;
    /// Ends a stream, after its pending work, and says how that ended. On every node, at the same point of it.
    virtual Status close(StreamState& stream) { return wait(stream); }
    /// Takes a matrix in. Throws Error when its tiles do not fit into this node's memory.
    virtual std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) = 0;
    /// Precondition: accesses are not `reduce`, `task.node` is set, tiles that are read have been written.
    virtual void submit(StreamState& stream, const Task& task) = 0;
    /// Gives a tile to another node, as a step of the stream. The attachment still names the old owner. False, on all
    /// nodes alike, if it stays where it is, since that node has no memory for it: the stream has failed.
    virtual bool move(StreamState& stream, TileRef tile, NodeId to) = 0;
    /// Moves parts of one matrix into another, as a step of the stream. Precondition: Stream::exchange has checked it.
    virtual void exchange(StreamState& stream, const Exchange& exchange) = 0;
    /// Nodes are going to read a tile: brings it to those that do not hold it, along a tree (see Directory::share).
    virtual void share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) = 0;
    /// Copies of the tile on nodes that do not own it are not needed any more.
    virtual void retire(StreamState& stream, TileRef tile) = 0;
    /// The value of the tile is not needed any more: where it moves before it is written again, no bytes travel.
    virtual void discard(StreamState& stream, TileRef tile) = 0;
    /// Brings the value that a tile has at this point of the stream to every node.
    virtual void fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) = 0;
    /// Waits for all work of the stream on all nodes; says how it ended and clears the failure.
    virtual Status wait(StreamState& stream) = 0;
    /// Changes the workers of a stream, for tasks that wait as well as for those to come; tasks that have started go on
    /// where they are. When it returns, no task of the stream starts on another worker. Throws Error for a worker that
    /// does not exist, or if the engine's scheduler gives tasks to workers before they are free.
    virtual void set_workers(StreamState& stream, WorkerSet workers) = 0;

    /// Whether the work of a stream between two waits has failed: what it was to write has no value.
    [[nodiscard]] bool has_failed(std::uint64_t era) const {
        return any_failed_.load(std::memory_order_acquire) && is_among_failed(era);
    }
    void note_failed(std::uint64_t era);

private:
    [[nodiscard]] bool is_among_failed(std::uint64_t era) const;

    std::shared_ptr<const int> life_ = std::make_shared<const int>(0);
    mutable std::shared_mutex failed_mutex_;
    std::unordered_set<std::uint64_t> failed_;
    std::atomic<bool> any_failed_{false};
};

/// Throws Error, for who reads it, if a tile has no value: nothing wrote it, or the work failed that was to.
void require_value(const char* who, const TileRef& tile);

}  // namespace tesela
