// A kernel of one's own that stores its tiles as U·Vᵀ, and one that reads tiles stored so. See docs/own_code.md.
#include "tesela/algs/ranks.hpp"
#include "tesela/kernels/compressed_tile.hpp"
#include "tesela/tesela.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

using namespace tesela;

namespace {

constexpr double range = 200;

/// e^(-|i - j| / range): below the diagonal that is e^(-(i - j0) / range) · e^((j - j0) / range), for whatever j0.
KernelResult exponential(const ElementIndex& first, CompressibleTile<double> a) noexcept {
    if (first.i == first.j) {
        std::vector<double> all;
        for (Index j = 0; j < a.cols(); ++j)
            for (Index i = 0; i < a.rows(); ++i) all.push_back(std::exp(-std::abs(static_cast<double>(i - j)) / range));
        return a.store(all.data());
    }
    std::vector<double> u, v;
    for (Index i = 0; i < a.rows(); ++i) u.push_back(std::exp(-static_cast<double>(first.i + i - first.j) / range));
    for (Index j = 0; j < a.cols(); ++j) v.push_back(std::exp(static_cast<double>(j) / range));
    return a.store(u.data(), v.data(), 1);
}
const auto exponential_kernel = make_kernel<exponential>("exponential");

/// Adds log L(i, i) of a diagonal tile, however it is stored.
KernelResult add_logarithms(const NoArguments&, TileSpan<const double, TileForms::any> a,
                            TileSpan<double> sum) noexcept {
    for (Index i = 0; i < a.rows(); ++i) sum(0, 0) += std::log(a(i, i));
    return {};
}
const auto logarithms_kernel = make_kernel<add_logarithms>("add_logarithms");

}  // namespace

int main() {
    constexpr Index n = 2000;
    StarpuEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(n, 200);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()),
                     {.stored = Stored::lower, .compression = Compression{.accuracy = 1e-10}});
    Scalar<double> sum(s);
    for (Index j = 0; j < A.tile_cols(); ++j)
        for (Index i = j; i < A.tile_rows(); ++i)
            s.submit(Task(exponential_kernel, {tiling.row_begin(i), tiling.col_begin(j)}, write(A(i, j).stored())));
    cholesky(s, A);
    fill(s, sum, {});
    for (Index k = 0; k < A.tile_rows(); ++k)
        s.submit(Task(logarithms_kernel, read(A(k, k)), reduce(sum.tile())).on(A(k, k).owner()));
    const Future<double> found = sum.value(s);
    const RankSummary ranks = summarise_ranks(tile_ranks(s, A), tiling, Stored::lower);
    const Status status = s.wait();
    const double exact = 0.5 * (n - 1) * std::log1p(-std::exp(-2 / range));  // of an autoregressive process
    if (engine.is_first())
        std::printf("%s: log det L %.4f, exact %.4f; %d tiles compressed, to rank %d at most\n",
                    status.describe().c_str(), found.get(), exact, static_cast<int>(ranks.compressed),
                    static_cast<int>(ranks.largest));
    return status.ok() && std::abs(found.get() - exact) < 1e-4 ? 0 : 1;
}
