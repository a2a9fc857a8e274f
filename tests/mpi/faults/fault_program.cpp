// A program in which one node fails in the middle of its work; run.py starts it under mpirun and looks at how all end.
#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/names.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/kernels/blas_core.hpp"
#include "tesela/starpu/engine.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace tesela;

/// How a node leaves the others in the middle of a stream. `thrown`: an exception that its main function catches;
/// `exited`: std::exit; `returned`: out of the function that owns the stream, as if all were done; `killed`: SIGKILL.
/// `opens`, `waits`, `meets`: it goes another way, opening a stream, waiting for another one, or asking for something
/// that all nodes do together; `reads`: it reads a value more than the others; `swaps`: it does two steps in the other
/// order. `error`: all nodes throw the same Error at the same step. `none`: nothing happens.
enum class Fault : std::uint8_t { none, thrown, exited, returned, killed, opens, waits, meets, reads, swaps, error };

constexpr Names<Fault, 11> fault_names{{{Fault::none, "none"},
                                        {Fault::thrown, "throw"},
                                        {Fault::exited, "exit"},
                                        {Fault::returned, "return"},
                                        {Fault::killed, "kill"},
                                        {Fault::opens, "opens"},
                                        {Fault::waits, "waits"},
                                        {Fault::meets, "meets"},
                                        {Fault::reads, "reads"},
                                        {Fault::swaps, "swaps"},
                                        {Fault::error, "error"}}};

struct FaultOptions {
    Fault fault = Fault::none;
    /// Chooses the node that fails and the step of the first rounds before which it does.
    std::uint64_t seed = 1;
    /// Where the failing node says, just before, which node it is, at which step, and the time by steady_clock in
    /// seconds; nowhere if empty.
    std::string stamp;
    /// A round factorises a matrix, gives its tiles to other nodes, redistributes it and gathers it.
    Index rounds = 5;
};

constexpr Index steps_per_round = 4;

class ThrownFault : public std::runtime_error {
public:
    ThrownFault() : std::runtime_error("a fault that was asked for") {}
};

/// When and where the fault happens: alike on every node.
class Strike {
public:
    Strike(const FaultOptions& options, StarpuEngine& engine)
        : options_(options),
          engine_(engine),
          other_(engine, {.name = "other"}),
          shared_(other_, Tiling::square(80, 40), squarest_block_cyclic({2, 2}, engine.node_count()), {.name = "C"}),
          number_(other_),
          me_(engine.this_node()) {
        const Random random(options.seed);
        const auto steps = static_cast<std::uint64_t>(std::min(options.rounds, first_rounds) * steps_per_round);
        node_ = NodeId{static_cast<Index>(random.below(static_cast<std::uint64_t>(engine.node_count()), {0, 0}))};
        step_ = static_cast<Index>(random.below(steps, {0, 1}));
    }

    /// Does to this node what is to be done before this step; true if the caller must return.
    [[nodiscard]] bool happens_before(Index step) {
        if (step != step_) return false;
        if (me_ == node_) write_stamp();
        if (options_.fault == Fault::reads || options_.fault == Fault::swaps) without_meeting();
        if (options_.fault == Fault::error) throw Error("an error at step {} that all nodes meet", step);
        if (me_ != node_) return false;
        if (options_.fault == Fault::thrown) throw ThrownFault();
        if (options_.fault == Fault::exited) std::exit(4);  // NOLINT(concurrency-mt-unsafe): as a program may do
        if (options_.fault == Fault::killed) std::raise(SIGKILL);
        go_another_way();
        return options_.fault == Fault::returned;
    }

private:
    static constexpr Index first_rounds = 5;

    /// All nodes, in the other stream, where they wait for a value only; the one that fails reads more, or does the
    /// same in another order.
    void without_meeting() {
        const bool here = me_ == node_;
        fill(other_, shared_, {});
        fill(other_, number_, {});
        std::vector<NodeId> everyone;
        for (Index node = 0; node < engine_.node_count(); ++node) everyone.emplace_back(node);
        const bool swapped = here && options_.fault == Fault::swaps;
        for (const Index j : {0, 1}) other_.share(shared_(0, swapped ? 1 - j : j), everyone);
        if (here && options_.fault == Fault::reads) (void)gather(other_, shared_);
        for (int k = 0; k < 3; ++k) (void)number_.value(other_).get();
        (void)other_.wait();
    }

    void go_another_way() {
        if (options_.fault == Fault::opens) (void)Stream(engine_, {.name = "mine"}).wait();
        if (options_.fault == Fault::waits) (void)other_.wait();
        if (options_.fault == Fault::meets) (void)engine_.max(1);
    }

    /// It appears whole, since somebody may be looking.
    void write_stamp() const {
        if (options_.stamp.empty()) return;
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        const std::string unfinished = options_.stamp + ".unfinished";
        std::ofstream(unfinished) << fmt::format("{} {} {:.6f}\n", node_.number(), step_,
                                                 std::chrono::duration<double>(now).count());
        std::filesystem::rename(unfinished, options_.stamp);
    }

    const FaultOptions& options_;
    StarpuEngine& engine_;
    Stream other_;
    Matrix<double> shared_;
    Scalar<double> number_;
    NodeId me_;
    NodeId node_{0};
    Index step_ = 0;
};

double element(const void*, ElementIndex at) {
    return 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j))) + (at.i == at.j ? 2.0 : 0.0);
}

/// Small matrices in different tiles, and steps on them that need every node.
class Workload {
public:
    explicit Workload(Engine& engine)
        : stream_(engine),
          factor_(stream_, factor_tiling, squarest_block_cyclic(factor_tiling.grid(), engine.node_count()),
                  {.stored = Stored::lower}),
          copy_(stream_, copy_tiling, random_distribution(copy_tiling.grid(), engine.node_count(), 1), {.name = "B"}) {
        fill(stream_, copy_.view(), {});
    }

    void run(Index step) {
        const Index nodes = stream_.engine().node_count();
        const Index round = step / steps_per_round;
        switch (step % steps_per_round) {
            case 0:
                generate(stream_, factor_.view(), {element});
                cholesky(stream_, factor_);
                break;
            case 1:
                redistribute(stream_, factor_.view(),
                             random_distribution(factor_tiling.grid(), nodes, static_cast<std::uint64_t>(round)));
                break;
            case 2: redistribute(stream_, factor_.view(), copy_.view()); break;
            default: (void)gather(stream_, copy_.view());
        }
        if (step % waits_every == 0) require_done(stream_.wait());
    }
    void finish() { require_done(stream_.wait()); }

private:
    static inline const Tiling factor_tiling = Tiling::square(240, 40);
    static inline const Tiling copy_tiling = Tiling::square(240, 56);
    static constexpr Index waits_every = 3;

    Stream stream_;
    Matrix<double> factor_;
    Matrix<double> copy_;
};

/// Owns the stream, as a function of a user's program would.
void work(StarpuEngine& engine, const FaultOptions& options) {
    Strike strike(options, engine);
    Workload workload(engine);
    for (Index step = 0; step < options.rounds * steps_per_round; ++step) {
        if (strike.happens_before(step)) return;
        workload.run(step);
    }
    workload.finish();
}

}  // namespace

/// Returns 0 after all rounds and for `return`, 2 for an Error, 3 for `throw`; `exit` is 4.
int main(int argc, char** argv) {
    restart_with_better_blas();
    CLI::App app{"A workload on several nodes, one of which fails"};
    FaultOptions options;
    std::string fault = "none";
    app.add_option(
        "--fault", fault,
        "none; throw, exit, return, kill, opens, waits, meets, reads, swaps: one node; error: all nodes alike");
    app.add_option("--seed", options.seed, "Chooses the node and the step");
    app.add_option("--stamp", options.stamp, "File for node, step and time of the fault");
    app.add_option("--rounds", options.rounds, "Rounds of steps")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    // Not "tesela: ": that is how the engine's own messages begin, which tests look for.
    try {
        options.fault = parse_name(fault_names, fault, "fault");
        StarpuEngine engine({.warnings = Warnings::keep});
        work(engine, options);
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "fault program: {}\n", error.what());
        return 2;
    } catch (const ThrownFault& thrown) {
        fmt::print(stderr, "fault program: {}\n", thrown.what());
        return 3;
    }
}
