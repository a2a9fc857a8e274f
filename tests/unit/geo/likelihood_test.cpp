#include "tesela/geo/likelihood.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"
#include "unit/geo/meuse.hpp"
#include "unit/geo/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace tesela::geo::likelihood_test {
namespace {

using tesela::testing::DenseProcess;
using tesela::testing::meuse;
using ::testing::HasSubstr;

constexpr std::array<Index, 3> tiles{16, 50, 200};

TEST(Likelihood, EqualsTheReferenceOnMeuse) {
    InlineEngine engine;
    for (const Index tile : tiles) {
        Stream s(engine);
        Likelihood likelihood(s, meuse(), {.trend = Trend::none, .center = tesela::testing::mean_of_meuse()},
                              {.tile = tile});
        for (const auto& [theta, expected] : tesela::testing::meuse_log_likelihoods()) {
            const LikelihoodValue value = likelihood.evaluate(theta);
            ASSERT_TRUE(value.status.ok());
            EXPECT_NEAR(value.log_likelihood, expected, 1e-9 * std::abs(expected)) << "tile " << tile;
        }
    }
}

RC_GTEST_PROP(Likelihood, EqualsTheDenseFormula, ()) {
    DenseProcess p = tesela::testing::any_process(*rc::gen::inRange<Index>(8, 30));
    p.model.estimation = *rc::gen::element(Estimation::ml, Estimation::reml);
    RC_PRE(tesela::testing::usable(p));
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    Stream s(engine);
    const Index tile = *rc::gen::inRange<Index>(1, 40);
    const GridSize grid = Tiling::square(p.n(), tile).grid();
    Likelihood likelihood(s, p.data, p.model,
                          {.tile = tile,
                           .distribution = random_distribution(grid, engine.node_count(), 5),
                           .overlap = *rc::gen::element(Overlap::sync, Overlap::async, Overlap::solve, Overlap::memory,
                                                        Overlap::priorities, Overlap::order)});
    likelihood.evaluate({.sigma2 = 1, .range = p.theta.range, .smoothness = 0.4, .nugget = 1});
    const LikelihoodValue value = likelihood.evaluate(p.theta);
    RC_ASSERT(value.status.ok());
    const double expected = p.log_likelihood();
    RC_LOG() << fmt::format("{} {} {}", value.log_likelihood, expected, describe(p.model.family, p.theta));
    RC_ASSERT(std::abs(value.log_likelihood - expected) <= 1e-9 * (1 + std::abs(expected)));
    const auto coefficients = p.coefficients();
    RC_ASSERT(static_cast<Index>(value.trend.coefficients.size()) == coefficients.rows);
    for (Index k = 0; k < coefficients.rows; ++k) {
        const double got = value.trend.coefficients[static_cast<std::size_t>(k)];
        RC_ASSERT(std::abs(got - static_cast<double>(coefficients(k, 0))) <=
                  1e-7 * (1 + value.trend.standard_errors[static_cast<std::size_t>(k)]));
    }
}

TEST(Likelihood, StandardErrorsOfATrendComeFromTheNormalEquations) {
    DenseProcess p{.data = meuse(),
                   .model = {.trend = Trend::linear},
                   .theta = {.sigma2 = 0.6, .range = 200, .smoothness = 0.5, .nugget = 0.05}};
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, p.data, p.model, {.tile = 50});
    const LikelihoodValue value = likelihood.evaluate(p.theta);
    ASSERT_EQ(value.trend.names, (std::vector<std::string>{"intercept", "x", "y"}));
    const auto X = p.trend_at(p.data.coordinates);
    const auto normal = tesela::testing::transposed_product(tesela::testing::eliminate(p.sigma(), X).X, X);
    for (Index k = 0; k < 3; ++k) {
        tesela::testing::Dense2 unit(3, 1);
        unit(k, 0) = 1;
        const double expected = std::sqrt(static_cast<double>(tesela::testing::eliminate(normal, unit).X(k, 0)));
        EXPECT_NEAR(value.trend.standard_errors[static_cast<std::size_t>(k)] / expected, 1, 1e-7);
    }
}

TEST(Likelihood, KeepsItsDigitsWhenValuesAreFarFromZero) {
    Observations shifted = meuse();
    for (double& v : shifted.values) v += 1048576;  // exact in binary for what follows to be a fair comparison
    Observations plain = shifted;
    for (double& v : plain.values) v -= 1048576;
    InlineEngine engine;
    Stream s(engine);
    const CovarianceParameters theta{.sigma2 = 0.6, .range = 200, .smoothness = 0.5, .nugget = 0.05};
    const double a = Likelihood(s, shifted, {}, {.tile = 50}).evaluate(theta).log_likelihood;
    const double b = Likelihood(s, plain, {}, {.tile = 50}).evaluate(theta).log_likelihood;
    EXPECT_NEAR(a, b, 1e-9 * std::abs(b));
}

/// The first two points coincide: with sigma2 = 1 and no nugget the second pivot is 1 − 1, exactly.
Observations with_twin() {
    Observations data = meuse();
    data.coordinates[0][1] = data.coordinates[0][0];
    data.coordinates[1][1] = data.coordinates[1][0];
    return data;
}

TEST(Likelihood, NotPositiveDefiniteIsAStatusAndTheNextEvaluationIsGood) {
    InlineEngine engine;
    for (const Overlap overlap : {Overlap::sync, Overlap::async, Overlap::order}) {
        Stream s(engine);
        Likelihood likelihood(s, with_twin(), {}, {.tile = 50, .overlap = overlap});
        const CovarianceParameters singular{.sigma2 = 1, .range = 200, .smoothness = 1.5, .nugget = 0};
        const LikelihoodValue failed = likelihood.evaluate(singular);
        EXPECT_EQ(failed.status, (Status{Failure::not_positive_definite, 1}));
        const std::string why = likelihood.explain(failed.status, singular);
        EXPECT_THAT(why, HasSubstr("smoothness 1.5, nugget 0"));
        EXPECT_THAT(why, HasSubstr("line 2 of meuse.csv and line 3 of meuse.csv"));
        EXPECT_THAT(why, HasSubstr("0 apart"));
        const LikelihoodValue good =
            likelihood.evaluate({.sigma2 = 0.6, .range = 200, .smoothness = 1.5, .nugget = 0.1});
        EXPECT_TRUE(good.status.ok());
        EXPECT_TRUE(std::isfinite(good.log_likelihood));
    }
}

TEST(Likelihood, WantOfMemoryIsNotAMatterOfPivots) {
    InlineEngine engine;
    Stream s(engine);
    const CovarianceParameters theta{.sigma2 = 1, .range = 200, .smoothness = 1.5, .nugget = 0.1};
    for (const auto& compression : {std::optional<TileAccuracy>{}, std::optional(TileAccuracy{})}) {
        const Likelihood likelihood(s, meuse(), {}, {.tile = 50, .compression = compression});
        const Status status{Failure::out_of_memory, 0};
        EXPECT_FALSE(is_numerical(status));
        EXPECT_EQ(likelihood.explain(status, theta), status.describe());
        try {
            require_good_evaluation(likelihood, status, theta);
            ADD_FAILURE() << "taken for good";
        } catch (const NotPositiveDefinite&) {
            ADD_FAILURE() << "the matrix is blamed";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("node 0 has no memory left"));
        }
        EXPECT_THROW(require_good_evaluation(likelihood, {Failure::not_positive_definite, 3}, theta),
                     NotPositiveDefinite);
        EXPECT_NO_THROW(require_good_evaluation(likelihood, {}, theta));
    }
}

TEST(Likelihood, JitterIsAFractionOfSigma2OnTheDiagonal) {
    InlineEngine engine;
    Stream s(engine);
    Model with_jitter;
    with_jitter.jitter = 0.01;
    const double a = Likelihood(s, with_twin(), with_jitter, {.tile = 50})
                         .evaluate({.sigma2 = 2, .range = 200, .smoothness = 0.5, .nugget = 0.03})
                         .log_likelihood;
    const double b = Likelihood(s, with_twin(), {}, {.tile = 50})
                         .evaluate({.sigma2 = 2, .range = 200, .smoothness = 0.5, .nugget = 0.05})
                         .log_likelihood;
    EXPECT_NEAR(a, b, 1e-10 * std::abs(b));
}

TEST(Likelihood, RefusesWhatItCannotModel) {
    InlineEngine engine;
    Stream s(engine);
    const auto make = [&](const Observations& data, const Model& model) { Likelihood(s, data, model, {.tile = 50}); };
    const auto message = [&](const Observations& data, const Model& model) -> std::string {
        try {
            make(data, model);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message({.coordinates = {{1}, {2}}, .values = {3}}, {}), HasSubstr("at least two"));
    EXPECT_THAT(message({.coordinates = {{1, 1}, {2, 2}}, .values = {3, 4}}, {}), HasSubstr("points are equal"));
    EXPECT_THAT(message({.coordinates = {{1, 2}}, .values = {3, 3}}, {}), HasSubstr("values of z are equal"));
    EXPECT_THAT(message({.coordinates = {{1, 2}}, .values = {3, NAN}}, {}), HasSubstr("must be finite"));
    EXPECT_THAT(message({.coordinates = {{1, 2}}, .values = {3, 1e200}}, {}),
                HasSubstr("the value of z at point 1 (counted from 0) is 1e+200: numbers beyond 1e+100 are too large"));
    EXPECT_THAT(message({.coordinates = {{1, -1e300}}, .values = {3, 4}}, {}),
                HasSubstr("the coordinate x1 at point 1 (counted from 0) is -1e+300: numbers beyond 1e+100"));
    EXPECT_THAT(message({.coordinates = {{1, 2}}, .values = {0, 1e-200}}, {}),
                HasSubstr("the values of z differ by 1e-200 at most: too little"));
    EXPECT_THAT(message({.coordinates = {{0, 1e-300}}, .values = {3, 4}}, {}),
                HasSubstr("the coordinates differ by 1e-300 at most: too little"));
    EXPECT_THAT(message({.coordinates = {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}}, .values = {1, 2, 3, 4, 5}},
                        {.trend = Trend::linear}),
                HasSubstr("on a line"));
    EXPECT_THAT(message({.coordinates = {{0, 1}, {0, 2}}, .values = {1, 2}}, {.trend = Trend::linear}),
                HasSubstr("2 observations do not determine"));
    EXPECT_THAT(message(meuse(), {.trend = Trend::constant, .center = 3}), HasSubstr("without a trend"));
    Likelihood likelihood(s, meuse(), {}, {.tile = 50});
    EXPECT_THROW(likelihood.evaluate({.sigma2 = -1, .range = 200}), Error);
    EXPECT_THROW(likelihood.evaluate({.sigma2 = 1, .range = 0}), Error);
}

/// Records, and notes how many items had been submitted at each wait.
class WatchedEngine final : public Engine {
public:
    explicit WatchedEngine(Index nodes) : inner_(nodes) {}
    std::vector<std::size_t> waits;
    [[nodiscard]] const Recording& recording() const { return inner_.recording(); }

    [[nodiscard]] NodeId this_node() const override { return inner_.this_node(); }
    [[nodiscard]] Index node_count() const override { return inner_.node_count(); }
    [[nodiscard]] int worker_count() const override { return inner_.worker_count(); }
    std::unique_ptr<StreamState> open(const StreamOptions& options) override { return inner_.open(options); }
    std::unique_ptr<Attachment> attach(StreamState& stream, MatrixSpec spec) override {
        return inner_.attach(stream, std::move(spec));
    }
    void submit(StreamState& stream, const Task& task) override { inner_.submit(stream, task); }
    bool move(StreamState& stream, TileRef tile, NodeId to) override { return inner_.move(stream, tile, to); }
    void exchange(StreamState& stream, const Exchange& exchange) override { inner_.exchange(stream, exchange); }
    void share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) override {
        inner_.share(stream, tile, readers, priority);
    }
    void retire(StreamState& stream, TileRef tile) override { inner_.retire(stream, tile); }
    void discard(StreamState& stream, TileRef tile) override { inner_.discard(stream, tile); }
    void fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) override {
        inner_.fetch(stream, tile, std::move(into));
    }
    Status wait(StreamState& stream) override {
        waits.push_back(recording().items.size());
        return inner_.wait(stream);
    }
    void set_workers(StreamState& stream, WorkerSet workers) override {
        inner_.set_workers(stream, std::move(workers));
    }

private:
    RecordingEngine inner_;
};

struct Watched {
    WatchedEngine engine;
    Stream s;
    Likelihood likelihood;
    Watched(Index nodes, Trend trend, Overlap overlap)
        : engine(nodes),
          s(engine),
          likelihood(s, meuse(), {.trend = trend}, {.tile = 16, .overlap = overlap}) {}
    LikelihoodValue evaluate() { return likelihood.evaluate({.sigma2 = 1, .range = 200}); }
    [[nodiscard]] std::map<std::pair<std::string, std::string>, Index> counts() const {
        std::map<std::pair<std::string, std::string>, Index> result;
        for (const auto& [key, count] : engine.recording().count_by_step()) result[{key.phase, key.kernel}] += count;
        return result;
    }
};

TEST(LikelihoodStream, WaitsOnceAfterAllPhasesUnlessSynchronous) {
    for (const Overlap overlap : {Overlap::async, Overlap::solve, Overlap::memory, Overlap::priorities, Overlap::order,
                                  Overlap::oversubscribe}) {
        Watched w(4, Trend::linear, overlap);
        w.evaluate();
        EXPECT_EQ(w.engine.waits, std::vector<std::size_t>{w.engine.recording().items.size()}) << name(overlap);
    }
    Watched sync(4, Trend::linear, Overlap::sync);
    sync.evaluate();
    EXPECT_EQ(sync.engine.waits.size(), 6U);  // five phases, and the values
}

TEST(LikelihoodStream, HasTheTasksOfEachPhase) {
    Watched w(1, Trend::linear, Overlap::order);
    w.evaluate();
    const Index nt = 10;  // 155 points in tiles of 16
    auto counts = w.counts();
    EXPECT_EQ((counts[{"generate", "dcmg"}]), nt * (nt + 1) / 2);
    EXPECT_EQ((counts[{"generate", "dgenerate"}]), nt);
    EXPECT_EQ((counts[{"cholesky", "dpotrf"}]), nt);
    EXPECT_EQ((counts[{"cholesky", "dgemm"}]), nt * (nt - 1) * (nt - 2) / 6);
    EXPECT_EQ((counts[{"determinant", "dlogdet"}]), nt);
    EXPECT_EQ((counts[{"solve", "dtrsm"}]), nt);
    EXPECT_EQ((counts[{"solve", "dgemm"}]), nt * (nt - 1) / 2);
    EXPECT_EQ((counts[{"dot", "dsyrk"}]), nt);
    const auto evaluations = w.engine.recording().items.size();
    w.evaluate();
    EXPECT_EQ(w.engine.recording().items.size(), 2 * evaluations);
}

std::vector<std::int32_t> generation_priorities(Overlap overlap) {
    Watched w(1, Trend::none, overlap);
    w.evaluate();
    std::vector<std::int32_t> priorities;
    for (const RecordedItem& item : w.engine.recording().items)
        if (item.kind == RecordedItem::Kind::task && std::string(item.kernel->name) == "dcmg")
            priorities.push_back(item.priority);
    return priorities;
}

TEST(LikelihoodStream, SubmitsGenerationInOrderOfPriority) {
    const auto ordered = generation_priorities(Overlap::order);
    EXPECT_TRUE(std::is_sorted(ordered.rbegin(), ordered.rend()));
    const auto unordered = generation_priorities(Overlap::priorities);
    EXPECT_FALSE(std::is_sorted(unordered.rbegin(), unordered.rend()));
    EXPECT_TRUE(std::is_permutation(ordered.begin(), ordered.end(), unordered.begin(), unordered.end()));
    const auto none = generation_priorities(Overlap::memory);
    EXPECT_EQ(none, std::vector<std::int32_t>(none.size(), 0));
}

TEST(LikelihoodStream, KeepsItsTilesFromTheMemoryStepOn) {
    const auto matrices = [](Overlap overlap) {
        Watched w(1, Trend::none, overlap);
        w.evaluate();
        const auto before = w.engine.recording().matrices.size();
        w.evaluate();
        return w.engine.recording().matrices.size() - before;
    };
    EXPECT_GT(matrices(Overlap::solve), 0U);
    EXPECT_EQ(matrices(Overlap::memory), 0U);
}

TEST(LikelihoodStream, TheLocalSolveMovesFewerBytes) {
    const auto bytes = [](Overlap overlap) {
        Watched w(4, Trend::none, overlap);
        w.evaluate();
        return count_transfers(w.engine.recording()).bytes;
    };
    EXPECT_LT(bytes(Overlap::solve), bytes(Overlap::async));
}

TEST(EvaluationCost, CountsTheLowerTriangleAndTheCube) {
    const Distribution d = squarest_block_cyclic({8, 8}, 4);
    const EvaluationCost cost = evaluation_cost(1000, 125, d);
    EXPECT_NEAR(cost.flops / (1e9 / 3), 1, 0.01);
    EXPECT_EQ(std::accumulate(cost.bytes_per_node.begin(), cost.bytes_per_node.end(), 0.0), 36 * 125 * 125 * 8.0);
}

TEST(LikelihoodStream, ItsTilesHaveTheirMemoryBeforeFromTheMemoryStepOn) {
    for (const auto& [overlap, step] : overlap_names) {
        const Watched w(1, Trend::none, overlap);
        const auto wanted = overlap >= Overlap::memory ? Allocation::at_once : Allocation::when_written;
        for (const RecordedMatrix& matrix : w.engine.recording().grids) EXPECT_EQ(matrix.allocation, wanted) << step;
    }
}

TEST(Overlap, OfItselfSharesACoreOnlyWhereThereAreEnough) {
    const auto shares = [](OverlapChoice choice, Index cores) {
        return has_critical_worker(critical_worker(choice), cores);
    };
    EXPECT_FALSE(shares({}, least_cores_to_share_one - 1));
    EXPECT_TRUE(shares({}, least_cores_to_share_one));
    EXPECT_FALSE(shares(Overlap::sync, 256));
    EXPECT_TRUE(shares(Overlap::oversubscribe, 2));
}

TEST(Overlap, NamesAreReadBack) {
    for (const Overlap overlap : {Overlap::sync, Overlap::async, Overlap::solve, Overlap::memory, Overlap::priorities,
                                  Overlap::order, Overlap::oversubscribe})
        EXPECT_EQ(parse_overlap(name(overlap)), overlap);
    EXPECT_THROW((void)parse_overlap("all"), Error);
}

}  // namespace
}  // namespace tesela::geo::likelihood_test
