// Programs in which one of two nodes does something else than the other, a kernel throws, or nobody hears of a failure;
// divergence.sh looks at what they are told.
#include "tesela/algs/elementwise.hpp"
#include "tesela/kernels/blas_core.hpp"
#include "tesela/starpu/engine.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace tesela;

KernelResult add_one(const NoArguments&, TileSpan<double> tile) noexcept {
    tile(0, 0) += 1;
    return {};
}
KernelResult add_two(const NoArguments&, TileSpan<double> tile) noexcept {
    tile(0, 0) += 2;
    return {};
}
KernelResult take_time(const NoArguments&, TileSpan<double>) noexcept {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return {};
}
[[noreturn]] void make_a_mistake() { throw std::runtime_error("a mistake"); }
KernelResult throw_at_once(const NoArguments&, TileSpan<double>) noexcept { make_a_mistake(); }
KernelResult refuse(const NoArguments&, TileSpan<double>) noexcept { return fail("no", 3); }
const auto refuse_kernel = make_kernel<refuse>("refuse");
const auto one_kernel = make_kernel<add_one>("add_one");
const auto two_kernel = make_kernel<add_two>("add_two");
const auto slow_kernel = make_kernel<take_time>("slow");
const auto throwing_kernel = make_kernel<throw_at_once>("thrower");

constexpr Index order = 64;
const Tiling tiling = Tiling::square(order, 32);

struct Node {
    Stream& s;
    bool second;

    [[nodiscard]] Matrix<double> matrix(const Tiling& of = tiling) const {
        return {s, of, block_cyclic(of.grid(), {.q = s.engine().node_count()})};
    }
    void use(const Matrix<double>& A) const {
        fill(s, A, {.off_diagonal = 1, .diagonal = 2});
        (void)gather(s, A);
    }
    [[nodiscard]] double number() const { return second ? 1 : 0; }
};

void other_tiles(const Node& node, Index here, Index there) {
    node.use(node.matrix(Tiling::square(order, node.second ? there : here)));
}

const std::map<std::string, std::function<void(const Node&)>> cases{
    {"arguments",
     [](const Node& node) {
         const Matrix<double> A = node.matrix();
         fill(node.s, A, {.off_diagonal = node.number()});
     }},
    {"kernels",
     [](const Node& node) {
         const Matrix<double> A = node.matrix();
         fill(node.s, A, {});
         node.s.submit(Task(node.second ? two_kernel : one_kernel, read_write(A(1, 1))));
     }},
    {"tiles", [](const Node& node) { other_tiles(node, 32, 16); }},
    {"larger_tiles", [](const Node& node) { other_tiles(node, 16, 32); }},
    {"small_tiles", [](const Node& node) { other_tiles(node, 4, 2); }},
    {"owners",
     [](const Node& node) {
         const BlockCyclic nodes = node.second ? BlockCyclic{.p = 2} : BlockCyclic{.q = 2};
         node.use(Matrix<double>(node.s, tiling, block_cyclic(tiling.grid(), nodes)));
     }},
    {"long_ago",
     [](const Node& node) {
         const Matrix<double> A = node.matrix();
         fill(node.s, A, {.off_diagonal = node.number()});
         for (int k = 0; k < 20000; ++k) node.s.submit(Task(one_kernel, read_write(A(0, 0))));
     }},
    {"unheard",
     [](const Node& node) {
         Stream t(node.s.engine(), {.name = "t"});
         const Scalar<double> sum(t, {}, NodeId{1});
         fill(t, sum.view(), {});
         t.submit(Task(refuse_kernel, read_write(sum.tile())));
     }},
    {"exits",
     [](const Node& node) {
         const Matrix<double> A = node.matrix();
         fill(node.s, A, {});
         for (int k = 0; k < 100; ++k) node.s.submit(Task(slow_kernel, read_write(A(0, 0))));
         std::exit(0);
     }},
    {"static",
     [](const Node& node) {
         const Matrix<double> A = node.matrix();
         fill(node.s, A, {});
     }},
    {"throws",
     [](const Node& node) {
         const Matrix<double> A = node.matrix();
         fill(node.s, A, {});
         node.s.submit(Task(throwing_kernel, read_write(A(1, 0))));
     }},
};

}  // namespace

int main(int argc, char** argv) {
    tesela::restart_with_better_blas();
    const auto found = cases.find(argc > 1 ? argv[1] : "");
    if (found == cases.end()) return 2;
    const StarpuOptions options{.warnings = Warnings::keep};
    if (found->first == "static") {
        static StarpuEngine kept(options);
        Stream s(kept);
        found->second({s, false});
        return s.wait().ok() ? 0 : 1;
    }
    StarpuEngine engine(options);
    Stream s(engine, {.name = "s"});
    found->second({s, engine.this_node() == NodeId{1}});
    std::printf("done: %s\n", s.wait().describe().c_str());
    return 0;
}
