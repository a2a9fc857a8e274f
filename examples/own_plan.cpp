// An application of one's own, planned from its stream alone: tiles are assembled by cores, then factored. See
// docs/planning.md.
#include "tesela/algs/lu.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/plan/planner.hpp"
#include "tesela/tesela.hpp"

#include <cstdio>

using namespace tesela;

/// A tile of an integral operator: slow, and for cores alone.
KernelResult assemble(const NoArguments&, TileSpan<double> a) noexcept {
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i) a(i, j) = i == j ? 4 : 1.0 / static_cast<double>(1 + i + j);
    return {};
}
const auto assemble_kernel = make_kernel<assemble>("assemble");

/// Assembles and factors; tiles move in between.
void submit(Engine& engine, const plan::PhaseDistributions& owners) {
    Stream s(engine, {.name = "boundary elements"});
    const Tiling tiling = Tiling::square(Index{30} * 960, 960);
    const Matrix<double> A(s, tiling, owners.first, {.name = "A"});
    {
        const auto phase = s.phase("assemble");
        for (Index j = 0; j < A.tile_cols(); ++j)
            for (Index i = 0; i < A.tile_rows(); ++i) {
                s.submit(Task(assemble_kernel, write(A(i, j))));
                s.move(A(i, j), owners.second.owner({i, j}));
            }
    }
    lu(s, A);
    require_done(s.wait());
}

/// Two nodes with cores alone and two with GPUs, on which assembly takes a second a tile.
Platform machine() {
    const auto node = [](const char* name, const char* cores, bool gpus) {
        NodeType type{.name = name,
                      .count = 2,
                      .memory = 64e9,
                      .memory_bandwidth = 80e9,
                      .nic = {.bandwidth = 7e9, .latency = 2e-6}};
        const auto kernels = [](double flops) {
            std::vector<KernelTime> list;
            for (const char* kernel : {"dgetrf", "dtrsm", "dgemm"})
                list.push_back({.kernel = kernel, .time = RatedKernel{.rate = flops}});
            return list;
        };
        type.workers.push_back({.name = cores, .count = 22, .kernels = kernels(19e9)});
        type.workers[0].kernels.push_back(
            {.kernel = "assemble", .time = TimedKernel{.seconds = {{.tile = 960, .value = 1}}}});
        if (gpus)
            type.workers.push_back({.name = "gpu",
                                    .processor = Processor::gpu,
                                    .count = 2,
                                    .memory = 12e9,
                                    .memory_bandwidth = 220e9,
                                    .host_bandwidth = 12e9,
                                    .kernels = kernels(1.2e12)});
        return type;
    };
    return {.name = "mine", .node_types = {node("plain", "cores", false), node("fast", "cores", true)}, .subnets = {}};
}

int main() {
    const plan::Application application{
        .name = "boundary elements",
        .matrix = {.tiles = {30, 30}, .tile = 960, .operation = Operation::lu},
        .submit = submit,
        .steps = plan::by_antidiagonals({.first = {"assemble"}, .second = {"lu"}}, "A")};
    const plan::Planned planned = plan::make_plan(application, machine(), {.budget_seconds = 3});
    for (const plan::Strategy& strategy : planned.strategies)
        std::printf("%-10s %5.1f s, %3td tiles move\n", strategy.name.c_str(), strategy.simulated.makespan,
                    strategy.moved);
    std::printf("%s\n", planned.why.c_str());
    return planned.chosen().simulated.makespan <= planned.strategies.front().simulated.makespan ? 0 : 1;
}
