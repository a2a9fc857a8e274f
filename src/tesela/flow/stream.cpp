#include "tesela/flow/stream.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/flow/running_kernel.hpp"
#include "tesela/kernels/dense.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <unistd.h>

namespace tesela {
namespace {

const Kernel& laset_kernel(ElementType type) {
    if (type == ElementType::f64) return Dense<double>::laset;
    return Dense<float>::laset;
}
const Kernel& geadd_kernel(ElementType type) {
    if (type == ElementType::f64) return Dense<double>::geadd;
    return Dense<float>::geadd;
}

std::atomic<bool> failed_unheard{false};

/// Registered before `main`, so that it is called after what else ends with the program, as MPI does.
[[maybe_unused]] const int exit_code_is_set = ::on_exit(
    [](int code, void*) {
        if (code != EXIT_SUCCESS || !failed_unheard) return;
        std::fflush(nullptr);
        ::_exit(EXIT_FAILURE);
    },
    nullptr);

/// The owner of the first tile that the task writes.
Index node_of(const Task& task) {
    if (const Access* placing = placing_access(task.used())) return placing->tile.owner().number();
    throw Error("the task {} writes no tile and names no node, so it cannot be placed", task.kernel->name);
}

}  // namespace

Stream::Stream(Engine& engine, const StreamOptions& options) : engine_(engine), life_(engine.life()) {
    if (options.max_pending < 1) throw Error("a stream must be allowed at least one pending task");
    state_ = engine.open(options);
}

Stream::~Stream() {
    if (engine_is_gone()) {
        fmt::print(stderr, "tesela: stream {} outlives its engine: its pending work was ended with that\n",
                   state_->options().name);
        return;
    }
    try {
        // An error that ends the stream leaves sums behind that nobody will read.
        if (!unwinding())
            for (Attachment* matrix : std::vector(with_partials_)) add_all_partials(*matrix);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tesela: sums of stream {} are lost: {}\n", state_->options().name, error.what());
    }
    for (Attachment* matrix : with_partials_) matrix->add_partial_sums = nullptr;
    const Status status = engine_.close(*state_);
    if (status.ok()) return;
    engine_.note_failed(state_->era());
    if (!unwinding()) report_unheard(status);
}

/// Nobody will ask any more how the stream ended: whoever reads the program's output or its exit code must know.
void Stream::report_unheard(const Status& status) const {
    if (engine_.is_first())
        fmt::print(stderr, "tesela: stream {} failed, and nobody waited for it to hear so: {}\n",
                   state_->options().name, status.describe());
    failed_unheard = true;
}

Status Stream::wait() {
    if (engine_is_gone()) throw Error("stream {} is waited for after its engine is gone", state_->options().name);
    check_outside_kernels("wait");
    for (Attachment* matrix : std::vector(with_partials_)) add_all_partials(*matrix);
    Status status = engine_.wait(*state_);
    kept_.clear();
    if (!status.ok()) engine_.note_failed(state_->era());
    state_->begin_era();
    return status;
}

Attached Stream::attach(MatrixSpec spec) {
    if (engine_is_gone()) throw Error("stream {} is used after its engine is gone", state_->options().name);
    Attached attached(engine_.attach(*state_, std::move(spec)).release());
    attached->engine = &engine_;
    return attached;
}

void Stream::submit(Task task) {
    if (task.kernel == nullptr)
        throw Error("a task without a kernel was submitted to stream {}", state_->options().name);
    check_outside_kernels(task.kernel->name);
    task.phase = phase_;
    for (std::size_t k = 0; k < task.used().size(); ++k) {
        const Access& access = task.accesses[k];
        check_tile(task.kernel->name, access.tile);
        for (std::size_t l = 0; l < k; ++l)
            if (task.accesses[l].tile == access.tile) check_shared(task, l, k);
        if (access.view != TileView{} || access.tile.matrix->compression()) check_use(task, k);
        if (reads(access.mode)) require_value(task.kernel->name, access.tile);
    }
    if (task.placement == Placement::automatic) task.node = node_of(task);
    check_node(task.kernel->name, task.node);
    for (Access& access : task.used()) {
        if (access.mode != AccessMode::reduce) {
            add_partials(access, task);
            continue;
        }
        lower_reduction(task, access);
        task.reductions = Reductions::lowered;
    }
    for (const Access& access : task.used())
        if (writes(access.mode)) access.tile.matrix->set_written(access.tile.index, state_->era());
    engine_.submit(*state_, task);
}

void Stream::check_node(const char* who, Index node) const {
    if (node >= 0 && node < engine_.node_count()) return;
    throw Error("{} cannot go to node {}: there are {} nodes, counted from 0", who, node, engine_.node_count());
}

void Stream::check_tile(const char* who, const TileRef& tile) const {
    if (engine_is_gone()) throw Error("{}: stream {} is used after its engine is gone", who, state_->options().name);
    if (tile.matrix == nullptr) throw Error("{} uses a tile of no matrix", who);
    const Attachment& matrix = *tile.matrix;
    if (matrix.engine != &engine_)
        throw Error("{} uses matrix {}, which belongs to another engine or is gone", who, matrix.name());
    const GridSize tiles = matrix.tiling().grid();
    const auto [i, j] = tile.index;
    if (i < 0 || j < 0 || i >= tiles.rows || j >= tiles.cols)
        throw Error("{} uses tile ({}, {}) of matrix {}, which has {}x{} tiles", who, i, j, matrix.name(), tiles.rows,
                    tiles.cols);
    if (!matrix.has(tile.index))
        throw Error("{} uses tile ({}, {}) of matrix {}, which stores its lower triangle only", who, i, j,
                    matrix.name());
}

/// What a kernel does not know of its tile: that it is stored as U·Vᵀ, transposed, or meant in part.
void Stream::check_use(const Task& task, std::size_t k) {
    const Kernel& kernel = *task.kernel;
    const auto& [tile, mode, view] = task.accesses[k];
    const auto [i, j] = tile.index;
    if (!TileUse::has(kernel.use.compressed, k) && tile.matrix->compressible(tile.index))
        throw Error("{} works on tiles with all their elements, and tile ({}, {}) of matrix {} may be stored as U*V'",
                    kernel.name, i, j, tile.matrix->name());
    if (TileUse::has(kernel.use.viewed, k)) return;
    if (view.op == Op::transpose || (view.part != Part::all && TileUse::has(kernel.use.whole, k)))
        throw Error(
            "{} takes its tile {} as it is stored, and tile ({}, {}) of matrix {} is meant {}: write the kernel "
            "with TileSpan, or hand it the tile's .stored() and tell it the rest by its arguments",
            kernel.name, k, i, j, tile.matrix->name(), view.op == Op::transpose ? "transposed" : "as a triangle");
}

/// A kernel that has one tile twice would read what it has just written.
void Stream::check_shared(const Task& task, std::size_t one, std::size_t other) {
    if (!writes(task.accesses[one].mode) && !writes(task.accesses[other].mode)) return;
    const auto& [matrix, index] = task.accesses[one].tile;
    throw Error("{} has tile ({}, {}) of matrix {} twice, and writes it: use another matrix for the result",
                task.kernel->name, index.i, index.j, matrix->name());
}

/// A worker that waits for others, or the order of whose work is by chance, is no part of a program.
void Stream::check_outside_kernels(const char* what) const {
    if (in_kernel())
        throw Error("{}: a kernel cannot use stream {}, only the program that submits tasks", what,
                    state_->options().name);
}

void Stream::check_single(const TileRef& tile) const {
    check_tile("read", tile);
    const TileShape shape = tile.shape();
    if (shape.rows != 1 || shape.cols != 1)
        throw Error("read takes a tile of one element; tile ({}, {}) of matrix {} has {}x{}: use fetch or gather",
                    tile.index.i, tile.index.j, tile.matrix->name(), shape.rows, shape.cols);
}

AccessMode Stream::mode_of_sums() const {
    return state_->options().sums == Sums::in_order ? AccessMode::read_write : AccessMode::commute;
}

/// A sum from another node goes into a partial sum there; on the owner's node it goes into the tile itself.
void Stream::lower_reduction(const Task& task, Access& access) {
    access.mode = mode_of_sums();
    if (access.tile.owner() != NodeId{task.node}) access.tile = {&partial_sum(task, access.tile), {0, 0}};
}

Attachment& Stream::partial_sum(const Task& task, TileRef tile) {
    Attachment& matrix = *tile.matrix;
    const NodeId node{task.node};
    auto& partials = matrix.partial_sums[tile.index];
    const auto found = std::find_if(partials.begin(), partials.end(), [&](const auto& p) { return p.node == node; });
    if (found != partials.end()) return *found->sum;

    const TileShape shape = tile.shape();
    MatrixSpec spec{.name = matrix.name() + "'",
                    .tiling = Tiling::uniform({shape.rows, shape.cols}, {shape.rows, shape.cols}),
                    .distribution = Distribution({1, 1}, engine_.node_count(), {static_cast<std::int32_t>(task.node)}),
                    .type = matrix.type()};
    try {
        partials.push_back({node, attach(std::move(spec))});
    } catch (const Error& error) {
        throw Error("reduce into matrix {} from node {} needs memory for a sum there: {}", matrix.name(), task.node,
                    error.what());
    }
    if (!matrix.add_partial_sums) {
        matrix.add_partial_sums = [this](Attachment& gone) {
            if (!unwinding()) add_all_partials(gone);
            std::erase(with_partials_, &gone);
        };
        with_partials_.push_back(&matrix);
    }
    Attachment& sum = *partials.back().sum;
    submit(Task::unchecked(laset_kernel(matrix.type()), {{{&sum, {0, 0}}, AccessMode::write}}, LasetArguments{})
               .at(task.step, task.priority));
    return sum;
}

/// The one small reduction of paper 000's Algorithm 1: partial sums are added just before the tile is next used.
void Stream::add_partials(const Access& access, const Task& before) {
    Attachment& matrix = *access.tile.matrix;
    if (matrix.partial_sums.empty()) return;
    const auto found = matrix.partial_sums.find(access.tile.index);
    if (found == matrix.partial_sums.end()) return;
    const std::vector<Attachment::PartialSum> partials = std::move(found->second);
    matrix.partial_sums.erase(found);
    if (access.mode == AccessMode::write) return;  // overwritten: the sums are not wanted any more
    for (const auto& partial : partials) {
        const TileRef sum{partial.sum.get(), {0, 0}};
        submit(Task::unchecked(geadd_kernel(matrix.type()), {{sum, AccessMode::read}, {access.tile, mode_of_sums()}},
                               GeaddArguments{})
                   .at(before.step, before.priority));
        retire(sum);
    }
}

/// All of a matrix: somebody outside the stream is going to look at it, or it goes.
void Stream::add_all_partials(Attachment& matrix) {
    while (!matrix.partial_sums.empty())
        add_partials({{&matrix, matrix.partial_sums.begin()->first}, AccessMode::read_write}, Task{});
    matrix.add_partial_sums = nullptr;
    std::erase(with_partials_, &matrix);
}

void Stream::move(TileRef tile, NodeId to) {
    check_tile("move", tile);
    check_node("a tile that moves", to.number());
    if (tile.owner() == to) return;
    Task mover;
    mover.phase = phase_;
    add_partials({tile, AccessMode::read}, mover);
    if (engine_.move(*state_, tile, to)) tile.matrix->set_owner(tile.index, to);
}

void Stream::exchange(Exchange exchange) {
    check_exchange(exchange);
    for (const Attachment* matrix : {exchange.from, exchange.to})
        if (matrix->compression())
            throw Error("matrix {} is compressed, and an exchange moves elements: use redistribute", matrix->name());
    exchange.phase = phase_;
    Task reader;
    reader.phase = phase_;
    reader.priority = exchange.options.priority;
    if (!exchange.from->partial_sums.empty()) {
        const Overlay::TileRange tiles = exchange.overlay->source_tiles();
        for (Index i = tiles.first.i; i < tiles.last.i; ++i)
            for (Index j = tiles.first.j; j < tiles.last.j; ++j)
                add_partials({{exchange.from, {i, j}}, AccessMode::read}, reader);
    }
    for_each_target(*exchange.overlay, [&](TileIndex tile) { prepare_target(exchange, tile); });
    engine_.exchange(*state_, exchange);
}

/// A tile that is not filled keeps what it has beside the submatrix, or gets zeros there if it has nothing yet.
void Stream::prepare_target(const Exchange& exchange, TileIndex tile) {
    const TileRef target{exchange.to, tile};
    Task before;
    before.priority = exchange.options.priority;
    const bool filled = exchange.overlay->covers(tile);
    if (!filled && !exchange.to->written(tile))
        submit(Task::unchecked(laset_kernel(exchange.to->type()), {{target, AccessMode::write}}, LasetArguments{})
                   .at(0, before.priority));
    add_partials({target, filled ? AccessMode::write : AccessMode::read_write}, before);
    exchange.to->set_written(tile, state_->era());
}

void Stream::share(TileRef tile, std::span<const NodeId> nodes, std::int32_t priority) {
    for (const NodeId node : nodes) check_node("a tile that is shared", node.number());
    share(tile, Readers{.nodes = nodes}, priority);
}

void Stream::share_with_owners(TileRef tile, std::initializer_list<TileBlock> of, std::int32_t priority) {
    share(tile, Readers{.owners_of = {of.begin(), of.size()}}, priority);
}

void Stream::share(TileRef tile, const Readers& readers, std::int32_t priority) {
    check_tile("share", tile);
    require_value("share", tile);
    if (engine_.node_count() == 1) return;
    Task reader;
    reader.phase = phase_;
    add_partials({tile, AccessMode::read}, reader);
    engine_.share(*state_, tile, readers, priority);
}

void Stream::retire(TileRef tile) {
    check_tile("retire", tile);
    engine_.retire(*state_, tile);
}

void Stream::discard(TileRef tile) {
    check_tile("discard", tile);
    Task reader;
    reader.phase = phase_;
    add_partials({tile, AccessMode::read}, reader);
    engine_.discard(*state_, tile);
    tile.matrix->set_discarded(tile.index);
}

std::shared_ptr<Fetched> Stream::fetch(TileRef tile) {
    check_outside_kernels("read");
    check_tile("fetch", tile);
    require_value("fetch", tile);
    Task reader;
    reader.phase = phase_;
    add_partials({tile, AccessMode::read}, reader);
    auto fetched = std::make_shared<Fetched>(tile.matrix->bytes(tile.index));
    engine_.fetch(*state_, tile, fetched);
    return fetched;
}

PhaseId Stream::phase_id(std::string_view name) {
    auto& names = state_->phases;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<PhaseId>(found - names.begin());
    names.emplace_back(name);
    return static_cast<PhaseId>(names.size() - 1);
}

}  // namespace tesela
