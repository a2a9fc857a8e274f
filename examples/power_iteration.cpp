// The largest eigenvalue of a matrix by power iteration: an algorithm of one's own with kernels of one's own, on one
// node or many. See docs/own_code.md.
#include "tesela/tesela.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>

using namespace tesela;

/// y := y + a·x for one tile of the matrix.
KernelResult multiply(const NoArguments&, TileSpan<const double> a, TileSpan<const double> x,
                      TileSpan<double> y) noexcept {
    for (Index j = 0; j < a.cols(); ++j)
        for (Index i = 0; i < a.rows(); ++i) y(i, 0) += a(i, j) * x(j, 0);
    return {};
}
KernelCost multiply_cost(std::span<const TileShape> shapes, const void*) noexcept {
    const auto elements = static_cast<double>(shapes[0].rows * shapes[0].cols);
    return {.flops = 2 * elements, .bytes = 8 * elements};
}
const auto multiply_kernel = make_kernel<multiply>("multiply", multiply_cost);

/// x := y / |y|, from |y|²; `first` is the global index of the tile's first element.
struct Rows {
    Index first = 0;
};
KernelResult normalise(const Rows& rows, TileSpan<const double> square, TileSpan<const double> y,
                       TileSpan<double> x) noexcept {
    const double norm = std::sqrt(square(0, 0));
    if (!(norm > 0)) return fail("the vector has become zero", rows.first);
    for (Index i = 0; i < x.rows(); ++i) x(i, 0) = y(i, 0) / norm;
    return {};
}
const auto normalise_kernel = make_kernel<normalise>("normalise");

/// y := A·x. Products run where A's tiles are; sums travel, tiles of A do not.
void product(Stream& s, const MatrixView<double>& A, const Vector<double>& x, const Vector<double>& y) {
    const auto phase = s.phase("product");
    fill(s, y, {});
    for (Index j = 0; j < A.tile_cols(); ++j) {
        s.share_with_owners(x(j), {A.block({0, j}, {A.tile_rows(), j + 1})});
        for (Index i = 0; i < A.tile_rows(); ++i)
            s.submit(Task(multiply_kernel, read(A(i, j)), read(x(j)), reduce(y(i))).on(A(i, j).owner()));
    }
}

int main() {
    constexpr Index n = 600;
    constexpr int sweeps = 40;
    StarpuEngine engine({.warnings = Warnings::keep});
    Stream s(engine, {.name = "power"});
    const Tiling tiling = Tiling::square(n, 100);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()));
    Vector<double> x(s, A), y(s, A, {.name = "y"});
    Scalar<double> square(s);
    generate(s, A, [](Index i, Index j) { return static_cast<double>(std::min(i, j) + 1); });
    generate(s, x, [](Index, Index) { return 1 / std::sqrt(static_cast<double>(n)); });
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        product(s, A, x, y);
        dot(s, y, y, square);
        for (Index i = 0; i < y.tile_rows(); ++i)
            s.submit(Task(normalise_kernel, {tiling.row_begin(i)}, read(square.tile()), read(y(i)), write(x(i))));
    }
    const Future<double> found = square.value(s);
    const Status status = s.wait();  // nothing waited before
    const double sine = std::sin(std::numbers::pi / (4 * n + 2));
    const double exact = 1 / (4 * sine * sine);
    const double value = std::sqrt(found.get());
    if (engine.is_first())
        std::printf("%s: largest eigenvalue %.6f, exact %.6f\n", status.describe().c_str(), value, exact);
    return status.ok() && std::abs(value - exact) < 1e-9 * exact ? 0 : 1;
}
