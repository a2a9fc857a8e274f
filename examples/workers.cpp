// Two applications share the workers of one engine: halfway, one gets most of them. Its readers are limited.
// See docs/workers.md.
#include "tesela/distribution/families.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/starpu/engine.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

using namespace tesela;

/// What the kernels count, to show it.
struct Counts {
    std::atomic<int> reading{0};
    std::atomic<int> most_reading{0};
};
struct Reading {
    Counts* counts;
};

/// Stands for reading a panel from a file.
KernelResult read_panel(const Reading& reading, TileSpan<double> panel) noexcept {
    Counts& counts = *reading.counts;
    const int now = ++counts.reading;
    for (int most = counts.most_reading; now > most && !counts.most_reading.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    panel(0, 0) = 1;
    --counts.reading;
    return {};
}
const auto read_kernel = make_kernel<read_panel>("read_panel");

/// Stands for computing.
KernelResult compute(const NoArguments&, TileSpan<double> panel) noexcept {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    panel(0, 0) += 1;
    return {};
}
const auto compute_kernel = make_kernel<compute>("compute");

int main() {
    StarpuEngine engine({.workers = 4, .warnings = Warnings::keep});
    constexpr Index tasks = 2000;
    const Tiling tiling = Tiling::uniform({tasks, 1}, {1, 1});
    const Distribution owners = squarest_block_cyclic(tiling.grid(), engine.node_count());

    Stream a(engine, {.name = "a", .workers = {0}});
    Stream b(engine, {.name = "b", .workers = {1, 2, 3}});
    Matrix<double> x(a, tiling, owners, {.name = "x"});
    Matrix<double> y(b, tiling, owners, {.name = "y"});

    Counts counts;
    const LimitedResource readers{"reader", 2};  // at most two at a time on a node, of all streams together
    for (Index i = 0; i < tasks; ++i) {
        a.submit(Task(read_kernel, {&counts}, write(x(i, 0))).needs(readers));
        a.submit(Task(compute_kernel, read_write(x(i, 0))));
        b.submit(Task(read_kernel, {&counts}, write(y(i, 0))).needs(readers));
    }
    b.set_workers({3});        // tasks that wait follow; those that run go on
    a.set_workers({0, 1, 2});  // now nothing of b starts there any more
    const Status of_a = a.wait();
    const Status of_b = b.wait();
    if (engine.is_first())
        std::printf("a: %s, b: %s, at most %d readers at a time\n", of_a.describe().c_str(), of_b.describe().c_str(),
                    counts.most_reading.load());
    return of_a.ok() && of_b.ok() && counts.most_reading <= 2 ? 0 : 1;
}
