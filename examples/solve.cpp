#include "tesela/tesela.hpp"

#include <cmath>
#include <cstdio>

using namespace tesela;

int main() {
    const double length = 50;  // over which the covariance falls by e
    StarpuEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(2000, 256);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    Vector<double> x(s, A);
    Scalar<double> log_det(s);
    // Captured by value: this runs later, on every core.
    generate(s, A, [length](Index i, Index j) {
        return std::exp(-std::abs(static_cast<double>(i - j)) / length) + (i == j ? 0.1 : 0.0);
    });
    generate(s, x, [](Index, Index) { return 1.0; });
    cholesky(s, A);
    log_determinant(s, A, log_det);
    solve_cholesky(s, A, x);
    const Future<double> determinant = log_det.value(s);  // all nodes do the same: only printing is for one
    const Status status = s.wait();
    const bool prints = engine.is_first();
    if (!status.ok()) {  // there is no solution to gather
        if (prints) std::printf("%s\n", status.describe().c_str());
        return 1;
    }
    const std::vector<double> solution = gather(s, x);
    if (prints)
        std::printf("%s: log det A = %.4f, (A^-1 1)(0) = %.6f, in the middle %.6f\n", status.describe().c_str(),
                    determinant.get(), solution.front(), solution[1000]);
}
