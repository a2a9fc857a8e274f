#include "tesela/distribution/catalogue.hpp"
#include "tesela/tesela.hpp"

#include <cstdlib>

using namespace tesela;

int main() {
    StarpuEngine engine;
    Stream s(engine);
    const Tiling coarse = Tiling::square(8000, 960), fine = Tiling::square(8000, 400);
    Matrix<double> A(s, coarse, make_distribution("1d", coarse.grid(), engine.node_count()));
    Matrix<double> B(s, fine, squarest_block_cyclic(fine.grid(), engine.node_count()), {.stored = Stored::lower});
    generate(s, A, [](Index i, Index j) { return 1.0 / static_cast<double>(1 + std::abs(i - j)) + (i == j ? 1 : 0); });
    redistribute(s, A.lower(), B);
    cholesky(s, B);
    redistribute(s, B, A.lower());
    return s.wait().ok() ? 0 : 1;
}
