#pragma once

// A random stream, played on any engine: all that it does is drawn from a seed, so every node and every engine gets
// the same one. Its matrices are of floats and of doubles. Values are whole numbers, so that sums do not depend on
// their order.

#include "tesela/algs/redistribute.hpp"
#include "tesela/base/random.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/kernels/segment.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tesela::testing {

/// Numbers drawn one after the other.
class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    [[nodiscard]] Index below(Index bound) {
        return static_cast<Index>(random_.below(static_cast<std::uint64_t>(bound), {++drawn_, 0}));
    }
    [[nodiscard]] Index between(Index least, Index most) { return least + below(most - least + 1); }
    [[nodiscard]] bool one_in(Index many) { return below(many) == 0; }
    template <class T>
    [[nodiscard]] const T& of(const std::vector<T>& list) {
        return list[static_cast<std::size_t>(below(static_cast<Index>(list.size())))];
    }

private:
    Random random_;
    std::uint64_t drawn_ = 0;
};

/// What a task does to the tiles that it writes, from those that it reads and a number.
struct StepArguments {
    enum class Effect : std::uint8_t { set, mix, add };
    std::int32_t sources = 0;
    std::array<Effect, 3> effects{};  // of the tiles after the sources
    std::array<ElementType, Task::max_accesses> types{};
    Index number = 0;
    Index first_column = 0;  // those before it, and from the last on, are left alone
    Index last_column = 1 << 20;
};

struct StepKernels {
    /// A tile of floats or of doubles.
    struct TypedTile {
        const Tile& tile;
        ElementType type;

        [[nodiscard]] double get(ElementIndex at) const {
            const Index offset = at.i + at.j * tile.ld;
            return type == ElementType::f64 ? tile.as<double>()[offset] : static_cast<double>(tile.as<float>()[offset]);
        }
        void set(ElementIndex at, double value) const {
            const Index offset = at.i + at.j * tile.ld;
            if (type == ElementType::f64)
                tile.as<double>()[offset] = value;
            else
                tile.as<float>()[offset] = static_cast<float>(value);
        }
        /// What a task makes of its sources is below this, so that the sum of thousands is exact in the type.
        [[nodiscard]] double modulus() const { return type == ElementType::f64 ? 1048573 : 4093; }
        void change(ElementIndex at, StepArguments::Effect effect, double by) const {
            switch (effect) {
                case StepArguments::Effect::set: return set(at, std::fmod(by, modulus()));
                case StepArguments::Effect::mix: return set(at, std::fmod(5 * get(at) + by, modulus()));
                case StepArguments::Effect::add: return set(at, get(at) + std::fmod(by, modulus()));
            }
        }
    };
    static TypedTile tile_of(const KernelCall& call, std::size_t number) {
        return {call.tiles[number], call.args<StepArguments>().types[number]};
    }

    /// Of the sources, at an element of a target.
    static double sum_at(const KernelCall& call, ElementIndex at) {
        const auto& args = call.args<StepArguments>();
        auto sum = static_cast<double>(args.number + 7 * at.i + 3 * at.j);
        for (std::size_t k = 0; k < static_cast<std::size_t>(args.sources); ++k) {
            const Tile& from = call.tiles[k];
            sum += static_cast<double>(k + 2) * tile_of(call, k).get({at.i % from.rows(), at.j % from.cols()});
        }
        return sum;
    }
    static KernelResult run(const KernelCall& call) noexcept {
        const auto& args = call.args<StepArguments>();
        const auto sources = static_cast<std::size_t>(args.sources);
        for (std::size_t t = sources; t < call.tiles.size(); ++t) {
            const Tile& to = call.tiles[t];
            for (Index j = args.first_column; j < std::min(to.cols(), args.last_column); ++j)
                for (Index i = 0; i < to.rows(); ++i)
                    tile_of(call, t).change({i, j}, args.effects[t - sources], sum_at(call, {i, j}));
        }
        return {};
    }
    static KernelResult run_failure(const KernelCall& call) noexcept {
        return {Failure::not_positive_definite, call.args<Index>()};
    }
    static KernelResult run_nothing(const KernelCall&) noexcept { return {}; }
    static KernelCost cost(std::span<const TileShape>, const void*) noexcept { return {.flops = 1, .bytes = 8}; }

    static inline const Kernel step{"step", cost, run};
    static inline const Kernel failure{"failure", cost, run_failure};
    static inline const Kernel nothing{"nothing", cost, run_nothing};

    /// Of all tasks that a random stream has.
    static std::vector<std::string> names() {
        return {"step",   "failure", "nothing",      "dlaset",    "slaset",
                "dgeadd", "sgeadd",  "copy_segment", "open_tile", "close_tile"};
    }
};

struct RandomStream {
    std::uint64_t seed = 0;
    Index steps = 100;
    /// Of several streams at the same time, the first has tasks that fail.
    bool failures = false;
};

/// What can be seen of a run.
struct Seen {
    /// How each wait of a stream ended.
    std::vector<std::vector<Status>> statuses;
    /// Values that were fetched, by stream; where the engine has none, they are empty. Between a wait and the next they
    /// mean nothing if a task fails in between.
    struct Fetch {
        bool means_nothing = false;
        std::vector<double> values;
    };
    std::vector<std::vector<Fetch>> fetched;
    /// An array of the caller's when it was looked at: after a wait, or when its matrix had gone; not where a task
    /// fails meanwhile. `owners` says which node has each element in its array, -1 where it is elsewhere.
    struct Array {
        std::vector<double> elements;
        std::vector<std::int32_t> owners;
    };
    std::vector<Array> arrays;
};

/// One stream and its matrices.
class StreamPlayer {
public:
    StreamPlayer(Engine& engine, Draw& draw, std::size_t number, bool failures, Seen& seen)
        : draw_(draw),
          nodes_(engine.node_count()),
          number_(number),
          failures_(failures),
          seen_(seen),
          stream_(engine, {.name = "random", .max_pending = draw.of<Index>({1, 3, 20, 16384})}),
          token_(stream_, NodeId{draw.below(nodes_)}) {
        for (Index k = draw_.between(2, 4); k > 0; --k) add_matrix();
    }

    void step() {
        switch (draw_.below(failures_ ? 20 : 19)) {
            case 0:
            case 1:
            case 2:
            case 3: return compute();
            case 4:
            case 5: return add_from_nodes(AccessMode::commute);
            case 6:
            case 7: return add_from_nodes(AccessMode::reduce);
            case 8: return write_parts();
            case 9: return use_token();
            case 10: return move_tile();
            case 11: return draw_.one_in(3) ? move_matrix() : move_tile();
            case 12: return share();
            case 13: return share_with_owners();
            case 14: return stream_.retire(any_tile());
            case 15: return fetch(any_written_tile());
            case 16: return exchange();
            case 17: return draw_.one_in(2) ? wait() : compute();
            case 18: return change_matrices();
            default: return fail();
        }
    }

    /// Fetches all there is, waits, and ends the matrices.
    void finish() {
        for (const auto& held : matrices_)
            for (const TileRef& tile : tiles_of(*held))
                if (written(tile)) fetch(tile);
        if (draw_.one_in(2)) add_from_nodes(AccessMode::reduce);
        wait();
        if (draw_.one_in(2)) add_from_nodes(AccessMode::reduce);
        while (!matrices_.empty()) remove_matrix(matrices_.size() - 1);
        wait();
    }

private:
    using Effect = StepArguments::Effect;
    template <class T>
    struct HeldOf {
        std::vector<T> array;  // of the caller, if it is not empty
        std::unique_ptr<Matrix<T>> matrix;
    };
    struct Held {
        Index ld = 0;
        Distribution home;
        std::variant<HeldOf<double>, HeldOf<float>> of;

        [[nodiscard]] Attachment& matrix() const {
            return std::visit([](const auto& one) -> Attachment& { return one.matrix->view().matrix(); }, of);
        }
        [[nodiscard]] std::vector<double> elements() const {
            return std::visit([](const auto& one) { return std::vector<double>(one.array.begin(), one.array.end()); },
                              of);
        }
    };
    struct Target {
        TileRef tile;
        AccessMode mode = AccessMode::write;
        [[nodiscard]] Effect effect() const {
            return mode == AccessMode::write || mode == AccessMode::disjoint ? Effect::set
                   : mode == AccessMode::read_write                          ? Effect::mix
                                                                             : Effect::add;
        }
    };

    // Matrices.

    Tiling any_tiling() {
        const auto cuts = [&] {
            std::vector<Index> at{0};
            for (Index k = draw_.between(1, 4); k > 0; --k) at.push_back(at.back() + draw_.between(1, 9));
            return at;
        };
        const std::vector<Index> rows = cuts();
        return Tiling::from_cuts(rows, draw_.one_in(3) ? rows : cuts());
    }
    /// Over all nodes, or over some of them only, and then sometimes as a distribution of fewer nodes.
    Distribution any_distribution(GridSize grid) {
        const Index used = draw_.one_in(2) ? nodes_ : draw_.between(1, nodes_);
        return owners_below(used, grid, draw_.one_in(2) ? used : nodes_);
    }
    Distribution owners_below(Index used, GridSize grid, Index nodes) {
        std::vector<std::int32_t> owners;
        for (Index k = 0; k < grid.count(); ++k) owners.push_back(static_cast<std::int32_t>(draw_.below(used)));
        return {grid, nodes, owners};
    }

    void add_matrix() {
        const Tiling tiling = any_tiling();
        const bool lower = tiling.row_cuts() == tiling.col_cuts() && draw_.one_in(2);
        auto held = std::make_unique<Held>();
        held->home = any_distribution(tiling.grid());
        if (draw_.one_in(2)) held->of.emplace<HeldOf<float>>();
        const MatrixOptions options{.name = "M", .stored = lower ? Stored::lower : Stored::full};
        std::visit([&](auto& one) { attach(one, *held, tiling, options); }, held->of);
        matrices_.push_back(std::move(held));
        if (draw_.one_in(4)) return;  // its tiles are written later, or never
        for (const TileRef& tile : tiles_of(*matrices_.back()))
            if (!draw_.one_in(6)) write(tile);
    }

    template <class T>
    void attach(HeldOf<T>& one, Held& held, const Tiling& tiling, MatrixOptions options) {
        if (draw_.one_in(3)) {
            held.ld = tiling.size().i + draw_.below(4);
            for (Index k = 0; k < held.ld * tiling.size().j; ++k) one.array.push_back(static_cast<T>(k));
            options = over_array(one.array.data(), held.ld, tiling, options);
        }
        one.matrix = std::make_unique<Matrix<T>>(stream_, tiling, held.home, options);
    }

    void remove_matrix(std::size_t at) {
        const std::unique_ptr<Held> held = std::move(matrices_[at]);
        matrices_.erase(matrices_.begin() + static_cast<std::ptrdiff_t>(at));
        std::vector<std::int32_t> owners = owners_of_elements(*held);
        forget_changes_of(&held->matrix());
        std::visit([](auto& one) { one.matrix.reset(); }, held->of);
        if (!owners.empty()) arrays_.push_back({held->elements(), std::move(owners)});
    }

    void change_matrices() {
        if (matrices_.size() > 2 && draw_.one_in(2))
            remove_matrix(static_cast<std::size_t>(draw_.below(static_cast<Index>(matrices_.size()))));
        if (matrices_.size() < 5 && draw_.one_in(2)) add_matrix();
    }

    /// Empty where the matrix has memory of its own.
    [[nodiscard]] static std::vector<std::int32_t> owners_of_elements(const Held& held) {
        std::vector<std::int32_t> owners(held.elements().size(), -1);
        if (owners.empty()) return owners;
        const Tiling& tiling = held.matrix().tiling();
        for (const TileRef& tile : tiles_of(held)) {
            const NodeId owner = tile.owner();
            if (owner != held.home.owner(tile.index)) continue;
            for (Index j = 0; j < tile.shape().cols; ++j)
                for (Index i = 0; i < tile.shape().rows; ++i)
                    owners[static_cast<std::size_t>(tiling.row_begin(tile.index.i) + i +
                                                    (tiling.col_begin(tile.index.j) + j) * held.ld)] =
                        static_cast<std::int32_t>(owner.number());
        }
        return owners;
    }

    // Tiles and nodes.

    [[nodiscard]] static std::vector<TileRef> tiles_of(const Held& held) {
        std::vector<TileRef> tiles;
        Attachment& matrix = held.matrix();
        const GridSize grid = matrix.tiling().grid();
        for (Index i = 0; i < grid.rows; ++i)
            for (Index j = 0; j < grid.cols; ++j)
                if (matrix.has({i, j})) tiles.push_back({&matrix, {i, j}});
        return tiles;
    }
    [[nodiscard]] static bool written(const TileRef& tile) { return tile.matrix->written(tile.index); }
    [[nodiscard]] Held& any_matrix() { return *draw_.of(matrices_); }
    [[nodiscard]] TileRef any_tile() { return draw_.of(tiles_of(any_matrix())); }
    /// One that has a value: written now, if chance found one that has none.
    [[nodiscard]] TileRef any_written_tile() {
        const TileRef tile = any_tile();
        if (!written(tile)) write(tile);
        return tile;
    }
    [[nodiscard]] NodeId any_node() { return NodeId{draw_.below(nodes_)}; }
    [[nodiscard]] std::int32_t any_priority() { return static_cast<std::int32_t>(draw_.below(3)); }

    // Tasks.

    /// Up to three tiles with values that are not among these.
    [[nodiscard]] std::vector<TileRef> any_sources(const std::vector<Target>& targets) {
        std::vector<TileRef> sources;
        for (Index k = draw_.below(4); k > 0; --k) {
            const TileRef tile = any_written_tile();
            const auto is_it = [&](const Target& target) { return target.tile == tile; };
            if (std::find(sources.begin(), sources.end(), tile) == sources.end() &&
                std::none_of(targets.begin(), targets.end(), is_it))
                sources.push_back(tile);
        }
        return sources;
    }

    [[nodiscard]] Task task(const std::vector<TileRef>& sources, const std::vector<Target>& targets,
                            StepArguments arguments = {}) {
        arguments.sources = static_cast<std::int32_t>(sources.size());
        arguments.number = draw_.below(1000);
        Task result;
        result.kernel = &StepKernels::step;
        const auto add = [&](const Access& access) {
            const auto k = static_cast<std::size_t>(result.access_count++);
            arguments.types[k] = access.tile.matrix->type();
            result.accesses[k] = access;
        };
        for (const TileRef& tile : sources) add({tile, AccessMode::read});
        for (std::size_t k = 0; k < targets.size(); ++k) {
            note_change(targets[k].tile);
            add({targets[k].tile, targets[k].mode});
            arguments.effects[k] = targets[k].effect();
        }
        result.set_arguments(arguments);
        result.priority = any_priority();
        return result;
    }
    /// Where it writes, or somewhere else.
    void submit_anywhere(Task submitted) {
        if (draw_.one_in(2)) submitted.on(any_node());
        stream_.submit(submitted);
    }

    void write(const TileRef& tile) { submit_anywhere(task({}, {{tile, AccessMode::write}})); }

    /// One or two tiles from others.
    void compute() {
        std::vector<Target> targets;
        for (Index k = draw_.between(1, 2); k > 0; --k) {
            const TileRef tile = any_tile();
            const AccessMode mode = written(tile) && draw_.one_in(2) ? AccessMode::read_write : AccessMode::write;
            if (targets.empty() || targets[0].tile != tile) targets.push_back({tile, mode});
        }
        submit_anywhere(task(any_sources(targets), targets));
    }

    /// Some sums into one tile.
    void add_from_nodes(AccessMode mode) {
        const std::vector<Target> target{{any_written_tile(), mode}};
        for (Index k = draw_.between(1, 4); k > 0; --k) submit_anywhere(task(any_sources(target), target));
    }

    /// Parts of a tile at the same time, on its owner's node.
    void write_parts() {
        const TileRef tile = any_tile();
        note_change(tile);
        if (written(tile))
            stream_.submit(
                Task::unchecked(SegmentKernels::close, {{tile, AccessMode::read_write}}, SegmentArguments{}));
        else
            stream_.submit(Task::unchecked(SegmentKernels::open, {{tile, AccessMode::write}}, SegmentArguments{}));
        const std::vector<Target> target{{tile, AccessMode::disjoint}};
        for (Index first = 0; first < tile.shape().cols;) {
            const Index last = first + draw_.between(1, 5);
            stream_.submit(task(any_sources(target), target, {.first_column = first, .last_column = last}));
            first = last;
        }
        stream_.submit(Task::unchecked(SegmentKernels::close, {{tile, AccessMode::read_write}}, SegmentArguments{}));
    }

    void use_token() {
        const bool known = written(token_.ref());
        const AccessMode mode = !known            ? AccessMode::write
                                : draw_.one_in(2) ? AccessMode::read
                                                  : AccessMode::read_write;
        stream_.submit(Task::unchecked(StepKernels::nothing, {{token_.ref(), mode}}).on(any_node()));
    }

    void fail() {
        // The same number until it is told, since which of several fails first is a matter of chance.
        const auto number = static_cast<Index>(seen_.statuses[number_].size());
        fails_ = true;
        const TileRef tile = any_written_tile();
        note_change(tile);
        submit_anywhere(Task::unchecked(StepKernels::failure, {{tile, AccessMode::read_write}}, number));
    }

    // All else.

    void move_tile() {
        const TileRef tile = any_tile();
        stream_.move(tile, NodeId{draw_.below(tile.matrix->distribution().nodes())});
    }
    void move_matrix() {
        const Held& held = any_matrix();
        const Index nodes = held.matrix().distribution().nodes();
        const Distribution to = owners_below(nodes, held.matrix().tiling().grid(), nodes);
        std::visit([&](const auto& one) { redistribute(stream_, one.matrix->view(), to); }, held.of);
    }

    void share() {
        std::vector<NodeId> nodes;
        for (Index k = draw_.below(2 * nodes_ + 1); k > 0; --k) nodes.push_back(any_node());
        stream_.share(any_written_tile(), nodes, any_priority());
    }
    void share_with_owners() {
        const auto any_block = [&] {
            const Attachment& matrix = any_matrix().matrix();
            const GridSize grid = matrix.tiling().grid();
            const TileIndex first{draw_.below(grid.rows), draw_.below(grid.cols)};
            return TileBlock{&matrix, first, {draw_.between(first.i, grid.rows), draw_.between(first.j, grid.cols)}};
        };
        const TileRef tile = any_written_tile();
        const TileBlock one = any_block();
        if (draw_.one_in(2))
            stream_.share_with_owners(tile, {one}, any_priority());
        else
            stream_.share_with_owners(tile, {one, any_block()}, any_priority());
    }

    void fetch(const TileRef& tile) { fetched_.push_back({stream_.fetch(tile), tile.matrix->type()}); }

    /// Between two matrices of one type.
    void exchange() {
        const Held& from = any_matrix();
        const Held& to = any_matrix();
        if (&from == &to || from.of.index() != to.of.index()) return;
        std::visit(
            [&]<class T>(const HeldOf<T>& one) {
                exchange(one.matrix->view(), std::get<HeldOf<T>>(to.of).matrix->view());
            },
            from.of);
    }
    template <class T>
    void exchange(const MatrixView<T>& from, const MatrixView<T>& to) {
        const bool turned = draw_.one_in(4);
        if (from.part() != Part::all || to.part() != Part::all) return;
        const MatrixView<T> source = turned ? from.transposed() : from;
        const auto flip = [&](ElementIndex size) { return turned ? ElementIndex{size.j, size.i} : size; };
        const ElementIndex from_size = flip(from.matrix().tiling().size());
        const ElementIndex to_size = to.matrix().tiling().size();
        RedistributeOptions options;
        options.size = {draw_.between(1, std::min(from_size.i, to_size.i)),
                        draw_.between(1, std::min(from_size.j, to_size.j))};
        options.from_offset = {draw_.between(0, from_size.i - options.size.i),
                               draw_.between(0, from_size.j - options.size.j)};
        options.to_offset = {draw_.between(0, to_size.i - options.size.i),
                             draw_.between(0, to_size.j - options.size.j)};
        options.message_bytes = draw_.of<Index>({1, 300, 2000, 1 << 20});
        options.batch = draw_.of<Index>({0, 1, 2, 8});
        options.priority = any_priority();
        redistribution_overlay(source, to, options).for_each([&](const Segment& segment) {
            const TileRef tile{&source.matrix(), segment.from};
            if (!written(tile)) write(tile);
            note_change({&to.matrix(), segment.to});
        });
        redistribute(stream_, source, to, options);
    }

    void wait() {
        seen_.statuses[number_].push_back(stream_.wait());
        for (const auto& [fetched, type] : fetched_) {
            std::vector<double> values;
            if (fetched->wait_for_arrival() == Arrival::value)
                values = type == ElementType::f64 ? values_of<double>(*fetched) : values_of<float>(*fetched);
            seen_.fetched[number_].push_back({fails_, std::move(values)});
        }
        fetched_.clear();
        for (const auto& held : matrices_)
            if (held->ld > 0) arrays_.push_back({held->elements(), owners_of_elements(*held)});
        if (!fails_) std::move(arrays_.begin(), arrays_.end(), std::back_inserter(seen_.arrays));
        arrays_.clear();
        recover();
    }

    template <class T>
    [[nodiscard]] static std::vector<double> values_of(Fetched& fetched) {
        std::vector<T> values(fetched.bytes().size() / sizeof(T));
        std::memcpy(values.data(), fetched.bytes().data(), fetched.bytes().size());
        return {values.begin(), values.end()};
    }

    /// What the tasks of a failed stream were to write is anything now and is written anew. All other tiles have kept
    /// their values, wherever they have gone meanwhile.
    void recover() {
        const bool failed = std::exchange(fails_, false);
        const std::set<Place> changed = std::exchange(changed_, {});
        if (!failed) return;
        for (const auto& [matrix, tile] : changed) write({known_[static_cast<std::size_t>(matrix)], tile});
    }
    void note_change(const TileRef& tile) {
        const auto found = std::find(known_.begin(), known_.end(), tile.matrix);
        changed_.insert({found - known_.begin(), tile.index});
        if (found == known_.end()) known_.push_back(tile.matrix);
    }
    void forget_changes_of(const Attachment* matrix) {
        const auto number = std::find(known_.begin(), known_.end(), matrix) - known_.begin();
        std::erase_if(changed_, [&](const Place& place) { return place.first == number; });
        std::replace(known_.begin(), known_.end(), const_cast<Attachment*>(matrix), static_cast<Attachment*>(nullptr));
    }

    Draw& draw_;
    Index nodes_;
    std::size_t number_;
    bool failures_;
    Seen& seen_;
    Stream stream_;
    Token token_;
    bool fails_ = false;  // since the last wait
    using Place = std::pair<std::ptrdiff_t, TileIndex>;
    std::set<Place> changed_;         // since the last wait: by number of the matrix, which is alike on every engine
    std::vector<Attachment*> known_;  // by number
    std::vector<std::unique_ptr<Held>> matrices_;
    // Since the last wait.
    struct TypedFetch {
        std::shared_ptr<Fetched> fetched;
        ElementType type = ElementType::f64;
    };
    std::vector<TypedFetch> fetched_;
    std::vector<Seen::Array> arrays_;
};

/// One stream, or two at the same time.
inline Seen play(Engine& engine, const RandomStream& wanted) {
    Draw draw(wanted.seed);
    Seen seen;
    const auto count = static_cast<std::size_t>(draw.one_in(3) ? 2 : 1);
    seen.statuses.resize(count);
    seen.fetched.resize(count);
    std::vector<std::unique_ptr<StreamPlayer>> players;
    for (std::size_t k = 0; k < count; ++k)
        players.push_back(std::make_unique<StreamPlayer>(engine, draw, k, wanted.failures && k == 0, seen));
    for (Index step = 0; step < wanted.steps; ++step) draw.of(players)->step();
    for (const auto& player : players) player->finish();
    return seen;
}

}  // namespace tesela::testing
