// An engine of one's own: it keeps tasks back and runs them in a random order, any that their tiles allow. What comes
// out differently then depends on something that the tasks do not tell. See docs/own_engine.md.
#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/base/dependencies.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using namespace tesela;

class ShuffledEngine;

/// A matrix as the engine holds it: the elements of each tile, and who used the tile last.
class ShuffledMatrix final : public Attachment {
public:
    ShuffledMatrix(ShuffledEngine& shuffled, MatrixSpec spec);
    /// Tasks that use it may still be waiting: they run first.
    ~ShuffledMatrix() override;
    ShuffledMatrix(const ShuffledMatrix&) = delete;
    ShuffledMatrix& operator=(const ShuffledMatrix&) = delete;

    [[nodiscard]] Tile tile(TileIndex index) {
        if (spec().memory) {  // the caller's own
            const TileMemory memory = spec().memory(index);
            return {memory.data, shape(index), memory.ld};
        }
        auto& elements = elements_[position(index)];
        if (elements.empty()) elements.resize(bytes(index) / sizeof(double) + 1);
        return {elements.data(), shape(index), shape(index).rows};
    }
    [[nodiscard]] LastTouch& last_touch(TileIndex index) { return touches_[position(index)]; }

private:
    ShuffledEngine& shuffled_;
    std::weak_ptr<const void> life_;
    std::vector<std::vector<double>> elements_;
    std::vector<LastTouch> touches_;
};

/// One node, one worker. The seed decides the order, so what goes wrong can be seen again.
class ShuffledEngine final : public Engine {
public:
    explicit ShuffledEngine(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] NodeId this_node() const override { return NodeId{0}; }
    [[nodiscard]] Index node_count() const override { return 1; }
    [[nodiscard]] int worker_count() const override { return 1; }

    std::unique_ptr<StreamState> open(const StreamOptions& options) override {
        check_workers(options.workers, worker_count());
        return std::make_unique<StreamState>(options);
    }
    std::unique_ptr<Attachment> attach(StreamState&, MatrixSpec spec) override {
        return std::make_unique<ShuffledMatrix>(*this, std::move(spec));
    }

    void submit(StreamState& stream, const Task& task) override {
        require_cpu_entry(task);
        if (task.resource != nullptr) number_of(resources_, *task.resource);  // one task at a time: never too many
        const Index limit = stream.options().max_pending;
        if (static_cast<Index>(waiting_.size()) >= limit) run_until(resume_level(limit));

        const std::uint32_t number = submitted_++;
        std::vector<std::uint32_t> before;
        for (const Access& access : task.used())
            matrix_of(access.tile).last_touch(access.tile.index).touch(touch_of(access.mode), number, before);
        tidy_dependencies(number, before);
        Waiting added{.stream = &stream, .task = task};
        for (const std::uint32_t other : before)
            if (const auto found = waiting_.find(other); found != waiting_.end()) {  // others have run
                found->second.after.push_back(number);
                ++added.needs;
            }
        if (added.needs == 0) ready_.push_back(number);
        waiting_.emplace(number, std::move(added));
    }

    // A redistribution, and a value that the program asks for, come after all that was submitted before.
    void exchange(StreamState&, const Exchange& exchange) override {
        run_until(0);
        const Orientation orientation = exchange.overlay->problem().orientation;
        const std::size_t element = element_bytes(exchange.from->type());
        exchange.overlay->for_each([&](const Segment& segment) {
            copy_segment(tile_of({exchange.from, segment.from}), tile_of({exchange.to, segment.to}),
                         segment_arguments(segment, orientation, element));
        });
    }
    void fetch(StreamState& stream, TileRef ref, std::shared_ptr<Fetched> into) override {
        run_until(0);
        if (stream.failure.raised()) return into->arrive(Arrival::failure);
        const Tile tile = tile_of(ref);
        const std::size_t element = element_bytes(ref.matrix->type());
        const std::size_t column = static_cast<std::size_t>(tile.rows()) * element;
        for (Index j = 0; j < tile.cols(); ++j)
            std::memcpy(into->bytes().data() + static_cast<std::size_t>(j) * column,
                        static_cast<const std::byte*>(tile.data) + static_cast<std::size_t>(j * tile.ld) * element,
                        column);
        into->arrive(Arrival::value);
    }

    // With one node there is nobody to give a tile to, to share it with or to take copies from.
    bool move(StreamState&, TileRef, NodeId) override { return true; }
    void share(StreamState&, TileRef, const Readers&, std::int32_t) override {}
    void retire(StreamState&, TileRef) override {}
    void discard(StreamState&, TileRef) override {}

    Status wait(StreamState& stream) override {
        run_until(0);
        return stream.failure.take();
    }
    void set_workers(StreamState&, WorkerSet workers) override { check_workers(workers, worker_count()); }

    /// Runs tasks of all streams until so many are left.
    void run_until(Index left) {
        while (static_cast<Index>(waiting_.size()) > left) run_one();
    }
    /// The most tasks that could have run at the same time.
    [[nodiscard]] std::size_t most_ready() const { return most_ready_; }

private:
    struct Waiting {
        StreamState* stream = nullptr;
        Task task;
        int needs = 0;                       ///< tasks that must run before
        std::vector<std::uint32_t> after{};  ///< those that wait for it
    };

    static ShuffledMatrix& matrix_of(const TileRef& ref) { return static_cast<ShuffledMatrix&>(*ref.matrix); }
    static Tile tile_of(const TileRef& ref) { return matrix_of(ref).tile(ref.index); }

    void run_one() {
        most_ready_ = std::max(most_ready_, ready_.size());
        std::swap(ready_[random_() % ready_.size()], ready_.back());
        const auto taken = waiting_.extract(ready_.back());
        ready_.pop_back();
        run(taken.mapped());
        for (const std::uint32_t other : taken.mapped().after)
            if (--waiting_.at(other).needs == 0) ready_.push_back(other);
    }

    /// A stream that has failed does nothing more until it is waited for.
    static void run(const Waiting& now) {
        if (now.stream->failure.raised()) return;
        std::vector<Tile> tiles;
        for (const Access& access : now.task.used()) {
            tiles.push_back(tile_of(access.tile));
            tiles.back().view = access.view;  // transposed, or a triangle of it
        }
        const KernelResult result = now.task.kernel->cpu({tiles, now.task.arguments.data()});
        if (result.failure != Failure::none) now.stream->failure.raise(status_of(*now.task.kernel, result));
    }

    std::mt19937_64 random_;
    std::uint32_t submitted_ = 0;
    std::map<std::uint32_t, Waiting> waiting_;
    std::vector<std::uint32_t> ready_;
    std::vector<ResourceLimit> resources_;
    std::size_t most_ready_ = 0;
};

ShuffledMatrix::ShuffledMatrix(ShuffledEngine& shuffled, MatrixSpec spec)
    : Attachment(std::move(spec)),
      shuffled_(shuffled),
      life_(shuffled.life()),
      elements_(static_cast<std::size_t>(tiling().grid().count())),
      touches_(elements_.size()) {}
ShuffledMatrix::~ShuffledMatrix() {
    if (!life_.expired()) shuffled_.run_until(0);
}

// --- what it finds ---------------------------------------------------------------------------------------------------

constexpr Index n = 400;
const Tiling tiling = Tiling::square(n, 50);

struct Solved {
    Status status;
    std::vector<double> factor;
    std::vector<double> solution;
};

/// A Cholesky and a solve. The matrix is positive definite, unless one element of its diagonal is spoiled.
Solved solve(Engine& engine, Index spoiled = -1) {
    Stream s(engine);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1), {.stored = Stored::lower});
    Vector<double> x(s, A);
    generate(s, A, [spoiled](Index i, Index j) {
        return std::exp(-0.02 * static_cast<double>(std::abs(i - j))) + (i != j ? 0 : i == spoiled ? -2 : 0.1);
    });
    generate(s, x, [](Index, Index) { return 1.0; });
    cholesky(s, A);
    solve_cholesky(s, A, x);
    const Status status = s.wait();
    if (!status.ok()) return {status, {}, {}};
    return {status, gather(s, A), gather(s, x)};
}

bool nearly_equal(const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) < 1e-10; });
}

/// A mistake: rows are numbered one after the other by a count that the tasks share without saying so.
struct SharedCount {
    double* count;
};
KernelResult number(const SharedCount& shared, TileSpan<double> x) noexcept {
    for (Index i = 0; i < x.rows(); ++i) x(i, 0) = ++*shared.count;
    return {};
}
const auto number_kernel = make_kernel<number>("number");

/// Whether the rows are numbered from 1 to n.
bool numbers_rows(Engine& engine) {
    double count = 0;
    Stream s(engine);
    Matrix<double> x(s, tiling.with_columns(1, 1), squarest_block_cyclic({tiling.grid().rows, 1}, 1));
    for (Index i = 0; i < x.tile_rows(); ++i) s.submit(Task(number_kernel, {&count}, write(x(i, 0))));
    const std::vector<double> rows = gather(s, x);
    return s.wait().ok() && std::ranges::is_sorted(rows);
}

int main() {
    InlineEngine in_order;
    const Solved expected = solve(in_order);
    const Status spoiled = solve(in_order, 222).status;
    const bool passes_in_order = numbers_rows(in_order);

    constexpr int orders = 100;
    int same_factor = 0, same_solution = 0, same_failure = 0, passes = 0;
    std::size_t most_ready = 0;
    for (int seed = 0; seed < orders; ++seed) {
        ShuffledEngine engine(static_cast<std::uint64_t>(seed));
        const Solved solved = solve(engine);
        most_ready = std::max(most_ready, engine.most_ready());
        same_factor += solved.factor == expected.factor;
        same_solution += nearly_equal(solved.solution, expected.solution);
        same_failure += solve(engine, 222).status == spoiled;
        passes += numbers_rows(engine);
    }
    std::printf("%d orders, with up to %d tasks to choose from. As on the inline engine are:\n", orders,
                static_cast<int>(most_ready));
    std::printf("%4d factors, bit for bit\n", same_factor);
    std::printf("%4d solutions, but for rounding, since sums may be added in any order\n", same_solution);
    std::printf("%4d failures: %s\n", same_failure, spoiled.describe().c_str());
    std::printf("%4d numberings by a count that the tasks do not tell of\n", passes);
    const bool agree = same_factor == orders && same_solution == orders && same_failure == orders;
    return expected.status.ok() && !spoiled.ok() && agree && passes_in_order && passes < orders ? 0 : 1;
}
