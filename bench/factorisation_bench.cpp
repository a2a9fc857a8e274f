#include "factorisation_bench.hpp"

#include "peak.hpp"
#include "redistribution/scalapack.hpp"
#include "scalapack_cholesky.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/distribution/families.hpp"

#include TESELA_BLAS_HEADER

#include <cmath>
#include <optional>
#include <thread>
#include <vector>

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*);
void spotrf_(const char*, const int*, float*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void sgetrf_(const int*, const int*, float*, const int*, int*, int*);
}

namespace tesela::bench {
namespace {

/// Symmetric, positive definite and diagonally dominant, so that one matrix serves both factorisations.
double element(const void*, ElementIndex at) {
    const auto gap = static_cast<double>(std::abs(at.i - at.j));
    return at.i == at.j ? 32.0 : 1.0 / (1.0 + gap);
}

double flops(Factorisation which, Index n) {
    const double cube = std::pow(static_cast<double>(n), 3);
    return which == Factorisation::cholesky ? cube / 3 : 2 * cube / 3;
}

template <class T>
std::vector<T> whole_matrix(Index n) {
    std::vector<T> a(static_cast<std::size_t>(n * n));
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) a[static_cast<std::size_t>(i + j * n)] = static_cast<T>(element(nullptr, {i, j}));
    return a;
}

template <class T>
void lapack(Factorisation which, Index order, std::vector<T>& a) {
    const int n = static_cast<int>(order);
    int info = 0;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    if constexpr (sizeof(T) == 8) {
        if (which == Factorisation::cholesky)
            dpotrf_("L", &n, a.data(), &n, &info);
        else
            dgetrf_(&n, &n, a.data(), &n, pivots.data(), &info);
    } else {
        if (which == Factorisation::cholesky)
            spotrf_("L", &n, a.data(), &n, &info);
        else
            sgetrf_(&n, &n, a.data(), &n, pivots.data(), &info);
    }
    if (info != 0) throw Error("LAPACK failed with {}", info);
}

template <class T>
void product(Index order, const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& c) {
    const int n = static_cast<int>(order);
    if constexpr (sizeof(T) == 8)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    else
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
}

/// Our factorisation, LAPACK's and a product on one engine, each timed on its own.
template <class T>
class Contest {
public:
    Contest(StarpuEngine& engine, Factorisation which, const FactorisationOptions& options)
        : engine_(engine),
          which_(which),
          options_(options),
          tile_(cli::tile_size(options.run, options.n, engine)),
          stream_(engine),
          tiling_(Tiling::square(options.n, tile_)),
          matrix_(stream_, tiling_,
                  cli::distribution(options.run, tiling_.grid(), engine,
                                    which == Factorisation::cholesky ? Operation::cholesky : Operation::lu),
                  {.stored = which == Factorisation::cholesky ? Stored::lower : Stored::full}) {}

    [[nodiscard]] Index tile() const { return tile_; }

    double ours() {
        generate(stream_, matrix_.view(), {element});
        stream_.wait();
        const double seconds = seconds_of([&] {
            if (which_ == Factorisation::cholesky)
                cholesky(stream_, matrix_);
            else
                lu(stream_, matrix_);
            const Status status = stream_.wait();
            if (!status.ok()) throw Error("{}", status.describe());
        });
        return engine_.max(seconds);
    }

    /// LAPACK and the product get the machine for themselves and all its threads.
    template <class Work>
    double theirs(Work work) {
        engine_.pause();
        const int before = set_blas_threads(engine_.description().cores);
        const double seconds = seconds_of(work);
        set_blas_threads(before);
        engine_.resume();
        return seconds;
    }
    double lapack_seconds() {
        std::vector<T> a = whole_matrix<T>(options_.n);
        return theirs([&] { lapack(which_, options_.n, a); });
    }
    double product_seconds(Index order) {
        if (product_a_.size() != static_cast<std::size_t>(order * order)) {
            product_a_ = whole_matrix<T>(order);
            product_c_ = product_a_;
        }
        return theirs([&] { product(order, product_a_, product_a_, product_c_); });
    }
    /// The best of at least two, and of more where they are short.
    double best_product_seconds(Index order) {
        Best best;
        double all = 0;
        for (int k = 0; k < 2 || all < 0.1; ++k) {
            const double seconds = product_seconds(order);
            all += seconds;
            best.add(seconds);
        }
        return best.seconds();
    }

    /// ‖b − A·x‖∞ / (‖A‖∞·‖x‖∞·n·eps) for b = A·1, x from our factors.
    double residual() {
        const Index n = options_.n;
        const std::vector<double> b = times(std::vector<double>(static_cast<std::size_t>(n), 1.0));
        const Tiling column = tiling_.with_columns(1, 1);
        Matrix<T> x(stream_, column, along_diagonal(matrix_.distribution(), 1), {.name = "x"});
        generate(stream_, x.view(),
                 {[](const void* v, ElementIndex at) {
                      return (*static_cast<const std::vector<double>*>(v))[static_cast<std::size_t>(at.i)];
                  },
                  &b});
        if (which_ == Factorisation::cholesky)
            solve_cholesky(stream_, matrix_.view(), x.view());
        else
            solve_lu(stream_, matrix_.view(), x.view());
        const std::vector<T> solved = gather(stream_, x.view());
        stream_.wait();
        const std::vector<double> wide(solved.begin(), solved.end());
        const std::vector<double> back = times(wide);
        LargestDifference worst;
        double norm_a = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
            worst.add(back[i] - b[i]);
            norm_a = std::max(norm_a, b[i]);  // all elements are positive: b holds the row sums
        }
        return worst.value() /
               (norm_a * static_cast<double>(n) * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }

    /// The largest difference of our factor from LAPACK's, over n·eps·max|A|. Cholesky only: LAPACK's LU pivots.
    std::optional<double> difference() {
        constexpr Index largest = 4000;
        if (which_ != Factorisation::cholesky || options_.n > largest) return std::nullopt;
        const std::vector<T> factor = gather(stream_, matrix_.lower());
        stream_.wait();
        std::vector<T> expected = whole_matrix<T>(options_.n);
        lapack(which_, options_.n, expected);
        LargestDifference worst;
        for (Index j = 0; j < options_.n; ++j)
            for (Index i = j; i < options_.n; ++i) {
                const auto at = static_cast<std::size_t>(i + j * options_.n);
                worst.add(static_cast<double>(factor[at]) - static_cast<double>(expected[at]));
            }
        return worst.value() /
               (32.0 * static_cast<double>(options_.n) * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }

private:
    /// A·x by its closed form.
    [[nodiscard]] std::vector<double> times(const std::vector<double>& x) const {
        std::vector<double> y(x.size(), 0);
        const auto n = static_cast<Index>(x.size());
        std::vector<double> by_gap(x.size());
        for (Index gap = 0; gap < n; ++gap) by_gap[static_cast<std::size_t>(gap)] = element(nullptr, {gap, 0});
        for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (Index j = 0; j < n; ++j)
                sum += by_gap[static_cast<std::size_t>(std::abs(i - j))] * x[static_cast<std::size_t>(j)];
            y[static_cast<std::size_t>(i)] = sum;
        }
        return y;
    }

    StarpuEngine& engine_;
    Factorisation which_;
    const FactorisationOptions& options_;
    Index tile_;
    Stream stream_;
    Tiling tiling_;
    Matrix<T> matrix_;
    std::vector<T> product_a_;
    std::vector<T> product_c_;
};

double gigaflops(Factorisation which, Index n, double seconds) { return 1e-9 * flops(which, n) / seconds; }

/// What is measured beside our factorisation: on one node LAPACK's and a product, on several ScaLAPACK's Cholesky.
template <class T>
class Rivals {
public:
    Rivals(StarpuEngine& engine, Factorisation which, const FactorisationOptions& options)
        : which_(which),
          options_(options),
          lapack_(options.compare && engine.node_count() == 1) {
        const bool comparable = which == Factorisation::cholesky && sizeof(T) == sizeof(double) && has_scalapack();
        if (options.compare && engine.node_count() > 1 && comparable)
            scalapack_.emplace(engine, options.n, Elements{element});
    }

    /// Each once.
    void run(Contest<T>& contest) {
        if (scalapack_) scalapack_->run();
        if (!lapack_) return;
        lapack_best_.add(contest.lapack_seconds());
        if (!products_)
            products_ =
                find_peak([&](Index order) { return contest.best_product_seconds(order); }, options_.product_seconds);
        const auto [order, rate] = products_->best();
        product_rate_ = std::max({product_rate_, rate, product_flops(order) / contest.product_seconds(order)});
    }

    void report(double our_gflops, nlohmann::ordered_json& result) const {
        if (scalapack_) report_scalapack(our_gflops, result);
        if (!lapack_) return;
        const double lapack_gflops = gigaflops(which_, options_.n, lapack_best_.seconds());
        const double gemm_gflops = 1e-9 * product_rate_;
        result["lapack_seconds"] = lapack_best_.seconds();
        result["lapack_gflops"] = lapack_gflops;
        result["gemm_gflops"] = gemm_gflops;
        result["gemm_order"] = products_->best().order;
        result["gemm_settled"] = products_->settled();
        result["ratio_lapack"] = our_gflops / lapack_gflops;
        result["ratio_gemm"] = our_gflops / gemm_gflops;
    }

private:
    void report_scalapack(double our_gflops, nlohmann::ordered_json& result) const {
        const auto& [seconds, setting] = scalapack_->best();
        const double scalapack_gflops = gigaflops(which_, options_.n, seconds);
        result["scalapack_seconds"] = seconds;
        result["scalapack_gflops"] = scalapack_gflops;
        result["scalapack_grid"] = fmt::format("{}x{}", setting.grid.rows, setting.grid.cols);
        result["scalapack_block"] = setting.block;
        result["ratio_scalapack"] = our_gflops / scalapack_gflops;
    }

    Factorisation which_;
    const FactorisationOptions& options_;
    bool lapack_;
    std::optional<ScalapackCholesky> scalapack_;
    Best lapack_best_;
    std::optional<PeakSearch> products_;
    double product_rate_ = 0;  // flops per second, the best of all
};

template <class T>
nlohmann::ordered_json run(StarpuEngine& engine, Factorisation which, const FactorisationOptions& options) {
    Contest<T> contest(engine, which, options);
    Rivals<T> rivals(engine, which, options);
    Best ours;
    for (int r = 0; r < options.repetitions; ++r) {
        ours.add(contest.ours());
        rivals.run(contest);
    }
    const double gflops = gigaflops(which, options.n, ours.seconds());
    const double residual = contest.residual();
    nlohmann::ordered_json result{
        {"n", options.n},         {"nodes", engine.node_count()},       {"workers", engine.worker_count()},
        {"tile", contest.tile()}, {"repetitions", options.repetitions}, {"seconds", ours.seconds()},
        {"gflops", gflops}};
    rivals.report(gflops, result);
    result["residual"] = residual;
    // c·n·eps: what rounding may leave.
    constexpr double c = 8;
    bool correct = residual < c;
    if (options.check) {
        // The solve above left the factor as it was.
        const auto difference = contest.difference();
        if (difference) result["difference_from_lapack"] = *difference;
        correct = correct && (!difference || *difference < c);
    }
    result["correct"] = correct;
    return result;
}

}  // namespace

nlohmann::ordered_json factorisation_benchmark(StarpuEngine& engine, Factorisation which,
                                               const FactorisationOptions& options) {
    if (options.n < 1) throw Error("--n must be at least 1");
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    return options.precision == ElementType::f64 ? run<double>(engine, which, options)
                                                 : run<float>(engine, which, options);
}

}  // namespace tesela::bench
