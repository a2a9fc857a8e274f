#include "geo_bench.hpp"

#include "gsl/bessel.hpp"
#include "gsl_kernel.hpp"

#include "some_observations.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/apps/geo/likelihood.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"

#include <cmath>
#include <vector>

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*);
}

namespace tesela::bench {
namespace {

/// Random points in the unit square with a value each, and the parts of a likelihood evaluation that are timed.
class Contest {
public:
    Contest(StarpuEngine& engine, const GeoBenchOptions& options)
        : engine_(engine),
          n_(options.n),
          theta_{.sigma2 = 1, .range = 0.1, .smoothness = options.smoothness, .nugget = 0.1},
          data_(some_observations(options.n)),
          points_(Metric::euclidean, data_.coordinates),
          covariance_(CovarianceFamily::matern, theta_, Metric::euclidean, points_.diameter_bound()),
          stream_(engine) {
        plan_.tile = cli::tile_size(options.run, n_, engine);
        plan_.distribution =
            cli::distribution(options.run, Tiling::square(n_, plan_.tile).grid(), engine, Operation::cholesky);
        plan_.overlap = cli::overlap_of(options.overlap, engine);
        likelihood_.emplace(stream_, data_, model(), plan_);
        sigma_.emplace(stream_, Tiling::square(n_, plan_.tile), *plan_.distribution,
                       MatrixOptions{.name = "A", .stored = Stored::lower});
    }

    [[nodiscard]] Index tile() const { return plan_.tile; }
    [[nodiscard]] double log_likelihood() const { return log_likelihood_; }

    double evaluation() { return evaluation(*likelihood_, log_likelihood_); }

    double evaluation_with_gsl(double& log_likelihood) {
        geo::LikelihoodOptions with_gsl = plan_;
        with_gsl.generator = &gsl_kernel;
        geo::Likelihood other(stream_, data_, model(), with_gsl);
        const GslErrorsOff off;
        return evaluation(other, log_likelihood);
    }

    double factorisation() {
        const Tiling& tiling = sigma_->tiling();
        for (Index i = 0; i < tiling.grid().rows; ++i)
            for (Index j = 0; j <= i; ++j)
                stream_.submit(
                    {covariance_kernel, arguments({tiling.row_begin(i), tiling.col_begin(j)}), write((*sigma_)(i, j))});
        require_done(stream_.wait());
        return engine_.max(seconds_of([&] {
            cholesky(stream_, *sigma_);
            require_done(stream_.wait());
        }));
    }

    double lapack() {
        std::vector<double> a(static_cast<std::size_t>(n_ * n_));
        fill(a, n_);
        const int order = static_cast<int>(n_);
        int info = 0;
        engine_.pause();
        const int before = set_blas_threads(engine_.description().cores);
        const double seconds = seconds_of([&] { dpotrf_("L", &order, a.data(), &order, &info); });
        set_blas_threads(before);
        engine_.resume();
        if (info != 0) throw Error("LAPACK failed with {}", info);
        return seconds;
    }

    /// Seconds to write one tile on one core.
    double tile_seconds() {
        const Index rows = std::min(n_, plan_.tile);
        std::vector<double> a(static_cast<std::size_t>(rows * rows));
        return seconds_of([&] { fill(a, rows); });
    }

private:
    static geo::Model model() { return {.trend = geo::Trend::none}; }
    [[nodiscard]] CovarianceArguments arguments(ElementIndex first) const {
        return {.covariance = &covariance_,
                .rows = &points_,
                .cols = &points_,
                .first = first,
                .sets = ObservationSets::same};
    }
    void fill(std::vector<double>& a, Index rows) const {
        covariance_.fill_tile({.rows = &points_,
                               .row_count = rows,
                               .cols = &points_,
                               .col_begin = n_ - rows,
                               .col_count = rows,
                               .out = a.data(),
                               .ld = rows,
                               .sets = ObservationSets::same});
    }
    double evaluation(geo::Likelihood& likelihood, double& log_likelihood) {
        const double seconds = seconds_of([&] {
            const geo::LikelihoodValue value = likelihood.evaluate(theta_);
            require_done(value.status);
            log_likelihood = value.log_likelihood;
        });
        return engine_.max(seconds);
    }

    StarpuEngine& engine_;
    Index n_;
    CovarianceParameters theta_;
    geo::Observations data_;
    PointSet points_;
    Covariance covariance_;
    Stream stream_;
    geo::LikelihoodOptions plan_;
    std::optional<geo::Likelihood> likelihood_;
    std::optional<Matrix<double>> sigma_;
    double log_likelihood_ = 0;
};

}  // namespace

nlohmann::ordered_json geo_benchmark(StarpuEngine& engine, const GeoBenchOptions& options) {
    if (options.n < 2) throw Error("--n must be at least 2");
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    const bool alone = engine.node_count() == 1;
    Contest contest(engine, options);
    Best evaluation;
    Best factorisation;
    Best lapack;
    Best tile;
    for (int r = 0; r < options.repetitions; ++r) {
        evaluation.add(contest.evaluation());
        factorisation.add(contest.factorisation());
        tile.add(contest.tile_seconds());
        if (alone) lapack.add(contest.lapack());
    }
    const double side = static_cast<double>(std::min(options.n, contest.tile()));
    nlohmann::ordered_json result{{"n", options.n},
                                  {"smoothness", options.smoothness},
                                  {"tile", contest.tile()},
                                  {"nodes", engine.node_count()},
                                  {"workers", engine.worker_count()},
                                  {"overlap", geo::name(cli::overlap_of(options.overlap, engine))},
                                  {"repetitions", options.repetitions},
                                  {"seconds", evaluation.seconds()},
                                  {"cholesky_seconds", factorisation.seconds()},
                                  {"ratio", evaluation.seconds() / factorisation.seconds()},
                                  {"covariances_per_second", side * side / tile.seconds()},
                                  {"loglik", contest.log_likelihood()}};
    if (!alone) return result;
    if (has_gsl()) {
        double with_gsl = 0;
        result["gsl_seconds"] = contest.evaluation_with_gsl(with_gsl);
        result["gsl_loglik"] = with_gsl;
    }
    result["lapack_seconds"] = lapack.seconds();
    result["ratio_lapack"] = lapack.seconds() / factorisation.seconds();
    return result;
}

}  // namespace tesela::bench
