// Section 8.7.1 of paper 002: a redistribution that pays for a factorisation, Cholesky or QR, and one that overlaps
// with it.

#include "covariance_problem.hpp"
#include "paper002/experiment.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/qr.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <span>

namespace tesela::bench {
namespace {

/// Symmetric and positive definite, by diagonal dominance.
double element(const void*, ElementIndex at) {
    return at.i == at.j ? 32.0 : 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j)));
}

enum class Algorithm { cholesky, qr };
const char* name_of(Algorithm algorithm) { return algorithm == Algorithm::cholesky ? "cholesky" : "qr"; }

/// In place; what QR leaves beside the matrix is not kept.
void factorise(Stream& stream, Algorithm algorithm, const Matrix<double>& A) {
    if (algorithm == Algorithm::cholesky)
        cholesky(stream, A);
    else
        (void)qr(stream, A.view());
}

struct Place {
    std::string family;
    Index tile = 0;
};
struct FactorCase {
    std::string name;
    Index n = 0;
    Place from, to;
    /// A covariance matrix, compressed or not; none: a dense matrix that takes no time to generate.
    const CovarianceMatrix* covariances = nullptr;
    std::optional<Compression> compression{};
    Algorithm algorithm = Algorithm::cholesky;
};

Matrix<double> matrix_at(Stream& stream, const FactorCase& c, const Place& place,
                         std::function<TileMemory(TileIndex)> memory = {}) {
    const Tiling tiling = Tiling::square(c.n, place.tile);
    return {stream,
            tiling,
            make_distribution(place.family, tiling.grid(), stream.engine().node_count()),
            {.stored = c.algorithm == Algorithm::cholesky ? Stored::lower : Stored::full,
             .memory = std::move(memory),
             .compression = c.compression}};
}

/// What is timed, in the order of the columns.
enum class Way { on_source, on_target, redistribution, there_and_back, with_barrier, without_barrier, count };
constexpr auto ways = static_cast<std::size_t>(Way::count);

/// A matrix in the place where it was made and in the place where it should be.
class FactorContest {
public:
    FactorContest(StarpuEngine& engine, const FactorCase& c)
        : engine_(engine),
          algorithm_(c.algorithm),
          covariances_(c.covariances),
          stream_(engine, {.name = "redistribute and factorise"}),
          source_(matrix_at(stream_, c, c.from)),
          target_(matrix_at(stream_, c, c.to)) {}

    /// What the matrix takes where it is made.
    RankSummary ranks_of_source() {
        fill_source();
        return summarise_ranks(tile_ranks(stream_, source_), source_.tiling(), Stored::lower);
    }

    double seconds(Way way) {
        fill_source();
        if (way == Way::on_target) redistribute(stream_, source_.view(), target_.view());
        wait();
        engine_.barrier();
        return engine_.max(seconds_of([&] {
            submit(way);
            wait();
        }));
    }

private:
    void fill_source() {
        if (covariances_ != nullptr)
            covariances_->generate(stream_, source_);
        else
            generate(stream_, source_.view(), {element});
    }

    void submit(Way way) {
        if (way == Way::on_source) return factorise(stream_, algorithm_, source_);
        if (way == Way::on_target) return factorise(stream_, algorithm_, target_);
        redistribute(stream_, source_.view(), target_.view());
        if (way == Way::redistribution) return;
        if (way == Way::with_barrier) wait();
        factorise(stream_, algorithm_, target_);
        if (way == Way::there_and_back) redistribute(stream_, target_.view(), source_.view());
    }

    void wait() { require_done(stream_.wait()); }

    StarpuEngine& engine_;
    Algorithm algorithm_;
    const CovarianceMatrix* covariances_;
    Stream stream_;
    Matrix<double> source_;
    Matrix<double> target_;
};

/// The best time of each way, taken in turn.
std::array<double, ways> best_of(Laboratory& lab, const FactorCase& c, std::span<const Way> which, int repetitions) {
    FactorContest contest(lab.engine, c);
    std::array<Best, ways> best;
    for (int round = 0; round <= repetitions; ++round)
        for (const Way way : which) {
            const double seconds = contest.seconds(way);
            if (round > 0) best[static_cast<std::size_t>(way)].add(seconds);
        }
    std::array<double, ways> result{};
    for (std::size_t w = 0; w < ways; ++w) result[w] = best[w].seconds();
    return result;
}
double of(const std::array<double, ways>& times, Way way) { return times[static_cast<std::size_t>(way)]; }

/// A row of figures 14 and 15.
Row row_of(const FactorCase& c, Index nodes, const std::array<double, ways>& times) {
    const std::string name = name_of(c.algorithm);
    return {{"nodes", nodes},
            {"case", c.name},
            {"n", c.n},
            {"from", c.from.family},
            {"tile_from", c.from.tile},
            {"to", c.to.family},
            {"tile_to", c.to.tile},
            {name + "_on_source", of(times, Way::on_source)},
            {name + "_on_target", of(times, Way::on_target)},
            {"redistribution", of(times, Way::redistribution)},
            {fmt::format("there_{}_back", name), of(times, Way::there_and_back)},
            {"overhead", of(times, Way::there_and_back) / of(times, Way::on_target) - 1},
            {"speedup", of(times, Way::on_source) / of(times, Way::there_and_back)}};
}
constexpr std::array ways_of_figure{Way::on_source, Way::on_target, Way::redistribution, Way::there_and_back};

std::vector<Row> run_factorisation(Laboratory& lab, Algorithm algorithm) {
    const std::string flat = flat_grid(lab.nodes());
    const std::string square = square_grid(lab.nodes());
    const auto n = lab.sized<Index>(2880, 480);
    const auto tile = lab.sized<Index>(320, 80);
    std::vector<Row> rows;
    for (FactorCase c : {FactorCase{"distribution", n, {flat, tile}, {square, tile}},
                         FactorCase{"tile size", n, {square, 3 * tile}, {square, tile}},
                         FactorCase{"both", n, {flat, 3 * tile}, {square, tile}}}) {
        c.algorithm = algorithm;
        rows.push_back(row_of(c, lab.nodes(), best_of(lab, c, ways_of_figure, lab.repetitions)));
    }
    return rows;
}

// ------------------------------------------------------------------ figure 14 simulated

constexpr Index simulated_nodes = 64;
constexpr Index quick_order = 5120;

double simulated_seconds(const FactorCase& c, Way way) {
    SimulatedEngine engine(cli::read_platform("shaheen2", fmt::format("{}haswell", simulated_nodes)));
    {
        Stream s(engine);
        const auto written = [](TileIndex) { return TileMemory{}; };
        const Matrix<double> source = matrix_at(s, c, c.from, written);
        const Matrix<double> target = way == Way::on_target ? matrix_at(s, c, c.to, written) : matrix_at(s, c, c.to);
        const bool moves = way == Way::redistribution || way == Way::there_and_back;
        if (moves) redistribute(s, source.view(), target.view());
        if (way != Way::redistribution) factorise(s, c.algorithm, way == Way::on_source ? source : target);
        if (way == Way::there_and_back) redistribute(s, target.view(), source.view());
        require_done(s.wait());
    }
    return engine.result().makespan;
}

/// The paper's: from 1 x 64 to 8 x 8 nodes with tiles of 320, or from tiles of 1280 to 320 on 8 x 8 nodes.
Row simulated_qr_row(const std::string& name, Index n) {
    const bool tiles = name == "tile size";
    const std::string square = square_grid(simulated_nodes);
    FactorCase c{name, n, {tiles ? square : flat_grid(simulated_nodes), tiles ? 1280 : 320}, {square, 320}};
    c.algorithm = Algorithm::qr;
    std::array<double, ways> times{};
    for (const Way way : ways_of_figure) times[static_cast<std::size_t>(way)] = simulated_seconds(c, way);
    Row row{{"platform", "shaheen2"}};
    row.update(row_of(c, simulated_nodes, times));
    return row;
}

std::vector<Row> run_simulated_qr(Laboratory& lab) {
    std::vector<Row> rows;
    for (const char* name : {"distribution", "tile size"})
        for (const Index n : lab.sized<std::vector<Index>>({5120, 10240, 20480, 30720}, {quick_order}))
            rows.push_back(simulated_qr_row(name, n));
    return rows;
}

PlotRecipe recipe_of(Algorithm algorithm) {
    const std::string name = name_of(algorithm);
    const std::string title = algorithm == Algorithm::cholesky ? "Cholesky" : "QR";
    return {
        .title = fmt::format("Paper 002, figure {}: {} where the matrix is, and where it should be",
                             algorithm == Algorithm::cholesky ? 15 : 14, title),
        .x_label = "what the redistribution changes",
        .y_label = "seconds",
        .panel = [](const Row& row) { return fmt::format("{} nodes", row.at("nodes").get<Index>()); },
        .place = [](const Row& row) { return row.at("case").get<std::string>(); },
        .series = {{name + "_on_source", "where it is"},
                   {name + "_on_target", "where it should be"},
                   {fmt::format("there_{}_back", name), fmt::format("redistributed, {}, redistributed back", title)}},
        .style = PlotStyle::bars,
        .columns = 2,
        .panel_width = 400};
}

/// Of the lower triangle from columns of coarse tiles to a grid of fine ones. On one machine copies are the network,
/// and there is little to hide: see bench/cluster for nodes joined by a link, simulated_overlap_experiment for
/// clusters.
std::vector<Row> run_overlap(Laboratory& lab) {
    constexpr std::array which{Way::redistribution, Way::on_target, Way::with_barrier, Way::without_barrier};
    constexpr int more = 3;  // the differences are small
    std::vector<Row> rows;
    for (const Index n : lab.sized<std::vector<Index>>({1920, 2880, 3840}, {480})) {
        const FactorCase c{"", n, {flat_grid(lab.nodes()), n / 4}, {square_grid(lab.nodes()), n / 12}};
        const auto times = best_of(lab, c, which, more * lab.repetitions);
        rows.push_back({{"nodes", lab.nodes()},
                        {"n", n},
                        {"tile_from", c.from.tile},
                        {"tile_to", c.to.tile},
                        {"redistribution", of(times, Way::redistribution)},
                        {"cholesky", of(times, Way::on_target)},
                        {"with_barrier", of(times, Way::with_barrier)},
                        {"without_barrier", of(times, Way::without_barrier)},
                        {"saved", of(times, Way::with_barrier) - of(times, Way::without_barrier)},
                        {"saved_share", 1 - of(times, Way::without_barrier) / of(times, Way::with_barrier)}});
    }
    return rows;
}

/// Figure 16: the same of a compressed matrix, with another distribution (a band of tiles around the diagonal dealt out
/// by itself) or other tiles; and how long the redistribution takes if nothing is compressed.
std::vector<Row> run_compressed(Laboratory& lab) {
    constexpr std::array which{Way::on_source, Way::on_target, Way::redistribution, Way::without_barrier};
    constexpr std::array redistribution_only{Way::redistribution};
    const CovarianceProblem problem{.n = lab.sized<Index>(6000, 600), .accuracy = 1e-6};
    const CovarianceMatrix covariances(problem);
    const auto tile = lab.sized<Index>(400, 100);
    const std::string square = square_grid(lab.nodes());
    std::vector<FactorCase> cases;
    const auto add = [&](const char* name, const Place& from, const Place& to) {
        cases.push_back({name, problem.n, from, to, &covariances, problem.compression()});
    };
    if (lab.nodes() > 1) add("distribution", {square, tile}, {"band:2", tile});
    for (const Index source : lab.sized<std::vector<Index>>({100, 200, 1000, 2000}, {60}))
        add("tile size", {square, source}, {square, tile});
    std::vector<Row> rows;
    for (FactorCase& c : cases) {
        const auto times = best_of(lab, c, which, lab.repetitions);
        const RankSummary source = FactorContest(lab.engine, c).ranks_of_source();
        c.compression.reset();
        const auto dense = best_of(lab, c, redistribution_only, lab.repetitions);
        rows.push_back({{"nodes", lab.nodes()},
                        {"case", c.name},
                        {"n", c.n},
                        {"accuracy", problem.accuracy},
                        {"from", c.from.family},
                        {"tile_from", c.from.tile},
                        {"to", c.to.family},
                        {"tile_to", c.to.tile},
                        {"megabytes", 1e-6 * source.bytes},
                        {"dense_megabytes", 1e-6 * source.dense_bytes},
                        {"cholesky_on_source", of(times, Way::on_source)},
                        {"cholesky_on_target", of(times, Way::on_target)},
                        {"redistribution", of(times, Way::redistribution)},
                        {"redistribution_dense", of(dense, Way::redistribution)},
                        {"redistributed_cholesky", of(times, Way::without_barrier)},
                        {"speedup", of(times, Way::on_source) / of(times, Way::without_barrier)}});
    }
    return rows;
}

}  // namespace

Experiment cholesky_experiment() {
    return {"cholesky", [](Laboratory& lab) { return run_factorisation(lab, Algorithm::cholesky); },
            [](const std::vector<Row>& rows) { return plot_rows(recipe_of(Algorithm::cholesky), rows); }};
}

Experiment qr_experiment() {
    return {"qr", [](Laboratory& lab) { return run_factorisation(lab, Algorithm::qr); },
            [](const std::vector<Row>& rows) { return plot_rows(recipe_of(Algorithm::qr), rows); }};
}

Experiment simulated_qr_experiment() {
    return {.name = "qr_simulated",
            .run = run_simulated_qr,
            .plot =
                [](const std::vector<Row>& rows) {
                    PlotRecipe recipe = recipe_of(Algorithm::qr);
                    recipe.title = "Paper 002, figure 14, simulated on 64 nodes of Shaheen II";
                    recipe.x_label = "order of the matrix";
                    recipe.panel = [](const Row& row) {
                        return fmt::format("another {}", row.at("case").get<std::string>());
                    };
                    recipe.place = [](const Row& row) { return row.at("n").dump(); };
                    return plot_rows(recipe, rows);
                },
            .again = Experiment::Again{
                .remake =
                    [](const Row& row) {
                        return simulated_qr_row(row.at("case").get<std::string>(), row.at("n").get<Index>());
                    },
                .quick = [](const Row& row) { return row.at("n").get<Index>() <= quick_order; }}};
}

Experiment overlap_experiment() {
    return {"overlap", run_overlap, [](const std::vector<Row>& rows) {
                return plot_rows(
                    {.title = "Redistribution and Cholesky, one after the other or overlapping",
                     .x_label = "order of the matrix",
                     .y_label = "seconds",
                     .panel = [](const Row& row) { return fmt::format("{} nodes", row.at("nodes").get<Index>()); },
                     .place = [](const Row& row) { return row.at("n").dump(); },
                     .series = {{"redistribution", "redistribution alone"},
                                {"cholesky", "Cholesky alone"},
                                {"with_barrier", "both, a barrier between"},
                                {"without_barrier", "both, overlapping"}},
                     .style = PlotStyle::bars,
                     .columns = 2,
                     .panel_width = 330},
                    rows);
            }};
}

Experiment compressed_experiment() {
    return {.name = "compressed",
            .run = run_compressed,
            .plot =
                [](const std::vector<Row>& rows) {
                    return plot_rows(
                        {.title = "Paper 002, figure 16: Cholesky of a compressed matrix",
                         .x_label = "tiles that it comes on; it goes to tiles of 400",
                         .y_label = "seconds",
                         .panel = [](const Row& row) { return fmt::format("{} nodes", row.at("nodes").get<Index>()); },
                         .place =
                             [](const Row& row) {
                                 const bool tiles = row.at("case").get<std::string>() == "tile size";
                                 return tiles ? row.at("tile_from").dump() : "to a band";
                             },
                         .series = {{"cholesky_on_source", "Cholesky where it is"},
                                    {"cholesky_on_target", "where it should be"},
                                    {"redistributed_cholesky", "redistributed, then Cholesky"},
                                    {"redistribution", "redistribution alone"},
                                    {"redistribution_dense", "the same of the dense matrix"}},
                         .style = PlotStyle::bars,
                         .columns = 2,
                         .panel_width = 460},
                        rows);
                },
            .fewest_nodes = 1};
}

}  // namespace tesela::bench
