// An algorithm with a kernel of one's own, simulated on a machine that a file describes, then again with other owners:
//     example_simulated PLATFORM.json
// See docs/simulate.md and docs/own_code.md.
#include "tesela/algs/cholesky.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/sim/simulate_recording.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace tesela;

namespace {

/// A tile of an integral operator, by twenty operations an element.
KernelResult assemble(const NoArguments&, TileSpan<double> a) noexcept {
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i) a(i, j) = i == j ? 40 : 1.0 / static_cast<double>(1 + i + j);
    return {};
}
KernelCost assemble_cost(std::span<const TileShape> shapes, const void*) noexcept {
    const auto elements = static_cast<double>(shapes[0].rows * shapes[0].cols);
    return {.flops = 20 * elements, .bytes = 8 * elements};
}
const auto assemble_kernel = make_kernel<assemble>("assemble", assemble_cost);

/// The file knows the library's kernels. Ours runs on cores, at 3 GFLOP/s.
void describe_assemble(Platform& platform) {
    for (NodeType& type : platform.node_types)
        for (WorkerGroup& group : type.workers)
            if (group.processor == Processor::cpu)
                group.kernels.push_back({.kernel = "assemble", .time = RatedKernel{.rate = 3e9}});
}

/// The same lines on any engine.
void factor(Stream& s, const Matrix<double>& A) {
    for (Index j = 0; j < A.tile_cols(); ++j)
        for (Index i = j; i < A.tile_rows(); ++i) s.submit(Task(assemble_kernel, write(A(i, j))));
    cholesky(s, A);
}

}  // namespace

int main(int argc, char** argv) {
    Platform platform = choose_nodes(read_json_file(argc > 1 ? argv[1] : "platform.json").get<Platform>(), "6che+2cho");
    describe_assemble(platform);

    SimulatedEngine engine(platform, {.noise = 0.02});
    Stream s(engine);
    const Tiling tiling = Tiling::square(Index{40} * 960, 960);
    const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()),
                           {.name = "A", .stored = Stored::lower});
    factor(s, A);
    require_done(s.wait());
    std::printf("%.2f s\n", engine.result().makespan);

    const Distribution one_row = block_cyclic(tiling.grid(), {1, engine.node_count()});
    const SimulationResult other = simulate_recording(engine.recording(), platform, {.noise = 0.02}, {{"A", one_row}});
    std::printf("%.2f s on one row of nodes\n", other.makespan);
    return 0;
}
