// A program that runs out of memory: not by the engine's own count but because the system gives it none, as under
// `ulimit -v`. It says how its stream ended. run.sh starts it under mpirun, with a time limit.

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/starpu/engine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>

namespace tesela {
namespace {

constexpr Index tile = 512;  // 2 MiB
const Tiling tiling = Tiling::square(8 * tile, tile);
const Tiling other = Tiling::square(8 * tile, tile - 64);

KernelCost no_cost(std::span<const TileShape>, const void*) noexcept { return {}; }
KernelResult run_nothing(const KernelCall&) noexcept { return {}; }
const Kernel use_tile{"use_tile", no_cost, run_nothing};

/// Lets this process have so many bytes more than it has now.
void limit_memory(double more) {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    file >> pages;
    const auto bytes = static_cast<rlim_t>(pages * static_cast<double>(sysconf(_SC_PAGESIZE)) + more);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) throw Error("setrlimit");
}

Distribution all_on(NodeId node, GridSize grid, Index nodes) {
    return {
        grid, nodes,
        std::vector<std::int32_t>(static_cast<std::size_t>(grid.count()), static_cast<std::int32_t>(node.number()))};
}

template <class Function>
void for_each_tile(const Matrix<double>& A, const Function& function) {
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j < tiling.grid().cols; ++j) function(A(i, j));
}

std::atomic<Index> wrong_tiles{0};
/// All elements are 1.
KernelResult run_check(const KernelCall& call) noexcept {
    const Tile& found = call.tiles[0];
    const auto* elements = static_cast<const double*>(found.data);
    for (Index j = 0; j < found.cols(); ++j)
        for (Index i = 0; i < found.rows(); ++i)
            if (elements[i + j * found.ld] != 1) {
                ++wrong_tiles;
                return {};
            }
    return {};
}
const Kernel check_tile{"check_tile", no_cost, run_check};

struct Matrices {
    Matrix<double>& A;
    Matrix<double>& B;
};

/// Something that needs much more memory on one node.
void need_memory(Stream& s, const std::string& what, const Matrices& matrices, NodeId where) {
    auto& [A, B] = matrices;
    const Index nodes = s.engine().node_count();
    if (what == "write") return fill(s, B.view(), {});
    if (what == "move") return redistribute(s, A.view(), all_on(where, tiling.grid(), nodes));
    if (what == "redistribute") return redistribute(s, A.view(), B.view());
    if (what == "pack") return redistribute(s, B.view(), A.view());
    if (what == "copy")
        return for_each_tile(A, [&](const TileRef& t) {
            s.submit(Task::unchecked(use_tile, {{t, AccessMode::read}}).on(where));
        });
    if (what == "share")
        return for_each_tile(A, [&](const TileRef& t) { s.share(t, std::span<const NodeId>{&where, 1}); });
    throw Error("{} is not something that this program knows", what);
}

/// After the failure nobody may read what is not there: copies come again, one by one there is room for them; a tile
/// that was lost on its way to a new owner is reported. What is wrong, if anything.
std::string read_again(Stream& s, const std::string& what, const Matrix<double>& A, NodeId where) {
    bool lost = false;
    for_each_tile(A, [&](const TileRef& t) {
        s.submit(Task::unchecked(check_tile, {{t, AccessMode::read}}).on(what == "copy" ? where : t.owner()));
        s.retire(t);
        lost |= !s.wait().ok();
    });
    if (wrong_tiles > 0) return fmt::format("; {} tiles have values that nobody wrote", wrong_tiles.load());
    if (what == "copy" && lost) return "; there is no room for a single copy";
    if (what == "move" && !lost) return "; lost tiles are not reported";
    return {};
}

/// 0 if all nodes learn of it, by a status or an error.
int run(const std::string& what) {
    // As if there were no end of memory: nothing is refused before it is tried.
    StarpuEngine engine({.workers = 1, .warnings = Warnings::keep, .memory_bytes = 1e13});
    const Index nodes = engine.node_count();
    const NodeId poor{nodes - 1};
    std::string how = "did not fail";
    std::string wrong;
    {
        Stream s(engine);
        Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), nodes));
        Matrix<double> B(s, other, all_on(poor, other.grid(), nodes), {.name = "B"});
        fill(s, A.view(), {.off_diagonal = 1, .diagonal = 1});
        if (what == "pack") fill(s, B.view(), {.off_diagonal = 1, .diagonal = 1});
        if (!s.wait().ok()) return 1;
        // Room for a few tiles; or for a few messages.
        if (engine.this_node() == poor) limit_memory(what == "pack" ? 4e6 : 24e6);
        engine.barrier();
        try {
            need_memory(s, what, {A, B}, poor);
            const Status status = s.wait();
            // Messages can be few at a time, and then what the node has is enough.
            if (status.failure == Failure::out_of_memory || (status.ok() && what == "pack"))
                how = fmt::format("status: {}", status.describe());
            if (what == "copy" || what == "move") wrong = read_again(s, what, A, poor);
        } catch (const Error& error) {
            how = fmt::format("error: {}", error.what());
        }
    }
    fmt::print("node {}: {}: {}{}\n", engine.this_node().number(), what, how, wrong);
    return how == "did not fail" || !wrong.empty() ? 1 : 0;
}

}  // namespace
}  // namespace tesela

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    return tesela::run(argv[1]);
}
