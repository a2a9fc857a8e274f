#include "tesela/cli/geo_run.hpp"

#include "tesela/autoplan/running_plan.hpp"
#include "tesela/base/environment.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/all_specimens.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/plan_use.hpp"
#include "tesela/geo/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace tesela::cli {
namespace {

using geo::Parameter;

/// "--errors observed"
std::string need_in_words(const geo::NeedForSlopes& need) {
    using By = geo::NeedForSlopes::By;
    if (need.by == By::profile) return "--profile";
    return fmt::format("--{} {}", need.by == By::optimizer ? "optimizer" : "errors", need.value);
}

std::unique_ptr<autoplan::RunningPlan> own_plan(const GeoOptions& options, Index n, Index tile, StarpuEngine& engine) {
    const auto line = std::make_shared<ProgressLine>(wants_progress(options.run));
    const geo::PlannedEvaluation evaluation{.points = n,
                                            .tile = tile,
                                            .overlap = options.run.critical_worker == CriticalWorker::none
                                                           ? geo::OverlapChoice{}
                                                           : geo::OverlapChoice{geo::Overlap::oversubscribe}};
    autoplan::RunningPlanOptions with{
        .program = {.application = planned_evaluation(evaluation),
                    .as_run = [evaluation](const Platform& nodes) { return as_run(evaluation, nodes); },
                    .usual_evaluations = geo::usual_evaluations},
        .budget_seconds = options.plan_budget,
        .specimens = all_specimens(),
        .cache_folder = user_cache_folder()};
    with.measuring = [line](Index done, Index of, const std::string& next) { line->show_bar(done, of, next); };
    with.planning = [line](Index simulated, double best) {
        line->show([&] { return fmt::format("plan: {} simulated, best {}", simulated, format_seconds(best)); });
    };
    if (!options.run.quiet)
        with.tell = [line](const std::string& text) {
            line->clear();
            fmt::print(stderr, "plan: {}\n", text);
        };
    return std::make_unique<autoplan::RunningPlan>(engine, std::move(with));
}

/// A reason in words.
struct Words {
    const std::string& model;

    std::string operator()(const geo::reason::FewObservations& why) const {
        return fmt::format("--method auto: exact, since there are fewer than {} observations{}", why.fewer_than,
                           why.speeds == geo::Speeds::measured ? ", so that --tune has nothing to choose" : "");
    }
    std::string operator()(const geo::reason::ByRanks& why) const {
        return fmt::format(
            "--method auto: {}, since by the ranks of {} tiles generation, compression and factorisation of {} "
            "observations take about {:.2g} of the work of exact ones, {:.2g} of it to sample these (tlr is taken "
            "below {:.1g})",
            why.method == geo::Method::tlr ? "tlr" : "exact", why.sampled, why.observations, why.cost, why.sampling,
            why.below);
    }
    std::string operator()(const geo::reason::ForSlopes& why) const {
        return fmt::format("--method auto: exact, since {} needs slopes, which compressed matrices do not have yet",
                           need_in_words(why.need));
    }
    std::string operator()(const geo::reason::AsFitted& why) const {
        return fmt::format("the matrix is compressed to {}, as {} was fitted; --method exact uses the exact one",
                           why.accuracy, model);
    }
    std::string operator()(const geo::reason::Tuned& why) const {
        return fmt::format("tuned to this machine; for the same digits again: --tile {} --band {}", why.cut.tile,
                           why.cut.band);
    }
    std::string operator()(const geo::reason::WithoutSlopes&) const {
        return "compressed matrices have no slopes yet: the search is by values alone (--optimizer bobyqa), without "
               "standard errors (--errors none)";
    }
};

}  // namespace

void print_notes(const Engine& engine, const Notes& notes) {
    if (!engine.is_first()) return;
    for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
}

geo::Observations read_observations(const geo::DataFile& data, Notes& notes, const ModelOptions& model) {
    require_different_columns(data.coordinates, data.value);
    return geo::read_observations(data, model.metric, model.trend, notes);
}

std::unique_ptr<StarpuEngine> start_geo_engine(const RunOptions& options) {
    RunOptions run = options;
    if (run.critical_worker == CriticalWorker::none) run.critical_worker = CriticalWorker::automatic;
    return start_engine(run);
}

OwnersPlan plan_owners(const GeoOptions& options, Index n, StarpuEngine& engine) {
    if (options.plan.empty()) return {};
    if (options.plan != "auto") {
        const plan::Plan plan = read_plan_for(engine, options.plan, "geo", n);
        return {.owners = geo::PlannedOwners{plan.tile, plan.distributions}};
    }
    const Index tile = tile_size(options.run, n, engine);
    const std::shared_ptr<autoplan::RunningPlan> running = own_plan(options, n, tile, engine);
    return {.owners = geo::PlannedOwners{tile, running->owners()}, .running = running};
}

geo::ResolvedEvaluation resolve_together(const GeoOptions& options, geo::EvaluationFacts facts, StarpuEngine& engine) {
    if (options.plan == "auto")
        throw Error("--plan auto is for tesela fit, which evaluates often: give a file of tesela plan here");
    facts.plan = plan_owners(options, facts.observations, engine).owners;
    return jobs::resolve_together(engine, evaluation_request(options), std::move(facts));
}

void print_reasons(const Engine& engine, const std::vector<geo::Reason>& reasons, const std::string& model) {
    Notes notes;
    for (const geo::Reason& reason : reasons) notes.push_back(std::visit(Words{model}, reason));
    print_notes(engine, notes);
}

std::string in_words(const geo::Refusal& refusal) {
    using Kind = geo::Refusal::Kind;
    const auto of_compressed = [](const char* option) {
        return fmt::format("{} is of compressed matrices: give --method tlr, or auto, with it", option);
    };
    switch (refusal.kind()) {
        case Kind::accuracy_of_exact: return of_compressed("--accuracy");
        case Kind::band_of_exact: return of_compressed("--band");
        case Kind::refinement_of_exact: return of_compressed("--refine");
        case Kind::precision_of_exact: return of_compressed("--single");
        case Kind::tuning_of_exact: return of_compressed("--tune");
        case Kind::nothing_to_tune: return "--tune chooses tile and band, and both are given";
        case Kind::own_plan_of_compressed:
            return "--plan auto is for exact matrices: give a file of tesela plan geo --ranks for compressed ones";
        case Kind::slopes_of_compressed:
            return fmt::format(
                "{} needs slopes, which compressed matrices do not have yet: leave it out, or give --method exact",
                need_in_words(*refusal.need()));
        case Kind::own_plan_of_checkpoint: break;
    }
    return "a fit goes on from a checkpoint with the owners that it had, and --plan auto may come to others: write a "
           "plan with tesela plan, and give its file to --plan";
}

std::string in_words(const jobs::CompressedMatrix& compressed) {
    const std::string cut =
        fmt::format("compressed: tiles of {}, {} of sigma2, {} whole", compressed.tile,
                    compressed.accuracy > 0 ? fmt::format("to {:.0e}", compressed.accuracy) : "to rounding",
                    compressed.band == 1 ? "the diagonal" : fmt::format("{} diagonals", compressed.band));
    if (!compressed.found) return cut + "; ranks are in the trace: tesela trace ranks";
    const geo::CompressionReport& found = *compressed.found;
    const auto ranks = [&]() -> std::string {
        if (found.ranks.compressed == 0) return "no tile is compressed";
        if (found.ranks.largest == 0) return "compressed tiles are 0 to that accuracy";
        return fmt::format("ranks {:.1f} on average, {} at most", found.ranks.mean, found.ranks.largest);
    };
    std::string text = fmt::format("{}; ||S - L*L'|| = {:.1e} of it; {} instead of {}; {}", cut, found.reached,
                                   format_bytes(found.ranks.bytes), format_bytes(found.ranks.dense_bytes), ranks());
    if (!found.refined) return text;
    const Index iterations = found.refined->iterations;
    return fmt::format("{}\nrefined: residuals of solutions {} {:.1e} after {} iteration{}", text,
                       found.refined->converged ? "are" : "did not become small enough and are",
                       found.refined->residual, iterations, iterations == 1 ? "" : "s");
}

void print_doubts(const Engine& engine, const jobs::Doubts& doubts, const char* where) {
    if (!engine.is_first()) return;
    if (!doubts.conditioning.empty()) fmt::print(stderr, "warning: {}{}\n", doubts.conditioning, where);
    if (!doubts.compression.empty()) fmt::print(stderr, "warning: {}\n", doubts.compression);
}

std::string_view method_name(const geo::LikelihoodOptions& options) { return options.compression ? "tlr" : "exact"; }

Json compression_json(const std::optional<jobs::CompressedMatrix>& compressed) {
    return compressed ? jobs::to_json(*compressed) : Json();
}

geo::FittedModel read_model_first(const std::string& program, const std::string& model, const std::string& second) {
    try {
        return geo::read_model(model);
    } catch (const Error&) {
        if (geo::is_model_file(second))
            throw Error("{} is the model and comes first: {} {} {}", second, program, second, model);
        throw;
    }
}

std::size_t name_width(const geo::TrendEstimate& trend) {
    std::size_t width = 12;
    for (const std::string& name : trend.names) width = std::max(width, name.size());
    return width;
}

std::string unit_of(Parameter parameter, const geo::Model& model, const geo::Observations& data) {
    if (parameter == Parameter::smoothness) return "";
    if (parameter != Parameter::range) return fmt::format("({})²", data.value_name);
    if (model.metric != Metric::euclidean) return "km";
    std::string names;
    for (std::size_t d = 0; d < data.coordinates.size(); ++d) names += (d == 0 ? "" : ", ") + data.coordinate_name(d);
    return "unit of " + names;
}

void print_parameters(const geo::Model& model, const geo::Observations& data, const CovarianceParameters& theta,
                      const geo::TrendEstimate& trend) {
    const std::size_t width = name_width(trend);
    for (const Parameter p : geo::all_parameters) {
        if (!geo::uses(model.family, p)) continue;
        std::string line = fmt::format("  {:<{}} {:<12.6g}", name(p), width, geo::value_of(theta, p));
        if (const std::string unit = unit_of(p, model, data); !unit.empty()) line += " " + unit;
        if (model.choice(p).fixed) line += " (fixed)";
        fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    }
    for (std::size_t k = 0; k < trend.names.size(); ++k)
        fmt::print("  {:<{}} {:<12.6g} ± {:.3g}\n", trend.names[k], width, trend.coefficients[k],
                   trend.standard_errors[k]);
}

}  // namespace tesela::cli
