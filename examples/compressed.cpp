#include "tesela/algs/ranks.hpp"
#include "tesela/tesela.hpp"

#include <cmath>
#include <cstdio>

using namespace tesela;

int main() {
    StarpuEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(3000, 250);
    const Distribution owners = squarest_block_cyclic(tiling.grid(), engine.node_count());
    Matrix<double> A(s, tiling, owners,
                     {.stored = Stored::lower, .compression = Compression{.accuracy = 1e-8, .dense_band = 2}});
    generate(s, A, [](Index i, Index j) {
        const double apart = std::abs(static_cast<double>(i - j)) / 500;
        return (1 + apart) * std::exp(-apart) + (i == j ? 0.1 : 0.0);
    });
    cholesky(s, A);
    const RankSummary ranks = summarise_ranks(tile_ranks(s, A), tiling, Stored::lower);
    const Status status = s.wait();
    if (engine.is_first())
        std::printf("%s: %d of %d tiles compressed to rank %d at most, %.0f %% of the memory\n",
                    status.describe().c_str(), static_cast<int>(ranks.compressed), static_cast<int>(ranks.tiles),
                    static_cast<int>(ranks.largest), 100 * ranks.bytes / ranks.dense_bytes);
    return status.ok() ? 0 : 1;
}
