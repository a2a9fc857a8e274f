// What a program on several nodes sees: one tile that everybody reads, a node without memory, a node that goes astray.
// See docs/nodes.md.
//   mpirun -n 4 example_nodes [memory MEGABYTES | astray]
#include "tesela/tesela.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tesela;

KernelResult look(const NoArguments&, TileSpan<const double>) noexcept { return {}; }
const auto look_kernel = make_kernel<look>("look");

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    StarpuOptions options;
    if (what == "memory" && argc > 2) options.memory_bytes = 1e6 * std::atof(argv[2]);
    StarpuEngine engine(options);
    Stream s(engine, {.name = "look"});
    const Tiling tiling = Tiling::square(2000, 500);  // 16 tiles of 2 MB
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()));
    fill(s, A, {.off_diagonal = 1, .diagonal = 2});

    if (what == "astray" && engine.this_node() == NodeId{1}) (void)s.wait();  // the others go on

    std::vector<NodeId> everyone;
    for (Index node = 0; node < engine.node_count(); ++node) everyone.emplace_back(node);
    for (Index k = 0; k < tiling.grid().rows; ++k) {
        s.share(A(k, k), everyone);  // handed on along a tree, before it is read
        for (const NodeId node : everyone) s.submit(Task(look_kernel, read(A(k, k))).on(node));
    }
    const Status status = s.wait();
    std::uint64_t sent = 0;
    for (const StarpuEngine::Sent& to : engine.sent()) sent += to.messages;
    std::printf("node %d: %s; %d tiles sent\n", static_cast<int>(engine.this_node().number()),
                status.describe().c_str(), static_cast<int>(sent));
    std::fflush(stdout);
    engine.barrier();  // mpirun ends the others when the first of them returns 1
    return status.ok() ? 0 : 1;
}
