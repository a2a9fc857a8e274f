#include "gradient_bench.hpp"

#include "checks.hpp"
#include "some_observations.hpp"
#include "timing.hpp"

#include "tesela/apps/geo/derivatives.hpp"
#include "tesela/base/error.hpp"

namespace tesela::bench {
namespace {

geo::LikelihoodOptions plan_of(const StarpuEngine& engine, const GradientBenchOptions& options) {
    geo::LikelihoodOptions plan;
    plan.tile = cli::tile_size(options.run, options.n, engine);
    plan.distribution =
        cli::distribution(options.run, Tiling::square(options.n, plan.tile).grid(), engine, Operation::cholesky);
    plan.overlap = cli::overlap_of(options.overlap, engine);
    return plan;
}

}  // namespace

nlohmann::ordered_json gradient_benchmark(StarpuEngine& engine, const GradientBenchOptions& options) {
    if (options.n < 2) throw Error("--n must be at least 2");
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    const CovarianceParameters theta{.sigma2 = 1, .range = 0.1, .smoothness = options.smoothness, .nugget = 0.1};
    Stream stream(engine);
    geo::Likelihood likelihood(stream, some_observations(options.n), {}, plan_of(engine, options));
    geo::LikelihoodDerivatives derivatives(likelihood);
    geo::Gradient gradient{};
    const auto evaluate = [&] {
        geo::LikelihoodValue value = likelihood.evaluate(theta);
        require_done(value.status);
        return value;
    };
    gradient = derivatives.gradient(evaluate());  // memory is touched before anything is timed
    Best alone;
    Best both;
    for (int r = 0; r < options.repetitions; ++r) {
        alone.add(engine.max(seconds_of([&] { evaluate(); })));
        both.add(engine.max(seconds_of([&] { gradient = derivatives.gradient(evaluate()); })));
    }
    const double likelihoods = both.seconds() / alone.seconds();
    nlohmann::ordered_json slopes;
    for (const geo::Parameter p : geo::all_parameters)
        slopes[std::string(geo::name(p))] = gradient[static_cast<std::size_t>(p)];
    return {{"n", options.n},
            {"smoothness", options.smoothness},
            {"tile", likelihood.options().tile},
            {"nodes", engine.node_count()},
            {"workers", engine.worker_count()},
            {"repetitions", options.repetitions},
            {"likelihood_seconds", alone.seconds()},
            {"likelihood_and_gradient_seconds", both.seconds()},
            {"likelihoods", likelihoods},
            {"gradient", std::move(slopes)},
            {"checks", nlohmann::ordered_json::array({at_most("likelihood and gradient, in likelihoods", likelihoods,
                                                              options.most_likelihoods)})}};
}

}  // namespace tesela::bench
