#include "tesela/flow/stream.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/kernels/dense.hpp"

#include <algorithm>
#include <exception>

namespace tesela {
namespace {

const Kernel& laset_kernel(ElementType type) {
    return type == ElementType::f64 ? Dense<double>::laset : Dense<float>::laset;
}
const Kernel& geadd_kernel(ElementType type) {
    return type == ElementType::f64 ? Dense<double>::geadd : Dense<float>::geadd;
}

/// The owner of the first tile that the task writes.
Index node_of(const Task& task) {
    if (const Access* placing = placing_access(task.used())) return placing->tile.owner().number();
    throw Error("the task {} writes no tile and names no node, so it cannot be placed", task.kernel->name);
}

void check_has_value(const TileRef& tile) {
    if (tile.matrix->written(tile.index)) return;
    throw Error("tile ({}, {}) of matrix {} is read before anything wrote it", tile.index.i, tile.index.j,
                tile.matrix->name());
}

}  // namespace

Stream::Stream(Engine& engine, const StreamOptions& options) : engine_(engine) {
    if (options.max_pending < 1) throw Error("a stream must be allowed at least one pending task");
    state_ = engine.open(options);
}

Stream::~Stream() {
    try {
        // An error that ends the stream leaves sums behind that nobody will read.
        if (std::uncaught_exceptions() == 0)
            for (Attachment* matrix : std::vector(with_partials_)) add_all_partials(*matrix);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tesela: sums of stream {} are lost: {}\n", state_->options().name, error.what());
    }
    for (Attachment* matrix : with_partials_) matrix->add_partial_sums = nullptr;
    engine_.close(*state_);
}

Status Stream::wait() {
    for (Attachment* matrix : std::vector(with_partials_)) add_all_partials(*matrix);
    return engine_.wait(*state_);
}

void Stream::submit(Task task) {
    task.phase = phase_;
    if (task.placement == Placement::automatic) task.node = node_of(task);
    for (Access& access : task.used()) {
        check_written(task, access);
        if (access.mode == AccessMode::reduce)
            lower_reduction(task, access);
        else
            add_partials(access, task);
    }
    for (const Access& access : task.used())
        if (writes(access.mode)) access.tile.matrix->set_written(access.tile.index);
    engine_.submit(*state_, task);
}

void Stream::check_written(const Task& task, const Access& access) {
    if (!reads(access.mode) || access.tile.matrix->written(access.tile.index)) return;
    throw Error("{} reads tile ({}, {}) of matrix {} before anything wrote it", task.kernel->name, access.tile.index.i,
                access.tile.index.j, access.tile.matrix->name());
}

/// A sum from another node goes into a partial sum there; on the owner's node it goes into the tile itself.
void Stream::lower_reduction(const Task& task, Access& access) {
    access.mode = AccessMode::commute;
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
    partials.push_back({node, attach(std::move(spec))});
    if (!matrix.add_partial_sums) {
        matrix.add_partial_sums = [this](Attachment& gone) {
            if (std::uncaught_exceptions() == 0) add_all_partials(gone);
            std::erase(with_partials_, &gone);
        };
        with_partials_.push_back(&matrix);
    }
    Attachment& sum = *partials.back().sum;
    submit(Task(laset_kernel(matrix.type()), {{{&sum, {0, 0}}, AccessMode::write}}, LasetArguments{})
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
        submit(Task(geadd_kernel(matrix.type()), {{sum, AccessMode::read}, {access.tile, AccessMode::commute}},
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
    if (to.number() < 0 || to.number() >= engine_.node_count())
        throw Error("tile ({}, {}) of matrix {} cannot move to node {}: there are {} nodes", tile.index.i, tile.index.j,
                    tile.matrix->name(), to.number(), engine_.node_count());
    if (tile.owner() == to) return;
    Task mover;
    mover.phase = phase_;
    add_partials({tile, AccessMode::read}, mover);
    engine_.move(*state_, tile, to);
    tile.matrix->set_owner(tile.index, to);
}

void Stream::exchange(Exchange exchange) {
    check_exchange(exchange);
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
        submit(Task(laset_kernel(exchange.to->type()), {{target, AccessMode::write}}, LasetArguments{})
                   .at(0, before.priority));
    add_partials({target, filled ? AccessMode::write : AccessMode::read_write}, before);
    exchange.to->set_written(tile);
}

void Stream::share(TileRef tile, std::span<const NodeId> nodes, std::int32_t priority) {
    for (const NodeId node : nodes)
        if (node.number() < 0 || node.number() >= engine_.node_count())
            throw Error("tile ({}, {}) of matrix {} cannot be shared with node {}: there are {} nodes", tile.index.i,
                        tile.index.j, tile.matrix->name(), node.number(), engine_.node_count());
    share(tile, Readers{.nodes = nodes}, priority);
}

void Stream::share_with_owners(TileRef tile, std::initializer_list<TileBlock> of, std::int32_t priority) {
    share(tile, Readers{.owners_of = {of.begin(), of.size()}}, priority);
}

void Stream::share(TileRef tile, const Readers& readers, std::int32_t priority) {
    check_has_value(tile);
    if (engine_.node_count() == 1) return;
    Task reader;
    reader.phase = phase_;
    add_partials({tile, AccessMode::read}, reader);
    engine_.share(*state_, tile, readers, priority);
}

void Stream::retire(TileRef tile) { engine_.retire(*state_, tile); }

std::shared_ptr<Fetched> Stream::fetch(TileRef tile) {
    check_has_value(tile);
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
