#include "tesela/algs/solve.hpp"
#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/starpu/engine.hpp"

#include <cstdio>

using namespace tesela;

double covariance(const void*, ElementIndex at) { return 1.0 / (1 + std::abs(at.i - at.j)) + (at.i == at.j); }
double ones(const void*, ElementIndex) { return 1; }

int main() {
    StarpuEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(2000, 256);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    Matrix<double> x(s, tiling.with_columns(1, 1), along_diagonal(A.distribution(), 1), {.name = "x"});
    generate(s, A.view(), {covariance});
    generate(s, x.view(), {ones});
    cholesky(s, A);
    solve_cholesky(s, A.view(), x.view());
    const Status status = s.wait();
    if (engine.this_node() == NodeId{0}) std::printf("%s\n", status.describe().c_str());
    return status.ok() ? 0 : 1;
}
