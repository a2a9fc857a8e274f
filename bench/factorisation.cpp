#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"
#include "peak.hpp"
#include "scalapack_cholesky.hpp"
#include "shared/lapack.hpp"
#include "shared/scalapack.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/qr.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/kernels/dense.hpp"

#include TESELA_BLAS_HEADER

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {
namespace {

enum class Factorisation : std::uint8_t { cholesky, lu, qr };

struct FactorisationOptions {
    Factorisation which = Factorisation::cholesky;
    Index n = 4000;
    Index rows = 0;  ///< of QR; 0: as many as columns
    int repetitions = 5;
    ElementType precision = ElementType::f64;
    bool check = false;          ///< the factor, against LAPACK's
    bool compare = true;         ///< LAPACK and gemm on one node, ScaLAPACK's Cholesky (double precision) on several
    double product_seconds = 2;  ///< the longest product that is tried for the rate of gemm
    Index tile = 0;
    std::string distribution = "block_cyclic";
    EngineOptions engine;
};

constexpr Names<ElementType, 2> factor_precisions{{{ElementType::f64, "double"}, {ElementType::f32, "single"}}};

template <Factorisation which>
void add_factorisation_options(CLI::App& command, FactorisationOptions& options) {
    options.which = which;
    const bool is_qr = which == Factorisation::qr;
    command.add_option("--n", options.n, is_qr ? "Columns of the matrix" : "Order of the matrix")
        ->capture_default_str();
    if (is_qr)
        command.add_option("--rows", options.rows, "Rows of the matrix; without it as many as columns")
            ->check(CLI::PositiveNumber);
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    add_choice(command, "--precision", options.precision, factor_precisions, "double or single");
    command.add_flag("--check", options.check, "Compare the factor with LAPACK's (up to order 4000)");
    command.add_flag("!--no-compare", options.compare,
                     which == Factorisation::cholesky ? "Do not measure LAPACK, the product and ScaLAPACK"
                                                      : "Do not measure LAPACK and the product");
    command
        .add_option("--product-seconds", options.product_seconds,
                    "Products are tried until larger ones are no faster, or one would take longer than this")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_tile_option(command, options.tile);
    add_distribution_option(command, options.distribution);
    add_engine_options(command, options.engine);
}

/// Symmetric, positive definite and diagonally dominant, so that one matrix serves all factorisations.
double dominant_element(const void*, ElementIndex at) {
    const auto gap = static_cast<double>(std::abs(at.i - at.j));
    return at.i == at.j ? 32.0 : 1.0 / (1.0 + gap);
}

ElementIndex size_of(const FactorisationOptions& options) {
    return {options.rows == 0 ? options.n : options.rows, options.n};
}

double flops(const FactorisationOptions& options) {
    const ElementIndex size = size_of(options);
    const auto n = static_cast<double>(std::min(size.i, size.j));
    switch (options.which) {
        case Factorisation::cholesky: return n * n * n / 3;
        case Factorisation::lu: return 2 * n * n * n / 3;
        case Factorisation::qr: return 2 * n * n * (static_cast<double>(std::max(size.i, size.j)) - n / 3);
    }
    return 0;
}

template <class T>
std::vector<T> whole_matrix(ElementIndex size) {
    std::vector<T> a(static_cast<std::size_t>(size.i * size.j));
    for (Index j = 0; j < size.j; ++j)
        for (Index i = 0; i < size.i; ++i)
            a[static_cast<std::size_t>(i + j * size.i)] = static_cast<T>(dominant_element(nullptr, {i, j}));
    return a;
}

/// With the room that it asks for.
template <class T>
void lapack_qr(ElementIndex size, std::vector<T>& a) {
    const int m = static_cast<int>(size.i);
    const int n = static_cast<int>(size.j);
    int info = 0;
    std::vector<T> tau(static_cast<std::size_t>(std::min(m, n)));
    const auto call = [&](T* work, int room) {
        if constexpr (sizeof(T) == 8)
            dgeqrf_(&m, &n, a.data(), &m, tau.data(), work, &room, &info);
        else
            sgeqrf_(&m, &n, a.data(), &m, tau.data(), work, &room, &info);
        if (info != 0) throw Error("LAPACK failed with {}", info);
    };
    T wanted{};
    call(&wanted, -1);
    std::vector<T> work(static_cast<std::size_t>(wanted));
    call(work.data(), static_cast<int>(wanted));
}

template <class T>
void lapack(Factorisation which, ElementIndex size, std::vector<T>& a) {
    if (which == Factorisation::qr) return lapack_qr(size, a);
    const int n = static_cast<int>(size.j);
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

Tiling tiling_of(const StarpuEngine& engine, const FactorisationOptions& options) {
    if (options.which != Factorisation::qr)
        return Tiling::square(options.n, tile_size(options.tile, options.n, engine));
    const ElementIndex size = size_of(options);
    return options.tile == 0 ? qr_tiling(size, engine.total_workers())
                             : Tiling::uniform(size, {options.tile, options.tile});
}

Operation operation_of(Factorisation which) {
    return which == Factorisation::cholesky ? Operation::cholesky : Operation::lu;
}

/// Our factorisation, LAPACK's and a product on one engine, each timed on its own.
template <class T>
class FactorisationContest {
public:
    FactorisationContest(StarpuEngine& engine, const FactorisationOptions& options)
        : engine_(engine),
          which_(options.which),
          options_(options),
          stream_(engine),
          tiling_(tiling_of(engine, options)),
          matrix_(stream_, tiling_,
                  make_distribution(options.distribution, tiling_.grid(), engine.node_count(), operation_of(which_)),
                  {.stored = which_ == Factorisation::cholesky ? Stored::lower : Stored::full}) {}

    [[nodiscard]] const Tiling& tiling() const { return tiling_; }

    double ours() {
        factors_.reset();
        generate(stream_, matrix_.view(), {dominant_element});
        require_done(stream_.wait());
        const double seconds = seconds_of([&] {
            factorise();
            require_done(stream_.wait());
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
        std::vector<T> a = whole_matrix<T>(size_of(options_));
        return theirs([&] { lapack(which_, size_of(options_), a); });
    }
    double product_seconds(Index order) {
        if (product_a_.size() != static_cast<std::size_t>(order * order)) {
            product_a_ = whole_matrix<T>({order, order});
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

    /// ‖b − A·x‖∞ / (‖A‖∞·‖x‖∞·n·eps) for b = A·1, x from our factors; of QR ‖b − Q·R·1‖∞ / (‖A‖∞·n·eps).
    double residual() {
        const std::vector<double> ones(static_cast<std::size_t>(options_.n), 1.0);
        const std::vector<double> b = times(ones);
        const std::vector<double> back = which_ == Factorisation::qr ? product_of_factors() : times(solution(b));
        LargestDifference worst;
        double norm_a = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
            worst.add(back[i] - b[i]);
            norm_a = std::max(norm_a, b[i]);  // all elements are positive: b holds the row sums
        }
        return worst.value() /
               (norm_a * static_cast<double>(options_.n) * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }

    /// The largest difference of our factor from LAPACK's, of R in absolute values, over n·eps·max|A|. Not of LU, where
    /// LAPACK pivots.
    std::optional<double> difference() {
        constexpr Index largest = 16'000'000;
        const auto [m, n] = size_of(options_);
        if (which_ == Factorisation::lu || m * n > largest) return std::nullopt;
        const bool lower = which_ == Factorisation::cholesky;
        const std::vector<T> factor = gather(stream_, lower ? matrix_.lower() : matrix_.view());
        require_done(stream_.wait());
        std::vector<T> expected = whole_matrix<T>({m, n});
        lapack(which_, {m, n}, expected);
        LargestDifference worst;
        for (Index j = 0; j < n; ++j)
            for (Index i = lower ? j : 0; i < (lower ? n : std::min(m, j + 1)); ++i) {
                const auto at = static_cast<std::size_t>(i + j * m);
                const auto ours = static_cast<double>(factor[at]);
                const auto theirs = static_cast<double>(expected[at]);
                worst.add(lower ? ours - theirs : std::abs(ours) - std::abs(theirs));
            }
        return worst.value() / (32.0 * static_cast<double>(n) * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }

private:
    void factorise() {
        switch (which_) {
            case Factorisation::cholesky: cholesky(stream_, matrix_); break;
            case Factorisation::lu: lu(stream_, matrix_); break;
            case Factorisation::qr: factors_.emplace(qr(stream_, matrix_.view())); break;
        }
    }

    /// A column with these first elements and zeros below, cut as the rows of A; the vector outlives the next wait.
    Matrix<T> column(const std::vector<double>& elements) {
        const Tiling tiling = tiling_.with_columns(1, 1);
        const Distribution owners = tabulate(tiling.grid(), engine_.node_count(), [&](Index i, Index) {
            return matrix_(i, std::min(i, matrix_.tile_cols() - 1)).owner().number();
        });
        Matrix<T> x(stream_, tiling, owners, {.name = "x"});
        generate(stream_, x.view(),
                 {[](const void* v, ElementIndex at) {
                      const auto& values = *static_cast<const std::vector<double>*>(v);
                      return std::cmp_less(at.i, values.size()) ? values[static_cast<std::size_t>(at.i)] : 0.0;
                  },
                  &elements});
        return x;
    }
    std::vector<double> values_of(const Matrix<T>& x) {
        const std::vector<T> values = gather(stream_, x.view());
        require_done(stream_.wait());
        return {values.begin(), values.end()};
    }
    /// A⁻¹·b.
    std::vector<double> solution(const std::vector<double>& b) {
        const Matrix<T> x = column(b);
        if (which_ == Factorisation::cholesky)
            solve_cholesky(stream_, matrix_.view(), x.view());
        else
            solve_lu(stream_, matrix_.view(), x.view());
        return values_of(x);
    }
    /// Q·(R·1).
    std::vector<double> product_of_factors() {
        const Tiling tiling = tiling_of_r(matrix_.view());
        const Matrix<T> R(stream_, tiling, squarest_block_cyclic(tiling.grid(), engine_.node_count()), {.name = "R"});
        copy_r(stream_, *factors_, R.view());
        const std::vector<T> r = gather(stream_, R.view());
        const Index order = tiling.size().i;
        std::vector<double> sums(static_cast<std::size_t>(order), 0);
        for (std::size_t at = 0; at < r.size(); ++at) sums[at % sums.size()] += static_cast<double>(r[at]);
        const Matrix<T> x = column(sums);
        multiply_q(stream_, *factors_, Op::none, x.view());
        return values_of(x);
    }

    /// A·x by its closed form.
    [[nodiscard]] std::vector<double> times(const std::vector<double>& x) const {
        const auto [m, n] = size_of(options_);
        std::vector<double> y(static_cast<std::size_t>(m), 0);
        std::vector<double> by_gap(static_cast<std::size_t>(std::max(m, n)));
        for (Index gap = 0; gap < std::max(m, n); ++gap)
            by_gap[static_cast<std::size_t>(gap)] = dominant_element(nullptr, {gap, 0});
        for (Index i = 0; i < m; ++i) {
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
    Stream stream_;
    Tiling tiling_;
    Matrix<T> matrix_;
    std::optional<QrFactors<T>> factors_;
    std::vector<T> product_a_;
    std::vector<T> product_c_;
};

double gigaflops(const FactorisationOptions& options, double seconds) { return 1e-9 * flops(options) / seconds; }

/// What is measured beside our factorisation: on one node LAPACK's and a product, on several ScaLAPACK's Cholesky.
template <class T>
class FactorisationRivals {
public:
    FactorisationRivals(StarpuEngine& engine, const FactorisationOptions& options)
        : options_(options),
          lapack_(options.compare && engine.node_count() == 1) {
        const bool comparable =
            options.which == Factorisation::cholesky && sizeof(T) == sizeof(double) && has_scalapack();
        if (options.compare && engine.node_count() > 1 && comparable)
            scalapack_.emplace(engine, options.n, Elements{dominant_element});
    }

    /// Each once.
    void run(FactorisationContest<T>& contest) {
        if (scalapack_) scalapack_->run();
        if (!lapack_) return;
        lapack_best_.add(contest.lapack_seconds());
        if (!products_)
            products_ =
                find_peak([&](Index order) { return contest.best_product_seconds(order); }, options_.product_seconds);
        const auto [order, rate] = products_->best();
        product_rate_ = std::max({product_rate_, rate, product_flops(order) / contest.product_seconds(order)});
    }

    void report(double our_gflops, Row& figures) const {
        if (scalapack_) report_scalapack(our_gflops, figures);
        if (!lapack_) return;
        const double lapack_gflops = gigaflops(options_, lapack_best_.seconds());
        const double gemm_gflops = 1e-9 * product_rate_;
        figures["lapack_seconds"] = lapack_best_.seconds();
        figures["lapack_gflops"] = lapack_gflops;
        figures["gemm_gflops"] = gemm_gflops;
        figures["gemm_order"] = products_->best().order;
        figures["gemm_settled"] = products_->settled();
        figures["ratio_lapack"] = our_gflops / lapack_gflops;
        figures["ratio_gemm"] = our_gflops / gemm_gflops;
    }

private:
    void report_scalapack(double our_gflops, Row& figures) const {
        const auto& [seconds, setting] = scalapack_->best();
        const double scalapack_gflops = gigaflops(options_, seconds);
        figures["scalapack_seconds"] = seconds;
        figures["scalapack_gflops"] = scalapack_gflops;
        figures["scalapack_grid"] = fmt::format("{}x{}", setting.grid.rows, setting.grid.cols);
        figures["scalapack_block"] = setting.block;
        figures["ratio_scalapack"] = our_gflops / scalapack_gflops;
    }

    const FactorisationOptions& options_;
    bool lapack_;
    std::optional<ScalapackCholesky> scalapack_;
    Best lapack_best_;
    std::optional<PeakSearch> products_;
    double product_rate_ = 0;  // flops per second, the best of all
};

template <class T>
Report measure_factorisation(StarpuEngine& engine, const FactorisationOptions& options) {
    FactorisationContest<T> contest(engine, options);
    FactorisationRivals<T> rivals(engine, options);
    Best ours;
    for (int r = 0; r < options.repetitions; ++r) {
        ours.add(contest.ours());
        rivals.run(contest);
    }
    const double gflops = gigaflops(options, ours.seconds());
    const double residual = contest.residual();
    const Tiling& tiling = contest.tiling();
    Report report;
    Row& figures = report.figures;
    if (options.which == Factorisation::qr) figures["rows"] = size_of(options).i;
    figures["n"] = options.n;
    figures["nodes"] = engine.node_count();
    figures["workers"] = engine.worker_count();
    figures["tile"] = tiling.rows(0);
    if (tiling.cols(0) != tiling.rows(0)) figures["tile_columns"] = tiling.cols(0);
    figures["repetitions"] = options.repetitions;
    figures["seconds"] = ours.seconds();
    figures["gflops"] = gflops;
    rivals.report(gflops, figures);
    figures["residual"] = residual;
    constexpr double limit = 8;  // what rounding may leave
    report.checks = {at_most("residual, in units of n times the machine precision", residual, limit)};
    // The solve above left the factor as it was.
    if (const auto difference = options.check ? contest.difference() : std::nullopt) {
        figures["difference_from_lapack"] = *difference;
        report.checks.push_back(at_most("difference from LAPACK's factor, in the same units", *difference, limit));
    }
    figures["correct"] = report.met();
    return report;
}

/// Times Tesela's factorisation and, in turn with it, LAPACK's with all threads and a product of the order at which
/// products are fastest (see find_peak), or on several nodes ScaLAPACK's Cholesky on two grids of processes with two
/// block sizes; keeps the best of each.
Report run_factorisation(const FactorisationOptions& options) {
    if (options.n < 1) throw Error("--n must be at least 1");
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    const auto engine = start_engine(options.engine);
    return options.precision == ElementType::f64 ? measure_factorisation<double>(*engine, options)
                                                 : measure_factorisation<float>(*engine, options);
}

}  // namespace

std::vector<Experiment> factorisations() {
    return {experiment("cholesky",
                       "Cholesky beside LAPACK's with all threads and a large product; on several nodes beside "
                       "ScaLAPACK's pdpotrf, best of two grids of processes and blocks of 64 and 128",
                       add_factorisation_options<Factorisation::cholesky>, run_factorisation),
            experiment("lu",
                       "LU without pivoting (for diagonally dominant matrices) beside LAPACK's pivoted LU and a large "
                       "product",
                       add_factorisation_options<Factorisation::lu>, run_factorisation),
            experiment("qr", "QR of any shape beside LAPACK's with all threads and a large product",
                       add_factorisation_options<Factorisation::qr>, run_factorisation)};
}

}  // namespace tesela::bench
