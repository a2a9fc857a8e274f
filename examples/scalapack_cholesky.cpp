// A program that keeps its matrices as ScaLAPACK does lets Tesela work on them: on its arrays as they are, and through
// tiles of another size. Both results are compared with ScaLAPACK's, element by element (paper 002, figure 18).
//   mpirun -n 4 example_scalapack_cholesky --n 4000 --block 960 --tile 400 --algorithm cholesky|gemm

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/scalapack.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/starpu/engine.hpp"

#include <mpi.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int keep_mpi);
int numroc_(const int* n, const int* block, const int* process, const int* first, const int* processes);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb, const int* rsrc,
               const int* csrc, const int* context, const int* lld, int* info);
void pdpotrf_(const char* triangle, const int* n, double* a, const int* ia, const int* ja, const int* desc, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desc_a, const double* b, const int* ib,
             const int* jb, const int* desc_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* desc_c);
}

using namespace tesela;

namespace {

enum class Algorithm { cholesky, gemm };

struct Options {
    int n = 2000;
    int block = 960;
    int tile = 400;
    Algorithm algorithm = Algorithm::cholesky;
    int repetitions = 3;
};

// ------------------------------------------------------------------ the program as it was, with ScaLAPACK alone

struct Grid {
    int context = -1;
    int rows = 1, cols = 1;
    int row = 0, col = 0;
};

Grid make_grid(int nodes) {
    Grid grid;
    while ((grid.rows + 1) * (grid.rows + 1) <= nodes) ++grid.rows;
    while (nodes % grid.rows != 0) --grid.rows;
    grid.cols = nodes / grid.rows;
    Cblacs_get(-1, 0, &grid.context);
    Cblacs_gridinit(&grid.context, "Row", grid.rows, grid.cols);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);
    return grid;
}

/// What this process has of an n x n matrix in square blocks: an array and the nine integers that describe it.
struct LocalMatrix {
    std::array<int, 9> descriptor{};
    int rows = 0, cols = 0;
    std::vector<double> elements;
};

LocalMatrix make_matrix(const Grid& grid, int n, int block) {
    const int zero = 0;
    LocalMatrix matrix;
    matrix.rows = numroc_(&n, &block, &grid.row, &zero, &grid.rows);
    matrix.cols = numroc_(&n, &block, &grid.col, &zero, &grid.cols);
    const int ld = std::max(matrix.rows, 1);
    int info = 0;
    descinit_(matrix.descriptor.data(), &n, &n, &block, &block, &zero, &zero, &grid.context, &ld, &info);
    if (info != 0) throw Error("descinit says that argument {} is wrong", -info);
    matrix.elements.resize(static_cast<std::size_t>(ld) * static_cast<std::size_t>(matrix.cols));
    return matrix;
}

/// Calls visit(global row, global column, element) for what this process has.
template <class Visit>
void for_each_element(const Grid& grid, LocalMatrix& matrix, Visit visit) {
    const auto global = [block = matrix.descriptor[4]](int local, int process, int count) {
        return (local / block * count + process) * block + local % block;
    };
    double* element = matrix.elements.data();
    for (int j = 0; j < matrix.cols; ++j)
        for (int i = 0; i < matrix.rows; ++i)
            visit(global(i, grid.row, grid.rows), global(j, grid.col, grid.cols), *element++);
}

double covariance(int i, int j) { return 1.0 / (1 + std::abs(i - j)) + (i == j ? 2 : 0); }
double wave(int i, int j) { return std::sin(0.7 * i + 0.3 * j); }

void scalapack(Algorithm algorithm, const LocalMatrix& A, const LocalMatrix& B, LocalMatrix& C) {
    const int n = C.descriptor[2];
    const int one = 1;
    int info = 0;
    const double alpha = 1, beta = 0;
    if (algorithm == Algorithm::cholesky)
        pdpotrf_("L", &n, C.elements.data(), &one, &one, C.descriptor.data(), &info);
    else
        pdgemm_("N", "N", &n, &n, &n, &alpha, A.elements.data(), &one, &one, A.descriptor.data(), B.elements.data(),
                &one, &one, B.descriptor.data(), &beta, C.elements.data(), &one, &one, C.descriptor.data());
    if (info != 0) throw Error("pdpotrf returns {}", info);
}

// ------------------------------------------------------------------ what is added: Tesela on the same arrays

/// The operands as Tesela sees them: the program's own arrays, no copy.
struct Wrapped {
    Wrapped(Stream& stream, const Grid& grid, std::array<LocalMatrix*, 3> local)
        : A(over(stream, grid, *local[0])),
          B(over(stream, grid, *local[1])),
          C(over(stream, grid, *local[2])) {}
    Matrix<double> A, B, C;

private:
    static Matrix<double> over(Stream& stream, const Grid& grid, LocalMatrix& local) {
        const ScalapackLayout layout{.descriptor = local.descriptor, .grid = {grid.rows, grid.cols}};
        return over_scalapack(stream, layout, local.elements.data());
    }
};

/// The same operands in Tesela's own tiles.
struct Tiled {
    Tiled(Stream& stream, const Options& options)
        : A(make(stream, options)),
          B(make(stream, options)),
          C(make(stream, options)) {}
    Matrix<double> A, B, C;

private:
    static Matrix<double> make(Stream& stream, const Options& options) {
        const Tiling tiling = Tiling::square(options.n, options.tile);
        return {stream, tiling, squarest_block_cyclic(tiling.grid(), stream.engine().node_count())};
    }
};

/// C := Cholesky factor of C, in its lower triangle; or C := A·B.
template <class Operands>
void submit(Stream& stream, Algorithm algorithm, const Operands& on) {
    if (algorithm == Algorithm::cholesky)
        cholesky(stream, on.C.lower());
    else
        gemm(stream, on.A.view(), on.B.view(), on.C.view());
}

void to_tiles(Stream& stream, Algorithm algorithm, const Wrapped& from, const Tiled& to) {
    if (algorithm == Algorithm::cholesky) {
        redistribute(stream, from.C.lower(), to.C.lower());
    } else {
        redistribute(stream, from.A.view(), to.A.view());
        redistribute(stream, from.B.view(), to.B.view());
    }
}

void from_tiles(Stream& stream, Algorithm algorithm, const Tiled& from, const Wrapped& to) {
    if (algorithm == Algorithm::cholesky)
        redistribute(stream, from.C.lower(), to.C.lower());
    else
        redistribute(stream, from.C.view(), to.C.view());
}

void finish(Stream& stream) { require_done(stream.wait()); }

// ------------------------------------------------------------------ comparison

class Comparison {
public:
    Comparison(StarpuEngine& engine, const Grid& grid, const Options& options)
        : engine_(engine),
          grid_(grid),
          options_(options),
          A_(make_matrix(grid, options.n, options.block)),
          B_(make_matrix(grid, options.n, options.block)),
          C_(make_matrix(grid, options.n, options.block)) {
        for_each_element(grid, A_, [](int i, int j, double& e) { e = wave(i, j); });
        for_each_element(grid, B_, [](int i, int j, double& e) { e = wave(j, -i); });
    }

    /// Whether all results agree.
    bool run() {
        // Both sides get the same cores: workers sleep while ScaLAPACK runs, and its BLAS has as many threads.
        measure("ScaLAPACK", [this](auto timed) {
            engine_.pause();
            const int before = set_blas_threads(engine_.worker_count());
            timed([this] { scalapack(options_.algorithm, A_, B_, C_); });
            set_blas_threads(before);
            engine_.resume();
        });
        expected_ = C_.elements;
        for (const double e : expected_) scale_ = std::max(scale_, std::abs(e));
        scale_ = engine_.max(scale_);

        Stream stream(engine_);
        measure("Tesela on ScaLAPACK's arrays", [&](auto timed) {
            const Wrapped on(stream, grid_, {&A_, &B_, &C_});
            timed([&] {
                submit(stream, options_.algorithm, on);
                finish(stream);
            });
        });
        measure("Tesela on its own tiles", [&](auto timed) {
            const Wrapped arrays(stream, grid_, {&A_, &B_, &C_});
            const Tiled tiles(stream, options_);
            to_tiles(stream, options_.algorithm, arrays, tiles);
            finish(stream);
            timed([&] {
                submit(stream, options_.algorithm, tiles);
                finish(stream);
            });
            from_tiles(stream, options_.algorithm, tiles, arrays);
            finish(stream);
        });
        measure("... with redistribution both ways", [&](auto timed) {
            const Wrapped arrays(stream, grid_, {&A_, &B_, &C_});
            timed([&] {
                const Tiled tiles(stream, options_);
                to_tiles(stream, options_.algorithm, arrays, tiles);
                submit(stream, options_.algorithm, tiles);
                from_tiles(stream, options_.algorithm, tiles, arrays);
                finish(stream);
            });
        });
        return agree_;
    }

private:
    /// Best of the repetitions of what `work` hands to its argument, and how far C is from ScaLAPACK's.
    template <class Work>
    void measure(const char* name, Work work) {
        double best = std::numeric_limits<double>::infinity();
        for (int k = 0; k < options_.repetitions; ++k) {
            for_each_element(grid_, C_, [](int i, int j, double& e) { e = covariance(i, j); });
            work([&](auto part) {
                engine_.barrier();
                const auto start = std::chrono::steady_clock::now();
                part();
                const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
                best = std::min(best, engine_.max(taken.count()));
            });
        }
        print(name, best, scale_ > 0 ? difference() : 0);
    }

    double difference() {
        double largest = 0;
        std::size_t at = 0;
        const bool lower = options_.algorithm == Algorithm::cholesky;
        for_each_element(grid_, C_, [&](int i, int j, double& e) {
            const double expected = expected_[at++];
            if (!lower || i >= j) largest = std::max(largest, std::abs(e - expected));
        });
        return engine_.max(largest) / scale_;
    }

    void print(const char* name, double seconds, double difference) {
        const double limit = 4.0 * options_.n * std::numeric_limits<double>::epsilon();
        agree_ = agree_ && difference <= limit;
        const double n = options_.n;
        const double flops = (options_.algorithm == Algorithm::cholesky ? 1.0 / 3 : 2.0) * n * n * n;
        if (!engine_.is_first()) return;
        std::printf("%-34s %9.4f %9.2f %12.2g%s\n", name, seconds, 1e-9 * flops / seconds, difference,
                    difference <= limit ? "" : "  DIFFERS");
    }

    StarpuEngine& engine_;
    const Grid& grid_;
    const Options& options_;
    LocalMatrix A_, B_, C_;
    std::vector<double> expected_;
    double scale_ = 0;  // of ScaLAPACK's result, once that is there
    bool agree_ = true;
};

bool compare(const Options& options) {
    StarpuEngine engine;
    const Grid grid = make_grid(static_cast<int>(engine.node_count()));
    if (engine.is_first())
        std::printf("%s of order %d on a %d x %d grid, blocks of %d -> tiles of %d\n%-34s %9s %9s %12s\n",
                    options.algorithm == Algorithm::cholesky ? "cholesky" : "gemm", options.n, grid.rows, grid.cols,
                    options.block, options.tile, "", "seconds", "GFLOP/s", "difference");
    const bool agree = Comparison(engine, grid, options).run();
    Cblacs_gridexit(grid.context);
    return agree;
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app{"Tesela on the matrices of a ScaLAPACK program"};
    const std::map<std::string, Algorithm> algorithms{{"cholesky", Algorithm::cholesky}, {"gemm", Algorithm::gemm}};
    const CLI::Range size(1, 1 << 20);
    app.add_option("--n", options.n, "Order of the matrices")->check(size)->capture_default_str();
    app.add_option("--block", options.block, "Block size of ScaLAPACK")->check(size)->capture_default_str();
    app.add_option("--tile", options.tile, "Tile size of Tesela")->check(size)->capture_default_str();
    app.add_option("--algorithm", options.algorithm, "cholesky or gemm")
        ->transform(CLI::CheckedTransformer(algorithms, CLI::ignore_case));
    app.add_option("--repetitions", options.repetitions, "Best of so many")->check(size)->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return compare(options) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    // Tesela's communication has a thread of its own, so the program must ask for this level when it starts MPI.
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int exit_code = 2;
    try {
        exit_code = run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, exit_code);
    }
    Cblacs_exit(1);
    MPI_Finalize();
    return exit_code;
}
