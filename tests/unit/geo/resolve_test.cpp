#include "tesela/geo/resolve.hpp"

#include "tesela/algs/tile_size.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/geo/point_order.hpp"
#include "tesela/geo/sample.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace tesela::geo::resolve_test {
namespace {

using ::testing::ElementsAre;
using Kind = Refusal::Kind;

constexpr Index many = 4500;  ///< observations that ranks are sampled of

/// Of a smooth field in the unit square to few digits, with one look at each size and distance.
const std::shared_ptr<const RankSample>& low_ranks() {
    static const std::shared_ptr<const RankSample> ranks = [] {
        auto coordinates = random_points(many, 3);
        const std::vector<Index> order = hilbert_order(PointSet(Metric::euclidean, coordinates));
        for (auto& column : coordinates) column = in_order(column, order);
        const PointSet points(Metric::euclidean, coordinates);
        const Covariance covariance(CovarianceFamily::exponential, {.sigma2 = 1, .range = 0.5}, Metric::euclidean,
                                    points.diameter_bound());
        return std::make_shared<RankSample>(covariance, points, 1e-1, Sampling{.work = 0});
    }();
    return ranks;
}
/// So few that sampling alone costs more than they do.
constexpr double hardly_any = 1e-6;

/// How often ranks were asked for, and for what.
struct Asked {
    int times = 0;
    double accuracy = 0;
    Speeds speeds = Speeds::usual;
};
EvaluationFacts facts_with(Asked& asked) {
    return {.observations = many, .evaluations = 60, .ranks = [&asked](double accuracy, Speeds speeds) {
                asked = {asked.times + 1, accuracy, speeds};
                return low_ranks();
            }};
}
EvaluationFacts few(Index n = 100) { return {.observations = n}; }

template <class Why>
const Why* reason_of(const std::vector<Reason>& reasons) {
    for (const Reason& reason : reasons)
        if (const auto* why = std::get_if<Why>(&reason)) return why;
    return nullptr;
}

Kind refusal_of(const EvaluationRequest& request, const EvaluationFacts& facts) {
    try {
        (void)choose_method(request, facts);
    } catch (const Refusal& refusal) {
        return refusal.kind();
    }
    throw Error("nothing was refused");
}

const Machine three_nodes{.workers = {2, 2, 2}};
const Machine four_nodes{.workers = {2, 2, 2, 2}};
const MatrixStorage compressed{
    .tile = 250,
    .compression = TileAccuracy{.accuracy = 1e-5, .band = 3, .refine = 1e-8, .precision = FactorPrecision::as_needed}};

// --- method ----------------------------------------------------------------------------------------------------------

TEST(Method, IsExactUnlessSaid) {
    const MethodChoice choice = choose_method({}, few());
    EXPECT_EQ(choice.request.method, Method::exact);
    EXPECT_TRUE(choice.reasons.empty());
}

TEST(Method, AutomaticIsExactForFewObservationsAndAsksForNoRanks) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.observations = 3999;
    const MethodChoice choice = choose_method({.method = Method::automatic}, facts);
    EXPECT_EQ(choice.request.method, Method::exact);
    EXPECT_EQ(reason_of<reason::FewObservations>(choice.reasons)->fewer_than, 4000);
    EXPECT_EQ(asked.times, 0);
    facts.observations = 4000;
    (void)choose_method({.method = Method::automatic}, facts);
    EXPECT_EQ(asked.times, 1);
}

TEST(Method, AutomaticSaysWhereNothingIsTuned) {
    const MethodChoice choice = choose_method({.method = Method::automatic, .speeds = Speeds::measured}, few());
    EXPECT_EQ(reason_of<reason::FewObservations>(choice.reasons)->speeds, Speeds::measured);
}

TEST(Method, AutomaticIsCompressedWhereRanksAreLow) {
    Asked asked;
    const MethodChoice choice = choose_method({.method = Method::automatic, .accuracy = 1e-1}, facts_with(asked));
    EXPECT_EQ(choice.request.method, Method::tlr);
    EXPECT_EQ(choice.ranks, low_ranks());
    EXPECT_EQ(asked.accuracy, 1e-1);
    const auto* why = reason_of<reason::ByRanks>(choice.reasons);
    ASSERT_NE(why, nullptr);
    EXPECT_EQ(why->method, Method::tlr);
    EXPECT_EQ(why->observations, many);
    EXPECT_EQ(why->sampled, low_ranks()->sampled());
    EXPECT_DOUBLE_EQ(why->sampling, low_ranks()->work_over_dense() / 60);
    EXPECT_DOUBLE_EQ(why->cost, low_ranks()->usual_cost_over_dense() + why->sampling);
    EXPECT_LT(why->cost, why->below);
}

TEST(Method, AutomaticIsExactWhereACompressedMatrixDoesNotPay) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.evaluations = hardly_any;
    const MethodChoice choice = choose_method({.method = Method::automatic}, facts);
    EXPECT_EQ(choice.request.method, Method::exact);
    EXPECT_EQ(choice.ranks, nullptr);
    EXPECT_EQ(reason_of<reason::ByRanks>(choice.reasons)->method, Method::exact);
}

TEST(Method, SamplingCountsLessWhereMoreEvaluationsFollow) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.evaluations = 1;
    const double alone = reason_of<reason::ByRanks>(choose_method({.method = Method::automatic}, facts).reasons)->cost;
    facts.evaluations = 1000;
    EXPECT_LT(reason_of<reason::ByRanks>(choose_method({.method = Method::automatic}, facts).reasons)->cost, alone);
}

TEST(Method, RanksAreSampledToTheAccuracyAndSpeedsAskedFor) {
    Asked asked;
    (void)choose_method({.method = Method::tlr, .accuracy = 1e-3, .speeds = Speeds::measured}, facts_with(asked));
    EXPECT_EQ(asked.accuracy, 1e-3);
    EXPECT_EQ(asked.speeds, Speeds::measured);
    (void)choose_method({.method = Method::tlr}, facts_with(asked));
    EXPECT_EQ(asked.accuracy, TileAccuracy{}.accuracy);
}

TEST(Method, ASingleEvaluationThatIsToldTileAndBandSamplesNothing) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    const EvaluationRequest told{.method = Method::tlr, .tile = 300, .band = 2};
    facts.evaluations = 1;
    EXPECT_EQ(choose_method(told, facts).ranks, nullptr);
    EXPECT_EQ(asked.times, 0);
    facts.evaluations = 60;  // a fit does: estimates are of ranks
    EXPECT_NE(choose_method(told, facts).ranks, nullptr);
    facts.evaluations = 1;
    EXPECT_NE(choose_method({.method = Method::tlr, .tile = 300}, facts).ranks, nullptr);
}

// --- slopes ----------------------------------------------------------------------------------------------------------

TEST(Method, AutomaticIsExactWhereSlopesAreNeeded) {
    Asked asked;
    const NeedForSlopes need{NeedForSlopes::By::errors, "observed"};
    const MethodChoice choice = choose_method({.method = Method::automatic, .slopes = need}, facts_with(asked));
    EXPECT_EQ(choice.request.method, Method::exact);
    EXPECT_EQ(reason_of<reason::ForSlopes>(choice.reasons)->need.value, "observed");
    EXPECT_EQ(asked.times, 0);
}

TEST(Method, SlopesOfCompressedMatricesAreRefused) {
    const NeedForSlopes need{NeedForSlopes::By::optimizer, "lbfgs"};
    try {
        (void)choose_method({.method = Method::tlr, .slopes = need}, few());
        FAIL() << "not refused";
    } catch (const Refusal& refusal) {
        EXPECT_EQ(refusal.kind(), Kind::slopes_of_compressed);
        ASSERT_TRUE(refusal.need());
        EXPECT_EQ(refusal.need()->value, "lbfgs");
    }
}

// --- refusals --------------------------------------------------------------------------------------------------------

TEST(Refusals, WhatIsOfCompressedMatricesIsRefusedOfExactOnes) {
    EXPECT_EQ(refusal_of({.accuracy = 1e-3}, few()), Kind::accuracy_of_exact);
    EXPECT_EQ(refusal_of({.band = 2}, few()), Kind::band_of_exact);
    EXPECT_EQ(refusal_of({.refine = 1e-9}, few()), Kind::refinement_of_exact);
    EXPECT_EQ(refusal_of({.precision = FactorPrecision::as_needed}, few()), Kind::precision_of_exact);
    EXPECT_EQ(refusal_of({.speeds = Speeds::measured}, few()), Kind::tuning_of_exact);
    EXPECT_NO_THROW((void)choose_method({.method = Method::automatic, .accuracy = 1e-3}, few()));
}

TEST(Refusals, NothingIsTunedWhereTileAndBandAreGiven) {
    Asked asked;
    const EvaluationRequest told{.method = Method::tlr, .tile = 300, .band = 1, .speeds = Speeds::measured};
    EXPECT_EQ(refusal_of(told, facts_with(asked)), Kind::nothing_to_tune);
    EXPECT_EQ(asked.times, 0);
}

TEST(Refusals, PlansForTheNodesAtHandAreOfExactMatrices) {
    Asked asked;
    EXPECT_EQ(refusal_of({.method = Method::tlr, .owners_from = OwnersFrom::own_plan}, facts_with(asked)),
              Kind::own_plan_of_compressed);
    EXPECT_EQ(asked.times, 0);
    EXPECT_EQ(refusal_of({.method = Method::automatic, .owners_from = OwnersFrom::own_plan}, facts_with(asked)),
              Kind::own_plan_of_compressed);
    EXPECT_EQ(asked.times, 1);
    EvaluationFacts facts = facts_with(asked);
    facts.evaluations = hardly_any;
    EXPECT_NO_THROW((void)choose_method({.method = Method::automatic, .owners_from = OwnersFrom::own_plan}, facts));
    EXPECT_NO_THROW((void)choose_method({.method = Method::tlr, .owners_from = OwnersFrom::plan}, facts_with(asked)));
}

// --- what earlier work had -------------------------------------------------------------------------------------------

TEST(Checkpoint, DecidesMethodTileAndBandThatAreLeftOpen) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.checkpoint = compressed;
    const EvaluationRequest request = choose_method({.method = Method::automatic}, facts).request;
    EXPECT_EQ(request.method, Method::tlr);
    EXPECT_EQ(request.tile, 250);
    EXPECT_EQ(request.band, 3);
    EXPECT_FALSE(request.accuracy) << "which was to be said again";
    facts.checkpoint = MatrixStorage{.tile = 90};
    const EvaluationRequest exact = choose_method({.method = Method::automatic}, facts).request;
    EXPECT_EQ(exact.method, Method::exact);
    EXPECT_EQ(exact.tile, 90);
}

TEST(Checkpoint, GivesWayToWhatIsAskedFor) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.checkpoint = compressed;
    const EvaluationRequest request = choose_method({.method = Method::tlr, .tile = 120, .band = 1}, facts).request;
    EXPECT_EQ(request.tile, 120);
    EXPECT_EQ(request.band, 1);
    EXPECT_FALSE(choose_method({.method = Method::exact}, facts).request.tile) << "of a matrix of another kind";
    const EvaluationRequest tuned = choose_method({.method = Method::tlr, .speeds = Speeds::measured}, facts).request;
    EXPECT_FALSE(tuned.tile) << "tuning chooses anew";
    const EvaluationRequest planned =
        choose_method({.method = Method::tlr, .owners_from = OwnersFrom::plan}, facts).request;
    EXPECT_FALSE(planned.tile) << "a plan has its own";
    EXPECT_EQ(planned.band, 3);
}

TEST(ModelStorage, IsTakenAsItWasWhereNothingIsAskedFor) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.model = compressed;
    facts.evaluations = 1;
    const MethodChoice choice = choose_method({}, facts);
    EXPECT_EQ(choice.request.method, Method::tlr);
    EXPECT_EQ(choice.request.tile, 250);
    EXPECT_EQ(choice.request.band, 3);
    EXPECT_EQ(choice.request.accuracy, 1e-5);
    EXPECT_EQ(choice.request.refine, 1e-8);
    EXPECT_EQ(choice.request.precision, FactorPrecision::as_needed);
    EXPECT_EQ(reason_of<reason::AsFitted>(choice.reasons)->accuracy, 1e-5);
    facts.model = MatrixStorage{.tile = 90};
    EXPECT_EQ(choose_method({}, facts).request.method, Method::exact);
    EXPECT_EQ(choose_method({}, facts).request.tile, 90);
    EXPECT_TRUE(choose_method({}, facts).reasons.empty());
}

TEST(ModelStorage, GivesWayToWhatIsAskedFor) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.model = compressed;
    facts.evaluations = 1;
    const MethodChoice exact = choose_method({.method = Method::exact}, facts);
    EXPECT_EQ(exact.request.method, Method::exact);
    EXPECT_FALSE(exact.request.tile);
    const MethodChoice asked_for = choose_method({.method = Method::tlr, .accuracy = 1e-2}, facts);
    EXPECT_EQ(asked_for.request.accuracy, 1e-2);
    EXPECT_EQ(asked_for.request.tile, 250);
    EXPECT_TRUE(asked_for.reasons.empty()) << "who asked for it knows";
    facts.observations = 100;
    EXPECT_EQ(choose_method({.method = Method::automatic}, facts).request.method, Method::exact);
}

// --- tile, band, owners, overlap -------------------------------------------------------------------------------------

TEST(Resolve, TileSuitsTheWorkersUnlessSaid) {
    for (const Machine& machine : {Machine{.workers = {2}}, four_nodes})
        EXPECT_EQ(resolve({}, few(2000), machine).likelihood.tile, automatic_tile_size(2000, machine.total_workers()));
    EXPECT_EQ(resolve({.tile = 77}, few(2000), four_nodes).likelihood.tile, 77);
}

TEST(Resolve, CompressedMatricesAreCutAsIsCheapestForTheWorkers) {
    Asked asked;
    const ResolvedEvaluation resolved = resolve({.method = Method::tlr}, facts_with(asked), four_nodes);
    const CompressedCut cheapest = low_ranks()->cheapest_cut({.workers = 8, .nodes = 4});
    EXPECT_EQ(resolved.likelihood.tile, cheapest.tile);
    EXPECT_EQ(resolved.likelihood.compression->band, cheapest.band);
    EXPECT_EQ(reason_of<reason::Tuned>(resolved.reasons), nullptr);
    const ResolvedEvaluation given = resolve({.method = Method::tlr, .tile = 400}, facts_with(asked), four_nodes);
    EXPECT_EQ(given.likelihood.tile, 400);
    EXPECT_EQ(given.likelihood.compression->band, low_ranks()->cheapest_cut({8, 4}, {400, 0}).band);
}

TEST(Resolve, ABandThatIsGivenIsTaken) {
    Asked asked;
    EXPECT_EQ(resolve({.method = Method::tlr, .band = 4}, facts_with(asked), four_nodes).likelihood.compression->band,
              4);
}

TEST(Resolve, WhatIsTunedIsSaid) {
    Asked asked;
    const ResolvedEvaluation resolved =
        resolve({.method = Method::tlr, .speeds = Speeds::measured}, facts_with(asked), four_nodes);
    const auto* tuned = reason_of<reason::Tuned>(resolved.reasons);
    ASSERT_NE(tuned, nullptr);
    EXPECT_EQ(tuned->cut.tile, resolved.likelihood.tile);
}

TEST(Resolve, ACutThatNodesAgreedOnIsTaken) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.cut = CompressedCut{.tile = 333, .band = 2};
    const ResolvedEvaluation resolved = resolve({.method = Method::tlr}, facts, four_nodes);
    EXPECT_EQ(resolved.likelihood.tile, 333);
    EXPECT_EQ(resolved.likelihood.compression->band, 2);
    EXPECT_EQ(resolved.likelihood.distribution->grid(), (GridSize{14, 14}));
}

TEST(Resolve, CompressionIsAsAskedFor) {
    Asked asked;
    const EvaluationRequest request{
        .method = Method::tlr, .accuracy = 1e-4, .refine = 1e-10, .precision = FactorPrecision::as_needed};
    const TileAccuracy accuracy = *resolve(request, facts_with(asked), four_nodes).likelihood.compression;
    EXPECT_EQ(accuracy.accuracy, 1e-4);
    EXPECT_EQ(accuracy.refine, 1e-10);
    EXPECT_EQ(accuracy.precision, FactorPrecision::as_needed);
    EXPECT_FALSE(resolve({}, few(), four_nodes).likelihood.compression);
}

TEST(Resolve, OwnersAreOfTheFamilyForCholeskyOnAllNodes) {
    for (const char* family : {"block_cyclic", "sbc", "1d1d"}) {
        const LikelihoodOptions options = resolve({.tile = 10, .owners = family}, few(), three_nodes).likelihood;
        EXPECT_EQ(*options.distribution, make_distribution(family, {10, 10}, 3, Operation::cholesky)) << family;
        EXPECT_FALSE(options.generation);
    }
}

TEST(Resolve, OwnersAndTileOfAPlanAreTaken) {
    EvaluationFacts facts = few(100);
    facts.plan = PlannedOwners{.tile = 25,
                               .owners = {.first = make_distribution("1d", {4, 4}, 3, Operation::cholesky),
                                          .second = make_distribution("sbc", {4, 4}, 3, Operation::cholesky)}};
    const LikelihoodOptions options = resolve({.owners_from = OwnersFrom::plan}, facts, three_nodes).likelihood;
    EXPECT_EQ(options.tile, 25);
    EXPECT_EQ(*options.distribution, facts.plan->owners.second);
    EXPECT_EQ(*options.generation, facts.plan->owners.first);
    Asked asked;
    EvaluationFacts ranked = facts_with(asked);
    ranked.plan = PlannedOwners{.tile = 450,
                                .owners = {.first = make_distribution("sbc", {10, 10}, 3, Operation::cholesky),
                                           .second = make_distribution("sbc", {10, 10}, 3, Operation::cholesky)}};
    EXPECT_EQ(resolve({.method = Method::tlr, .owners_from = OwnersFrom::plan}, ranked, three_nodes).likelihood.tile,
              450);
}

TEST(Resolve, OverlapCountsOnAWorkerForCriticalTasksWhereANodeHasOne) {
    Machine machine = four_nodes;
    EXPECT_EQ(resolve({}, few(), machine).likelihood.overlap, Overlap::order);
    machine.critical_workers = 1;
    EXPECT_EQ(resolve({}, few(), machine).likelihood.overlap, Overlap::oversubscribe);
}

// --- what it takes ---------------------------------------------------------------------------------------------------

TEST(Estimate, MemoryAndOperationsOfExactMatricesAreThoseOfTheirTiles) {
    const ResolvedEvaluation resolved = resolve({.tile = 25, .owners = "1d"}, few(100), {.workers = {1, 1}});
    double bytes = 0;
    for (const double of_node : resolved.bytes_per_node) bytes += of_node;
    EXPECT_EQ(resolved.bytes_per_node.size(), 2);
    EXPECT_DOUBLE_EQ(bytes, 8.0 * 10 * 25 * 25);
    EXPECT_DOUBLE_EQ(resolved.flops, 1e6 / 3 + 1e4);
    EXPECT_EQ(resolved.stored_part, 1);
}

TEST(Estimate, CompressedMatricesTakeWhatTheirRanksSay) {
    Asked asked;
    const ResolvedEvaluation resolved = resolve({.method = Method::tlr}, facts_with(asked), four_nodes);
    const CompressedCut cut{resolved.likelihood.tile, resolved.likelihood.compression->band};
    EXPECT_DOUBLE_EQ(resolved.stored_part, low_ranks()->bytes_over_dense(cut));
    EXPECT_DOUBLE_EQ(resolved.work_over_dense, low_ranks()->cost_over_dense(cut, {8, 4}));
    const EvaluationCost dense = evaluation_cost(many, cut.tile, *resolved.likelihood.distribution);
    EXPECT_DOUBLE_EQ(resolved.bytes_per_node[0], dense.bytes_per_node[0] * resolved.stored_part);
    EXPECT_DOUBLE_EQ(resolved.flops, dense.flops * resolved.work_over_dense);
}

TEST(Estimate, WithoutRanksTheMatrixOfTheModelTells) {
    Asked asked;
    EvaluationFacts facts = facts_with(asked);
    facts.evaluations = 1;
    facts.model = compressed;
    facts.stored_part = 0.25;
    EXPECT_EQ(resolve({}, facts, four_nodes).stored_part, 0.25);
    EXPECT_EQ(resolve({}, facts, four_nodes).work_over_dense, 0.25);
}

TEST(Estimate, TimeIsThatOfProductsAndCovariancesOfAllWorkers) {
    const ResolvedEvaluation resolved = resolve({}, few(3000), four_nodes);
    CompressedRates rates;
    rates.low_rank.product_flops = 1e10;
    rates.covariance_seconds = 2e-8;
    const double n = 3000;
    EXPECT_NEAR(expected_seconds(resolved, rates), (n * n * n / 3 / 1e10 + n * n / 2 * 2e-8) / 0.9 / 8, 1e-12);
    ResolvedEvaluation half = resolved;
    half.work_over_dense = 0.5;
    EXPECT_NEAR(expected_seconds(half, rates), expected_seconds(resolved, rates) / 2, 1e-12);
}

}  // namespace
}  // namespace tesela::geo::resolve_test
