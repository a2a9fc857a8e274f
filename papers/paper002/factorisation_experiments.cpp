// Section 8.7.1 of paper 002: a redistribution that pays for a factorisation, Cholesky or QR, and one that overlaps
// with it.

#include "harness/timing.hpp"
#include "paper002/section.hpp"
#include "shared/covariance_problem.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/qr.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>

namespace tesela::bench {
namespace {

enum class Factorisation { cholesky, qr };
const char* factorisation_name(Factorisation algorithm) {
    return algorithm == Factorisation::cholesky ? "cholesky" : "qr";
}

/// In place; what QR leaves beside the matrix is not kept.
void factorise(Stream& stream, Factorisation algorithm, const Matrix<double>& A) {
    if (algorithm == Factorisation::cholesky)
        cholesky(stream, A);
    else
        (void)qr(stream, A.view());
}

struct FactorPlace {
    std::string family;
    Index tile = 0;
};
struct FactorCase {
    std::string name;
    Index n = 0;
    FactorPlace from, to;
    /// A covariance matrix, compressed or not; none: a dense matrix that takes no time to generate.
    const CovarianceMatrix* covariances = nullptr;
    std::optional<Compression> compression{};
    Factorisation algorithm = Factorisation::cholesky;
};

Matrix<double> matrix_at(Stream& stream, const FactorCase& c, const FactorPlace& place,
                         std::function<TileMemory(TileIndex)> memory = {}) {
    const Tiling tiling = Tiling::square(c.n, place.tile);
    return {stream,
            tiling,
            make_distribution(place.family, tiling.grid(), stream.engine().node_count()),
            {.stored = c.algorithm == Factorisation::cholesky ? Stored::lower : Stored::full,
             .memory = std::move(memory),
             .compression = c.compression}};
}

/// What is timed, in the order of the columns.
enum class FactorWay { on_source, on_target, redistribution, there_and_back, with_barrier, without_barrier, count };
constexpr auto factor_ways = static_cast<std::size_t>(FactorWay::count);

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

    double seconds(FactorWay way) {
        fill_source();
        if (way == FactorWay::on_target) redistribute(stream_, source_.view(), target_.view());
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
            generate(stream_, source_.view(), {dominant_element});
    }

    void submit(FactorWay way) {
        if (way == FactorWay::on_source) return factorise(stream_, algorithm_, source_);
        if (way == FactorWay::on_target) return factorise(stream_, algorithm_, target_);
        redistribute(stream_, source_.view(), target_.view());
        if (way == FactorWay::redistribution) return;
        if (way == FactorWay::with_barrier) wait();
        factorise(stream_, algorithm_, target_);
        if (way == FactorWay::there_and_back) redistribute(stream_, target_.view(), source_.view());
    }

    void wait() { require_done(stream_.wait()); }

    StarpuEngine& engine_;
    Factorisation algorithm_;
    const CovarianceMatrix* covariances_;
    Stream stream_;
    Matrix<double> source_;
    Matrix<double> target_;
};

/// The best time of each way, taken in turn.
std::array<double, factor_ways> best_factor_times(Laboratory& lab, const FactorCase& c,
                                                  std::span<const FactorWay> which, int repetitions) {
    FactorContest contest(lab.engine, c);
    std::array<Best, factor_ways> best;
    for (int round = 0; round <= repetitions; ++round)
        for (const FactorWay way : which) {
            const double seconds = contest.seconds(way);
            if (round > 0) best[static_cast<std::size_t>(way)].add(seconds);
        }
    std::array<double, factor_ways> result{};
    for (std::size_t w = 0; w < factor_ways; ++w) result[w] = best[w].seconds();
    return result;
}
double time_of(const std::array<double, factor_ways>& times, FactorWay way) {
    return times[static_cast<std::size_t>(way)];
}

/// A row of figures 14 and 15.
Row factor_row(const FactorCase& c, Index nodes, const std::array<double, factor_ways>& times) {
    const std::string name = factorisation_name(c.algorithm);
    return {{"nodes", nodes},
            {"case", c.name},
            {"n", c.n},
            {"from", c.from.family},
            {"tile_from", c.from.tile},
            {"to", c.to.family},
            {"tile_to", c.to.tile},
            {name + "_on_source", time_of(times, FactorWay::on_source)},
            {name + "_on_target", time_of(times, FactorWay::on_target)},
            {"redistribution", time_of(times, FactorWay::redistribution)},
            {fmt::format("there_{}_back", name), time_of(times, FactorWay::there_and_back)},
            {"overhead", time_of(times, FactorWay::there_and_back) / time_of(times, FactorWay::on_target) - 1},
            {"speedup", time_of(times, FactorWay::on_source) / time_of(times, FactorWay::there_and_back)}};
}
constexpr std::array ways_of_figure{FactorWay::on_source, FactorWay::on_target, FactorWay::redistribution,
                                    FactorWay::there_and_back};

std::vector<Row> measure_factorisation(Laboratory& lab, Factorisation algorithm) {
    const std::string flat = flat_grid(lab.nodes());
    const std::string square = square_grid(lab.nodes());
    const auto n = lab.sized<Index>(2880, 480);
    const auto tile = lab.sized<Index>(320, 80);
    std::vector<Row> rows;
    for (FactorCase c : {FactorCase{"distribution", n, {flat, tile}, {square, tile}},
                         FactorCase{"tile size", n, {square, 3 * tile}, {square, tile}},
                         FactorCase{"both", n, {flat, 3 * tile}, {square, tile}}}) {
        c.algorithm = algorithm;
        rows.push_back(factor_row(c, lab.nodes(), best_factor_times(lab, c, ways_of_figure, lab.repetitions)));
    }
    return rows;
}

// ------------------------------------------------------------------ figure 14 simulated

constexpr Index quick_qr_order = 5120;

double simulated_factor_seconds(const FactorCase& c, FactorWay way) {
    SimulatedEngine engine(read_platform("shaheen2", fmt::format("{}haswell", shaheen_nodes)));
    {
        Stream s(engine);
        const auto written = [](TileIndex) { return TileMemory{}; };
        const Matrix<double> source = matrix_at(s, c, c.from, written);
        const Matrix<double> target =
            way == FactorWay::on_target ? matrix_at(s, c, c.to, written) : matrix_at(s, c, c.to);
        const bool moves = way == FactorWay::redistribution || way == FactorWay::there_and_back;
        if (moves) redistribute(s, source.view(), target.view());
        if (way != FactorWay::redistribution) factorise(s, c.algorithm, way == FactorWay::on_source ? source : target);
        if (way == FactorWay::there_and_back) redistribute(s, target.view(), source.view());
        require_done(s.wait());
    }
    return engine.result().makespan;
}

/// The paper's: from 1 x 64 to 8 x 8 nodes with tiles of 320, or from tiles of 1280 to 320 on 8 x 8 nodes.
Row simulated_qr_row(const std::string& name, Index n) {
    const bool tiles = name == "tile size";
    const std::string square = square_grid(shaheen_nodes);
    FactorCase c{name, n, {tiles ? square : flat_grid(shaheen_nodes), tiles ? 1280 : 320}, {square, 320}};
    c.algorithm = Factorisation::qr;
    std::array<double, factor_ways> times{};
    for (const FactorWay way : ways_of_figure) times[static_cast<std::size_t>(way)] = simulated_factor_seconds(c, way);
    Row row{{"platform", "shaheen2"}};
    row.update(factor_row(c, shaheen_nodes, times));
    return row;
}

std::vector<Row> simulate_qr(Laboratory& lab) {
    std::vector<Row> rows;
    for (const char* name : {"distribution", "tile size"})
        for (const Index n : lab.sized<std::vector<Index>>({5120, 10240, 20480, 30720}, {quick_qr_order}))
            rows.push_back(simulated_qr_row(name, n));
    return rows;
}

PlotRecipe factor_recipe(Factorisation algorithm) {
    const std::string name = factorisation_name(algorithm);
    const std::string title = algorithm == Factorisation::cholesky ? "Cholesky" : "QR";
    return {
        .title = fmt::format("Paper 002, figure {}: {} where the matrix is, and where it should be",
                             algorithm == Factorisation::cholesky ? 15 : 14, title),
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
/// and there is little to hide: see bench/cluster for nodes joined by a link, simulated_overlap_section for
/// clusters.
std::vector<Row> measure_overlap(Laboratory& lab) {
    constexpr std::array which{FactorWay::redistribution, FactorWay::on_target, FactorWay::with_barrier,
                               FactorWay::without_barrier};
    constexpr int more = 3;  // the differences are small
    std::vector<Row> rows;
    for (const Index n : lab.sized<std::vector<Index>>({1920, 2880, 3840}, {480})) {
        const FactorCase c{"", n, {flat_grid(lab.nodes()), n / 4}, {square_grid(lab.nodes()), n / 12}};
        const auto times = best_factor_times(lab, c, which, more * lab.repetitions);
        rows.push_back({{"nodes", lab.nodes()},
                        {"n", n},
                        {"tile_from", c.from.tile},
                        {"tile_to", c.to.tile},
                        {"redistribution", time_of(times, FactorWay::redistribution)},
                        {"cholesky", time_of(times, FactorWay::on_target)},
                        {"with_barrier", time_of(times, FactorWay::with_barrier)},
                        {"without_barrier", time_of(times, FactorWay::without_barrier)},
                        {"saved", time_of(times, FactorWay::with_barrier) - time_of(times, FactorWay::without_barrier)},
                        {"saved_share",
                         1 - time_of(times, FactorWay::without_barrier) / time_of(times, FactorWay::with_barrier)}});
    }
    return rows;
}

/// Figure 16: the same of a compressed matrix, with another distribution (a band of tiles around the diagonal dealt out
/// by itself) or other tiles; and how long the redistribution takes if nothing is compressed.
std::vector<Row> measure_compressed(Laboratory& lab) {
    constexpr std::array which{FactorWay::on_source, FactorWay::on_target, FactorWay::redistribution,
                               FactorWay::without_barrier};
    constexpr std::array redistribution_only{FactorWay::redistribution};
    const CovarianceProblem problem{.n = lab.sized<Index>(6000, 600), .accuracy = 1e-6};
    const CovarianceMatrix covariances(problem);
    const auto tile = lab.sized<Index>(400, 100);
    const std::string square = square_grid(lab.nodes());
    std::vector<FactorCase> cases;
    const auto add = [&](const char* name, const FactorPlace& from, const FactorPlace& to) {
        cases.push_back({name, problem.n, from, to, &covariances, problem.compression()});
    };
    if (lab.nodes() > 1) add("distribution", {square, tile}, {"band:2", tile});
    for (const Index source : lab.sized<std::vector<Index>>({100, 200, 1000, 2000}, {60}))
        add("tile size", {square, source}, {square, tile});
    std::vector<Row> rows;
    for (FactorCase& c : cases) {
        const auto times = best_factor_times(lab, c, which, lab.repetitions);
        const RankSummary source = FactorContest(lab.engine, c).ranks_of_source();
        c.compression.reset();
        const auto dense = best_factor_times(lab, c, redistribution_only, lab.repetitions);
        rows.push_back(
            {{"nodes", lab.nodes()},
             {"case", c.name},
             {"n", c.n},
             {"accuracy", problem.accuracy},
             {"from", c.from.family},
             {"tile_from", c.from.tile},
             {"to", c.to.family},
             {"tile_to", c.to.tile},
             {"megabytes", 1e-6 * source.bytes},
             {"dense_megabytes", 1e-6 * source.dense_bytes},
             {"cholesky_on_source", time_of(times, FactorWay::on_source)},
             {"cholesky_on_target", time_of(times, FactorWay::on_target)},
             {"redistribution", time_of(times, FactorWay::redistribution)},
             {"redistribution_dense", time_of(dense, FactorWay::redistribution)},
             {"redistributed_cholesky", time_of(times, FactorWay::without_barrier)},
             {"speedup", time_of(times, FactorWay::on_source) / time_of(times, FactorWay::without_barrier)}});
    }
    return rows;
}

}  // namespace

Section cholesky_section() {
    return {"cholesky", [](Laboratory& lab) { return measure_factorisation(lab, Factorisation::cholesky); },
            [](const std::vector<Row>& rows) { return plot_rows(factor_recipe(Factorisation::cholesky), rows); }};
}

Section qr_section() {
    return {"qr", [](Laboratory& lab) { return measure_factorisation(lab, Factorisation::qr); },
            [](const std::vector<Row>& rows) { return plot_rows(factor_recipe(Factorisation::qr), rows); }};
}

Section simulated_qr_section() {
    return {.name = "qr_simulated",
            .run = simulate_qr,
            .plot =
                [](const std::vector<Row>& rows) {
                    PlotRecipe recipe = factor_recipe(Factorisation::qr);
                    recipe.title = "Paper 002, figure 14, simulated on 64 nodes of Shaheen II";
                    recipe.x_label = "order of the matrix";
                    recipe.panel = [](const Row& row) {
                        return fmt::format("another {}", row.at("case").get<std::string>());
                    };
                    recipe.place = [](const Row& row) { return row.at("n").dump(); };
                    return plot_rows(recipe, rows);
                },
            .again = Section::Again{
                .remake =
                    [](const Row& row) {
                        return simulated_qr_row(row.at("case").get<std::string>(), row.at("n").get<Index>());
                    },
                .quick = [](const Row& row) { return row.at("n").get<Index>() <= quick_qr_order; }}};
}

Section overlap_section() {
    return {"overlap", measure_overlap, [](const std::vector<Row>& rows) {
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

Section compressed_section() {
    return {.name = "compressed",
            .run = measure_compressed,
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
