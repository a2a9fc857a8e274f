#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/flow/future.hpp"

#include <exception>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela {

/// What one application submits its tasks through: it has its own failure status, throttle, phases and worker set.
/// Several streams share one engine, and one that fails ends alone. A stream is used by one thread at a time.
///
/// It checks tasks (a tile is written before it is read) and lowers `reduce` accesses, so that every engine sees the
/// same plain tasks.
class Stream {
public:
    explicit Stream(Engine& engine, const StreamOptions& options = {});
    /// Waits for the work that is still pending. If that has failed, and no error is on its way that says so, a line
    /// tells it on stderr, and the program ends with exit code 1 where it would end with 0.
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    Stream(Stream&&) = delete;
    Stream& operator=(Stream&&) = delete;

    [[nodiscard]] Engine& engine() const { return engine_; }
    [[nodiscard]] StreamState& state() const { return *state_; }

    [[nodiscard]] Attached attach(MatrixSpec spec);
    /// Submits one task and returns. Throws Error, and nothing is submitted, if a tile is not there (outside the grid
    /// or what is stored, or of another engine), is read before anything wrote it, or the task's node does not exist.
    void submit(Task task);
    /// Gives a tile to another node from this point of the stream on. Throws Error as `submit` does.
    void move(TileRef tile, NodeId to);
    /// Moves parts of one matrix into another. Target tiles that nothing wrote and that are not filled are set to 0
    /// first. Throws Error, before anything is submitted, if a tile that is needed does not exist or was not written,
    /// or a tile is both source and target.
    void exchange(Exchange exchange);
    /// Says which nodes are going to read a tile: it is handed on among them (a tree), where it would otherwise be sent
    /// to one after the other. Nodes that read it without having been named are sent it when they do.
    void share(TileRef tile, std::span<const NodeId> nodes, std::int32_t priority = 0);
    /// The same for the nodes that own some tiles at this point of the stream, in place of a list of them.
    void share_with_owners(TileRef tile, std::initializer_list<TileBlock> of, std::int32_t priority = 0);
    /// Says that copies of a tile on other nodes than its owner's will not be read again before it is written.
    void retire(TileRef tile);
    /// Says that nobody will read what a tile holds: it has no value until it is written again, and moves without
    /// bytes.
    void discard(TileRef tile);
    /// The value of a 1×1 tile at this point of the stream; `otherwise` on engines without data. Throws Error if the
    /// tile is larger.
    template <class T>
    [[nodiscard]] Future<T> read(const TileOf<T>& tile, std::type_identity_t<T> otherwise = {}) {
        check_single(tile);
        return {fetch(tile), otherwise};
    }
    /// All elements of a tile at this point of the stream, column by column.
    [[nodiscard]] std::shared_ptr<Fetched> fetch(TileRef tile);
    /// Waits for everything submitted so far, on every node, and says how it ended. The stream can be used again.
    [[nodiscard]] Status wait();
    /// Keeps something that tasks refer to until the next `wait`, when none of them needs it any more.
    void keep(std::shared_ptr<const void> thing) { kept_.push_back(std::move(thing)); }

    /// Changes the workers that the stream may use on this node, for tasks that wait too; see Engine::set_workers. On
    /// the StarPU engine another thread may call it while this stream's waits or submits.
    void set_workers(WorkerSet workers) { engine_.set_workers(*state_, std::move(workers)); }

    /// Labels the tasks submitted while it lives.
    class Phase {
    public:
        Phase(Stream& stream, PhaseId id) : stream_(stream), before_(std::exchange(stream.phase_, id)) {}
        ~Phase() { stream_.phase_ = before_; }
        Phase(const Phase&) = delete;
        Phase& operator=(const Phase&) = delete;
        Phase(Phase&&) = delete;
        Phase& operator=(Phase&&) = delete;

    private:
        Stream& stream_;
        PhaseId before_;
    };
    [[nodiscard]] Phase phase(std::string_view name) { return {*this, phase_id(name)}; }

private:
    PhaseId phase_id(std::string_view name);
    [[nodiscard]] AccessMode mode_of_sums() const;
    void lower_reduction(const Task& task, Access& access);
    void add_partials(const Access& access, const Task& before);
    void add_all_partials(Attachment& matrix);
    void share(TileRef tile, const Readers& readers, std::int32_t priority);
    Attachment& partial_sum(const Task& task, TileRef tile);
    void check_node(const char* who, Index node) const;
    void check_tile(const char* who, const TileRef& tile) const;
    void report_unheard(const Status& status) const;
    static void check_use(const Task& task, std::size_t tile);
    static void check_shared(const Task& task, std::size_t one, std::size_t other);
    void check_outside_kernels(const char* what) const;
    void check_single(const TileRef& tile) const;
    void prepare_target(const Exchange& exchange, TileIndex tile);

    [[nodiscard]] bool engine_is_gone() const { return life_.expired(); }
    /// Whether an error is ending what the stream is in.
    [[nodiscard]] bool unwinding() const { return std::uncaught_exceptions() > exceptions_before_; }

    Engine& engine_;
    std::weak_ptr<const void> life_;
    std::unique_ptr<StreamState> state_;
    PhaseId phase_ = 0;
    /// Matrices that have partial sums of this stream's, in the order in which they got them.
    std::vector<Attachment*> with_partials_;
    std::vector<std::shared_ptr<const void>> kept_;
    int exceptions_before_ = std::uncaught_exceptions();
};

}  // namespace tesela
