#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/starpu/network.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace tesela::bench {
namespace {

struct ShareOptions {
    Index tile = 960;
    int repetitions = 5;
    double most_sends = 5.5;  ///< the limit: seconds of a tile to all nodes, in seconds of one send
    EngineOptions engine;
};

void add_share_options(CLI::App& command, ShareOptions& options) {
    command.add_option("--tile", options.tile, "Tile size")->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    command.add_option("--most-sends", options.most_sends, "What all may take at most, in times of one send")
        ->capture_default_str();
    add_engine_options(command, options.engine);
}

KernelResult only_read(const NoArguments&, TileSpan<const double>, TileSpan<void>) noexcept { return {}; }
const auto reader_kernel = make_kernel<only_read>("reader");

/// A tile of node 0, and a token on every node for the task that reads it there.
class SharedTile {
public:
    SharedTile(StarpuEngine& engine, Index tile)
        : engine_(engine),
          stream_(engine),
          matrix_(stream_, Tiling::square(tile, tile), Distribution({1, 1}, engine.node_count(), {0})) {
        for (Index node = 0; node < engine.node_count(); ++node) tokens_.emplace_back(stream_, NodeId{node});
    }

    enum class Way : std::uint8_t { along_a_tree, one_after_the_other };
    /// Seconds until so many other nodes have read it.
    double read_by(Index others, Way way) {
        fill(stream_, matrix_.view(), {.off_diagonal = 1, .diagonal = 2});
        require_done(stream_.wait());
        std::vector<NodeId> nodes;
        for (Index node = 1; node <= others; ++node) nodes.emplace_back(node);
        engine_.barrier();
        return engine_.max(seconds_of([&] {
            if (way == Way::along_a_tree) stream_.share(matrix_(0, 0), nodes);
            for (const NodeId node : nodes)
                stream_.submit(Task(reader_kernel, read(matrix_(0, 0)),
                                    write(tokens_[static_cast<std::size_t>(node.number())].ref())));
            require_done(stream_.wait());
        }));
    }

private:
    StarpuEngine& engine_;
    Stream stream_;
    Matrix<double> matrix_;
    std::vector<Token> tokens_;
};

/// How long a tile takes to one other node, to all of them along a tree, and to one after the other. Needs two nodes.
Report run_share(const ShareOptions& options) {
    const auto engine = start_engine(options.engine);
    const Index others = engine->node_count() - 1;
    if (others < 1) throw Error("a tile can only be shared among nodes: start at least two with mpirun");
    if (options.tile < 1 || options.repetitions < 1) throw Error("--tile and --repetitions must be at least 1");
    SharedTile tile(*engine, options.tile);
    using Way = SharedTile::Way;
    Best one, tree, in_turn;
    for (int r = 0; r <= options.repetitions; ++r) {
        const double seconds[]{tile.read_by(1, Way::one_after_the_other), tile.read_by(others, Way::along_a_tree),
                               tile.read_by(others, Way::one_after_the_other)};
        if (r == 0) continue;  // MPI's connections are made
        one.add(seconds[0]);
        tree.add(seconds[1]);
        in_turn.add(seconds[2]);
    }
    const double ratio = tree.seconds() / one.seconds();
    const std::string name = fmt::format("a tile of {} to {} nodes, in sends", options.tile, others);
    return {.figures = {{"nodes", engine->node_count()},
                        {"tile", options.tile},
                        {"bytes", options.tile * options.tile * 8},
                        {"seconds_to_one", one.seconds()},
                        {"seconds_along_a_tree", tree.seconds()},
                        {"seconds_one_after_the_other", in_turn.seconds()},
                        {"ratio_along_a_tree", ratio},
                        {"ratio_one_after_the_other", in_turn.seconds() / one.seconds()}},
            .checks = {at_most(name, ratio, options.most_sends)}};
}

}  // namespace

Experiment share() {
    return experiment("share",
                      "How long it takes to send a tile from one node to all others, along a tree and one after the "
                      "other, beside one send. Needs mpirun; exit code 1 if it takes longer than --most-sends",
                      add_share_options, run_share);
}

}  // namespace tesela::bench
