// A kernel of one's own is timed, its duration put into a platform file beside those of the library's, and an algorithm
// with it simulated and run:
//     example_own_kernel machine.json
// See docs/own_code.md.
#include "tesela/calibration/calibrate.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/sim/simulated_engine.hpp"
#include "tesela/tesela.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>

using namespace tesela;

namespace {

constexpr Index n = 1200;
constexpr Index tile = 150;

/// A tile of an integral operator; `first` is where its first element stands in the matrix.
KernelResult assemble(const ElementIndex& first, TileSpan<double> a) noexcept {
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i) {
            const auto apart = static_cast<double>(std::abs(first.i + i - first.j - j)) / n;
            a(i, j) = std::exp(-apart) * std::cos(apart) + (apart == 0 ? 1 : 0);
        }
    return {};
}
const auto assemble_kernel = make_kernel<assemble>("assemble");

/// The same lines on any engine.
Status factor(Engine& engine) {
    Stream s(engine);
    const Tiling tiling = Tiling::square(n, tile);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    for (Index j = 0; j < A.tile_cols(); ++j)
        for (Index i = j; i < A.tile_rows(); ++i)
            s.submit(Task(assemble_kernel, {tiling.row_begin(i), tiling.col_begin(j)}, write(A(i, j).stored())));
    cholesky(s, A);
    return s.wait();
}

/// How long calls take on tiles of this size and a smaller one, and what the file says of it from then on.
void time_assemble(const std::string& file, int workers) {
    const auto call = Specimen::of(assemble_kernel, {}, Specimen::square({Specimen::Origin::memory}));
    const auto samples =
        calibration::time_kernels({.specimens = {call}, .tiles = {tile / 2, tile}, .workers = workers});
    merge_durations(file, {{.kernels = calibration::kernel_times(samples, calibration::Load::busy)}});
    std::printf("assemble: %.2f ms on a tile\n", 1e3 * samples.back().busy.mean);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string file = argc > 1 ? argv[1] : "machine.json";
    const Platform described = read_platform(file, "");
    time_assemble(file, static_cast<int>(described.node_types.front().workers.front().count));

    SimulatedEngine simulated(read_platform(file, ""));
    require_done(factor(simulated));
    std::printf("%.0f ms simulated\n", 1e3 * simulated.result().makespan);

    StarpuEngine engine;
    require_done(factor(engine));  // asks for memory
    const auto start = std::chrono::steady_clock::now();
    const Status status = factor(engine);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.0f ms run: %s\n", 1e3 * seconds.count(), status.describe().c_str());
    return status.ok() ? 0 : 1;
}
