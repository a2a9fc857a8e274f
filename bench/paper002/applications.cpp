// Section 8.7.2 of paper 002, figure 18: a program that keeps its matrices as ScaLAPACK does, and has Cholesky and
// products done in tiles, with a redistribution before and one after; measured beside ScaLAPACK on the nodes at hand,
// and simulated on as many nodes of Shaheen II as the paper had.

#include "paper002/experiment.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/scalapack.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace tesela::bench {
namespace {

enum class Algorithm { cholesky, gemm };
const char* name_of(Algorithm algorithm) { return algorithm == Algorithm::cholesky ? "cholesky" : "gemm"; }

/// ScaLAPACK's blocks and Tesela's tiles: the six panels of the figure are three of these for each algorithm.
struct Sizes {
    Index n = 0, block = 0, tile = 0;
};
std::vector<Sizes> sizes_of(Index n, Index large, Index small) {
    return {{n, large, large}, {n, large, small}, {n, small, large}};
}

/// C := Cholesky factor of C, in its lower triangle; or C := A·B.
struct Operands {
    Matrix<double> A, B, C;

    void submit(Stream& stream, Algorithm algorithm) const {
        if (algorithm == Algorithm::cholesky)
            cholesky(stream, C.lower());
        else
            gemm(stream, A.view(), B.view(), C.view());
    }
    /// The operands that the algorithm reads.
    void send_to(Stream& stream, Algorithm algorithm, const Operands& to) const {
        if (algorithm == Algorithm::cholesky) return send_result_to(stream, algorithm, to);
        redistribute(stream, A.view(), to.A.view());
        redistribute(stream, B.view(), to.B.view());
    }
    void send_result_to(Stream& stream, Algorithm algorithm, const Operands& to) const {
        if (algorithm == Algorithm::cholesky)
            redistribute(stream, C.lower(), to.C.lower());
        else
            redistribute(stream, C.view(), to.C.view());
    }
};

using MatrixMaker = std::function<Matrix<double>(const char* name)>;
Operands operands(const MatrixMaker& make) { return {make("A"), make("B"), make("C")}; }

Matrix<double> in_tiles(Stream& stream, const Sizes& sizes, const char* name,
                        std::function<TileMemory(TileIndex)> memory = {}) {
    const Tiling tiling = Tiling::square(sizes.n, sizes.tile);
    return {stream,
            tiling,
            squarest_block_cyclic(tiling.grid(), stream.engine().node_count()),
            {.name = name, .memory = std::move(memory)}};
}

// ------------------------------------------------------------------ on the nodes at hand

/// Symmetric and positive definite, by diagonal dominance.
double element(const void*, ElementIndex at) {
    return at.i == at.j ? 32.0 : 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j)));
}

enum class Way { scalapack, on_arrays, on_tiles, redistributed, count };
constexpr auto ways = static_cast<std::size_t>(Way::count);

/// One panel of the figure at one size: all ways work on the same arrays.
class Application {
public:
    Application(StarpuEngine& engine, Algorithm algorithm, const Sizes& sizes)
        : engine_(engine),
          algorithm_(algorithm),
          sizes_(sizes),
          stream_(engine, {.name = "application"}),
          grid_(squarest_grid(engine.node_count())),
          a_(make()),
          b_(make()),
          c_(make()) {}

    double seconds(Way way) {
        for (ScalapackMatrix* matrix : {&a_, &b_, &c_})
            matrix->generate(engine_.this_node(), [](ElementIndex at) { return element(nullptr, at); });
        if (way == Way::scalapack) return scalapack_seconds();
        const Operands arrays{over_scalapack(stream_, a_.layout, a_.local.data(), "A"),
                              over_scalapack(stream_, b_.layout, b_.local.data(), "B"),
                              over_scalapack(stream_, c_.layout, c_.local.data(), "C")};
        if (way == Way::on_arrays) return timed([&] { arrays.submit(stream_, algorithm_); });
        const Operands tiles = operands([&](const char* name) { return in_tiles(stream_, sizes_, name); });
        if (way == Way::redistributed)
            return timed([&] {
                arrays.send_to(stream_, algorithm_, tiles);
                tiles.submit(stream_, algorithm_);
                tiles.send_result_to(stream_, algorithm_, arrays);
            });
        arrays.send_to(stream_, algorithm_, tiles);
        wait();
        return timed([&] { tiles.submit(stream_, algorithm_); });
    }

private:
    ScalapackMatrix make() { return {grid_, engine_.this_node(), {sizes_.n, sizes_.n}, {sizes_.block, sizes_.block}}; }
    void wait() { require_done(stream_.wait()); }
    template <class Work>
    double timed(const Work& work) {
        engine_.barrier();
        return engine_.max(seconds_of([&] {
            work();
            wait();
        }));
    }
    /// Its BLAS has the threads that Tesela has workers, which sleep meanwhile.
    double scalapack_seconds() {
        engine_.pause();
        const int before = set_blas_threads(engine_.worker_count());
        engine_.barrier();
        const double seconds = engine_.max(seconds_of([&] {
            if (algorithm_ == Algorithm::cholesky)
                pdpotrf(c_);
            else
                pdgemm(a_, b_, c_);
        }));
        set_blas_threads(before);
        engine_.resume();
        return seconds;
    }

    StarpuEngine& engine_;
    Algorithm algorithm_;
    Sizes sizes_;
    Stream stream_;
    BlacsGrid grid_;
    ScalapackMatrix a_, b_, c_;
};

/// The best time of each way, taken in turn.
std::array<double, ways> best_of(Laboratory& lab, Algorithm algorithm, const Sizes& sizes) {
    Application application(lab.engine, algorithm, sizes);
    std::array<Best, ways> best;
    for (int round = 0; round <= lab.repetitions; ++round)
        for (std::size_t way = 0; way < ways; ++way) {
            const double seconds = application.seconds(static_cast<Way>(way));
            if (round > 0) best[way].add(seconds);
        }
    std::array<double, ways> result{};
    for (std::size_t w = 0; w < ways; ++w) result[w] = best[w].seconds();
    return result;
}

std::vector<Row> run(Laboratory& lab) {
    if (!has_scalapack()) throw Error("the experiment applications needs a tesela-bench that was built with ScaLAPACK");
    std::vector<Row> rows;
    for (const Algorithm algorithm : {Algorithm::cholesky, Algorithm::gemm})
        for (const Index n : lab.sized<std::vector<Index>>({1920, 3840}, {480}))
            for (const Sizes& sizes : sizes_of(n, lab.sized<Index>(960, 160), lab.sized<Index>(400, 60))) {
                const auto best = best_of(lab, algorithm, sizes);
                const auto of = [&](Way way) { return best[static_cast<std::size_t>(way)]; };
                rows.push_back({{"nodes", lab.nodes()},
                                {"algorithm", name_of(algorithm)},
                                {"n", n},
                                {"block", sizes.block},
                                {"tile", sizes.tile},
                                {"scalapack", of(Way::scalapack)},
                                {"on_its_arrays", of(Way::on_arrays)},
                                {"on_tiles", of(Way::on_tiles)},
                                {"redistributed", of(Way::redistributed)},
                                {"overhead", of(Way::redistributed) / of(Way::on_tiles) - 1},
                                {"speedup", of(Way::scalapack) / of(Way::redistributed)}});
            }
    return rows;
}

// ------------------------------------------------------------------ simulated

constexpr Index simulated_nodes = 64;
constexpr Index quick_order = 9600;

double simulated_seconds(Algorithm algorithm, const Sizes& sizes, Way way) {
    SimulatedEngine engine(cli::read_platform("shaheen2", fmt::format("{}haswell", simulated_nodes)));
    {
        Stream s(engine);
        const auto written = [](TileIndex) { return TileMemory{}; };
        const Sizes blocks{sizes.n, sizes.block, sizes.block};
        const Operands arrays = operands([&](const char* name) { return in_tiles(s, blocks, name, written); });
        const Operands tiles = operands([&](const char* name) {
            return way == Way::on_tiles ? in_tiles(s, sizes, name, written) : in_tiles(s, sizes, name);
        });
        if (way == Way::redistributed) arrays.send_to(s, algorithm, tiles);
        (way == Way::on_arrays ? arrays : tiles).submit(s, algorithm);
        if (way == Way::redistributed) tiles.send_result_to(s, algorithm, arrays);
        require_done(s.wait());
    }
    return engine.result().makespan;
}

Row simulated_row(Algorithm algorithm, const Sizes& sizes) {
    const double on_arrays = simulated_seconds(algorithm, sizes, Way::on_arrays);
    const double on_tiles = simulated_seconds(algorithm, sizes, Way::on_tiles);
    const double redistributed = simulated_seconds(algorithm, sizes, Way::redistributed);
    return {{"platform", "shaheen2"},
            {"nodes", simulated_nodes},
            {"algorithm", name_of(algorithm)},
            {"n", sizes.n},
            {"block", sizes.block},
            {"tile", sizes.tile},
            {"on_its_arrays", on_arrays},
            {"on_tiles", on_tiles},
            {"redistributed", redistributed},
            {"overhead", redistributed / on_tiles - 1},
            {"speedup", on_arrays / redistributed}};
}

Row remake(const Row& row) {
    const auto number = [&](const char* column) { return row.at(column).get<Index>(); };
    return simulated_row(row.at("algorithm") == name_of(Algorithm::cholesky) ? Algorithm::cholesky : Algorithm::gemm,
                         {number("n"), number("block"), number("tile")});
}

std::vector<Row> run_simulated(Laboratory& lab) {
    std::vector<Row> rows;
    const auto orders = [&](Algorithm algorithm) -> std::vector<Index> {
        if (lab.scope == Scope::quick) return {quick_order};
        // Products have n³ tasks where Cholesky has n³/6.
        return algorithm == Algorithm::cholesky ? std::vector<Index>{19200, 38400, 57600}
                                                : std::vector<Index>{9600, 19200, 28800};
    };
    for (const Algorithm algorithm : {Algorithm::cholesky, Algorithm::gemm})
        for (const Index n : orders(algorithm))
            for (const Sizes& sizes : sizes_of(n, 960, 400)) rows.push_back(simulated_row(algorithm, sizes));
    return rows;
}

PanelPlot plot(const std::vector<Row>& rows, const std::string& title) {
    const bool with_scalapack = !rows.empty() && rows.front().contains("scalapack");
    PlotRecipe recipe{
        .title = title,
        .x_label = "ScaLAPACK's blocks and the tiles",
        .y_label = "seconds",
        .panel =
            [](const Row& row) {
                return fmt::format("{}, n = {}, {} nodes", row.at("algorithm").get<std::string>(), row.at("n").dump(),
                                   row.at("nodes").dump());
            },
        .place = [](const Row& row) { return fmt::format("{} to {}", row.at("block").dump(), row.at("tile").dump()); },
        .series = {{"on_its_arrays", "Tesela on ScaLAPACK's arrays"},
                   {"on_tiles", "Tesela on its tiles"},
                   {"redistributed", "redistributed to tiles and back"}},
        .style = PlotStyle::bars,
        .columns = with_scalapack ? 2 : 3,
        .panel_width = 300};
    if (with_scalapack) recipe.series.insert(recipe.series.begin(), {"scalapack", "ScaLAPACK"});
    return plot_rows(recipe, rows);
}

}  // namespace

Experiment applications_experiment() {
    return {"applications", run, [](const std::vector<Row>& rows) {
                return plot(rows, "Paper 002, figure 18: ScaLAPACK's arrays through tiles and back");
            }};
}

Experiment simulated_applications_experiment() {
    return {
        .name = "applications_simulated",
        .run = run_simulated,
        .plot =
            [](const std::vector<Row>& rows) { return plot(rows, "Paper 002, figure 18, simulated on Shaheen II"); },
        .again = Experiment::Again{.remake = remake, .quick = [](const Row& row) {
                                       return row.at("n").get<Index>() <= 2 * quick_order && row.at("tile") == 960;
                                   }}};
}

}  // namespace tesela::bench
