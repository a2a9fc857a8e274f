// Cholesky by tiles beside LAPACK's on all cores, and whether the factors agree:   example_cholesky [ORDER]
#include "tesela/algs/tile_size.hpp"
#include "tesela/kernels/blas_core.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/tesela.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

extern "C" void dpotrf_(const char*, const int*, double*, const int*, int*);

using namespace tesela;

namespace {

double element(Index i, Index j) { return std::exp(-std::abs(static_cast<double>(i - j)) / 50) + (i == j ? 0.1 : 0); }

double seconds_of(const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<double> whole_matrix(int n) {
    std::vector<double> a;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) a.push_back(element(i, j));
    return a;
}

/// The workers rest meanwhile, so that LAPACK has the cores.
double factor_by_lapack(StarpuEngine& engine, int n, std::vector<double>& a) {
    engine.pause();
    const int before = set_blas_threads(engine.description().cores);
    int info = 0;
    const double seconds = seconds_of([&] { dpotrf_("L", &n, a.data(), &n, &info); });
    set_blas_threads(before);
    engine.resume();
    return seconds;
}

double largest_difference(const std::vector<double>& ours, const std::vector<double>& lapack, Index n) {
    double largest = 0;
    for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) {
            const auto at = static_cast<std::size_t>(i + j * n);
            largest = std::max(largest, std::abs(ours[at] - lapack[at]));
        }
    return largest;
}

}  // namespace

int main(int argc, char** argv) {
    restart_with_better_blas();
    const int n = argc > 1 ? std::atoi(argv[1]) : 2000;
    if (n < 1 || n > 40000) {
        std::fprintf(stderr, "example_cholesky takes an order from 1 to 40000\n");
        return 2;
    }
    StarpuEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(n, automatic_tile_size(n, engine.total_workers()));
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    const std::vector<double> given = whole_matrix(n);
    std::vector<double> by_lapack;
    double ours = std::numeric_limits<double>::infinity(), lapack = ours;
    for (int round = 0; round < 5; ++round) {
        generate(s, A, element);
        require_done(s.wait());
        ours = std::min(ours, seconds_of([&] {
                            cholesky(s, A);
                            require_done(s.wait());
                        }));
        by_lapack = given;
        lapack = std::min(lapack, factor_by_lapack(engine, n, by_lapack));
    }
    const double difference = largest_difference(gather(s, A), by_lapack, n);
    const double billions = std::pow(n, 3) / 3e9;
    std::printf("order %d in tiles of %td: %.3f s, %.1f GFLOP/s; LAPACK %.3f s, %.1f GFLOP/s: %.2f times as fast\n", n,
                tiling.rows(0), ours, billions / ours, lapack, billions / lapack, lapack / ours);
    std::printf("largest difference of the factors: %.1e\n", difference);
    return difference < 1e-10 ? 0 : 1;
}
