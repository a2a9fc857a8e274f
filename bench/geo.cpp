#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"
#include "shared/bessel.hpp"
#include "shared/gsl_kernel.hpp"
#include "shared/lapack.hpp"
#include "shared/some_observations.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/geo/derivatives.hpp"
#include "tesela/kernels/dense.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

struct GeoOptions {
    Index n = 4000;
    double smoothness = 1.23;
    int repetitions = 5;
    Index tile = 0;
    std::string distribution = "block_cyclic";
    EngineOptions engine;
};

void add_geo_options(CLI::App& command, GeoOptions& options) {
    command.add_option("--n", options.n, "Observations")->capture_default_str();
    command.add_option("--smoothness", options.smoothness, "Smoothness of the Matérn covariance")
        ->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    add_tile_option(command, options.tile);
    add_distribution_option(command, options.distribution);
    add_engine_options(command, options.engine);
}

geo::LikelihoodOptions likelihood_plan(const StarpuEngine& engine, const GeoOptions& options) {
    const Index tile = tile_size(options.tile, options.n, engine);
    return {.tile = tile,
            .distribution = make_distribution(options.distribution, Tiling::square(options.n, tile).grid(),
                                              engine.node_count(), Operation::cholesky)};
}

/// Random points in the unit square with a value each, and the parts of a likelihood evaluation that are timed.
class EvaluationContest {
public:
    EvaluationContest(StarpuEngine& engine, const GeoOptions& options)
        : engine_(engine),
          n_(options.n),
          theta_{.sigma2 = 1, .range = 0.1, .smoothness = options.smoothness, .nugget = 0.1},
          data_(some_observations(options.n)),
          points_(Metric::euclidean, data_.coordinates),
          covariance_(CovarianceFamily::matern, theta_, Metric::euclidean, points_.diameter_bound()),
          stream_(engine),
          plan_(likelihood_plan(engine, options)),
          likelihood_(stream_, data_, model(), plan_),
          derivatives_(likelihood_),
          sigma_(stream_, Tiling::square(n_, plan_.tile), *plan_.distribution, {.name = "A", .stored = Stored::lower}) {
    }

    [[nodiscard]] Index tile() const { return plan_.tile; }
    [[nodiscard]] double log_likelihood() const { return log_likelihood_; }
    [[nodiscard]] const geo::Gradient& gradient() const { return gradient_; }

    double evaluation() { return evaluation(likelihood_, log_likelihood_); }

    double evaluation_with_gradient() {
        return engine_.max(seconds_of([&] { gradient_ = derivatives_.gradient(evaluate_well(likelihood_, theta_)); }));
    }

    double evaluation_with_gsl(double& log_likelihood) {
        geo::LikelihoodOptions with_gsl = plan_;
        with_gsl.generator = &gsl_kernel;
        geo::Likelihood other(stream_, data_, model(), with_gsl);
        const GslErrorsOff off;
        return evaluation(other, log_likelihood);
    }

    double factorisation() {
        const Tiling& tiling = sigma_.tiling();
        for (Index i = 0; i < tiling.grid().rows; ++i)
            for (Index j = 0; j <= i; ++j)
                stream_.submit(
                    {covariance_kernel, arguments({tiling.row_begin(i), tiling.col_begin(j)}), write(sigma_(i, j))});
        require_done(stream_.wait());
        return engine_.max(seconds_of([&] {
            cholesky(stream_, sigma_);
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
        return engine_.max(seconds_of([&] { log_likelihood = evaluate_well(likelihood, theta_).log_likelihood; }));
    }

    StarpuEngine& engine_;
    Index n_;
    CovarianceParameters theta_;
    geo::Observations data_;
    PointSet points_;
    Covariance covariance_;
    Stream stream_;
    geo::LikelihoodOptions plan_;
    geo::Likelihood likelihood_;
    geo::LikelihoodDerivatives derivatives_;
    Matrix<double> sigma_;
    double log_likelihood_ = 0;
    geo::Gradient gradient_{};
};

/// Times in turn, and keeps the best of each: one evaluation of the likelihood of n observations, the same with its
/// gradient, the Cholesky factorisation of its covariance matrix alone, LAPACK's with all threads, and (once) the same
/// evaluation with GSL's Bessel function instead of the table. On several nodes without the last two.
Report measure_evaluations(const GeoOptions& options) {
    if (options.n < 2) throw Error("--n must be at least 2");
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    const auto engine = start_engine(options.engine);
    const bool alone = engine->node_count() == 1;
    EvaluationContest contest(*engine, options);
    Best evaluation, with_gradient, factorisation, lapack, tile;
    for (int r = 0; r < options.repetitions; ++r) {
        evaluation.add(contest.evaluation());
        with_gradient.add(contest.evaluation_with_gradient());
        factorisation.add(contest.factorisation());
        tile.add(contest.tile_seconds());
        if (alone) lapack.add(contest.lapack());
    }
    Row slopes;
    for (const geo::Parameter p : geo::all_parameters)
        slopes[std::string(geo::name(p))] = contest.gradient()[static_cast<std::size_t>(p)];
    const auto side = static_cast<double>(std::min(options.n, contest.tile()));
    Row figures{{"n", options.n},
                {"smoothness", options.smoothness},
                {"tile", contest.tile()},
                {"nodes", engine->node_count()},
                {"workers", engine->worker_count()},
                {"repetitions", options.repetitions},
                {"seconds", evaluation.seconds()},
                {"cholesky_seconds", factorisation.seconds()},
                {"ratio", evaluation.seconds() / factorisation.seconds()},
                {"likelihood_and_gradient_seconds", with_gradient.seconds()},
                {"likelihoods", with_gradient.seconds() / evaluation.seconds()},
                {"covariances_per_second", side * side / tile.seconds()},
                {"loglik", contest.log_likelihood()},
                {"gradient", slopes}};
    if (!alone) return {.figures = figures};
    if (has_gsl()) {
        double with_gsl = 0;
        figures["gsl_seconds"] = contest.evaluation_with_gsl(with_gsl);
        figures["gsl_loglik"] = with_gsl;
    }
    figures["lapack_seconds"] = lapack.seconds();
    figures["ratio_lapack"] = lapack.seconds() / factorisation.seconds();
    return {.figures = figures};
}

}  // namespace

Experiment geo() {
    return experiment("geo",
                      "One likelihood evaluation beside one with its gradient, its Cholesky alone, LAPACK's and GSL's "
                      "Bessel function",
                      add_geo_options, measure_evaluations);
}

}  // namespace tesela::bench
