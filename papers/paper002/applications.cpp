// Section 8.7.2 of paper 002, figure 18: a program that keeps its matrices as ScaLAPACK does, and has Cholesky and
// products done in tiles, with a redistribution before and one after; measured beside ScaLAPACK on the nodes at hand,
// and simulated on as many nodes of Shaheen II as the paper had.

#include "harness/timing.hpp"
#include "paper002/section.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/scalapack.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <array>

namespace tesela::bench {
namespace {

enum class ApplicationKind { cholesky, gemm };
const char* application_name(ApplicationKind algorithm) {
    return algorithm == ApplicationKind::cholesky ? "cholesky" : "gemm";
}

/// ScaLAPACK's blocks and Tesela's tiles: the six panels of the figure are three of these for each algorithm.
struct ApplicationSizes {
    Index n = 0, block = 0, tile = 0;
};
std::vector<ApplicationSizes> sizes_of(Index n, Index large, Index small) {
    return {{n, large, large}, {n, large, small}, {n, small, large}};
}

/// C := Cholesky factor of C, in its lower triangle; or C := A·B.
struct Operands {
    Matrix<double> A, B, C;

    void submit(Stream& stream, ApplicationKind algorithm) const {
        if (algorithm == ApplicationKind::cholesky)
            cholesky(stream, C.lower());
        else
            gemm(stream, A.view(), B.view(), C.view());
    }
    /// The operands that the algorithm reads.
    void send_to(Stream& stream, ApplicationKind algorithm, const Operands& to) const {
        if (algorithm == ApplicationKind::cholesky) return send_result_to(stream, algorithm, to);
        redistribute(stream, A.view(), to.A.view());
        redistribute(stream, B.view(), to.B.view());
    }
    void send_result_to(Stream& stream, ApplicationKind algorithm, const Operands& to) const {
        if (algorithm == ApplicationKind::cholesky)
            redistribute(stream, C.lower(), to.C.lower());
        else
            redistribute(stream, C.view(), to.C.view());
    }
};

using MatrixMaker = std::function<Matrix<double>(const char* name)>;
Operands operands(const MatrixMaker& make) { return {make("A"), make("B"), make("C")}; }

Matrix<double> in_tiles(Stream& stream, const ApplicationSizes& sizes, const char* name,
                        std::function<TileMemory(TileIndex)> memory = {}) {
    const Tiling tiling = Tiling::square(sizes.n, sizes.tile);
    return {stream,
            tiling,
            squarest_block_cyclic(tiling.grid(), stream.engine().node_count()),
            {.name = name, .memory = std::move(memory)}};
}

// ------------------------------------------------------------------ on the nodes at hand

enum class ApplicationWay { scalapack, on_arrays, on_tiles, redistributed, count };
constexpr auto application_ways = static_cast<std::size_t>(ApplicationWay::count);

/// One panel of the figure at one size: all ways work on the same arrays.
class Application {
public:
    Application(StarpuEngine& engine, ApplicationKind algorithm, const ApplicationSizes& sizes)
        : engine_(engine),
          algorithm_(algorithm),
          sizes_(sizes),
          stream_(engine, {.name = "application"}),
          grid_(squarest_grid(engine.node_count())),
          a_(make()),
          b_(make()),
          c_(make()) {}

    double seconds(ApplicationWay way) {
        for (ScalapackMatrix* matrix : {&a_, &b_, &c_})
            matrix->generate(engine_.this_node(), [](ElementIndex at) { return dominant_element(nullptr, at); });
        if (way == ApplicationWay::scalapack) return scalapack_seconds();
        const Operands arrays{over_scalapack(stream_, a_.layout, a_.local.data(), "A"),
                              over_scalapack(stream_, b_.layout, b_.local.data(), "B"),
                              over_scalapack(stream_, c_.layout, c_.local.data(), "C")};
        if (way == ApplicationWay::on_arrays) return timed([&] { arrays.submit(stream_, algorithm_); });
        const Operands tiles = operands([&](const char* name) { return in_tiles(stream_, sizes_, name); });
        if (way == ApplicationWay::redistributed)
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
            if (algorithm_ == ApplicationKind::cholesky)
                pdpotrf(c_);
            else
                pdgemm(a_, b_, c_);
        }));
        set_blas_threads(before);
        engine_.resume();
        return seconds;
    }

    StarpuEngine& engine_;
    ApplicationKind algorithm_;
    ApplicationSizes sizes_;
    Stream stream_;
    BlacsGrid grid_;
    ScalapackMatrix a_, b_, c_;
};

/// The best time of each way, taken in turn.
std::array<double, application_ways> best_application_times(Laboratory& lab, ApplicationKind algorithm,
                                                            const ApplicationSizes& sizes) {
    Application application(lab.engine, algorithm, sizes);
    std::array<Best, application_ways> best;
    for (int round = 0; round <= lab.repetitions; ++round)
        for (std::size_t way = 0; way < application_ways; ++way) {
            const double seconds = application.seconds(static_cast<ApplicationWay>(way));
            if (round > 0) best[way].add(seconds);
        }
    std::array<double, application_ways> result{};
    for (std::size_t w = 0; w < application_ways; ++w) result[w] = best[w].seconds();
    return result;
}

std::vector<Row> measure_applications(Laboratory& lab) {
    if (!has_scalapack())
        throw Error("the experiment applications needs a tesela-papers that was built with ScaLAPACK");
    std::vector<Row> rows;
    for (const ApplicationKind algorithm : {ApplicationKind::cholesky, ApplicationKind::gemm})
        for (const Index n : lab.sized<std::vector<Index>>({1920, 3840}, {480}))
            for (const ApplicationSizes& sizes : sizes_of(n, lab.sized<Index>(960, 160), lab.sized<Index>(400, 60))) {
                const auto best = best_application_times(lab, algorithm, sizes);
                const auto of = [&](ApplicationWay way) { return best[static_cast<std::size_t>(way)]; };
                rows.push_back({{"nodes", lab.nodes()},
                                {"algorithm", application_name(algorithm)},
                                {"n", n},
                                {"block", sizes.block},
                                {"tile", sizes.tile},
                                {"scalapack", of(ApplicationWay::scalapack)},
                                {"on_its_arrays", of(ApplicationWay::on_arrays)},
                                {"on_tiles", of(ApplicationWay::on_tiles)},
                                {"redistributed", of(ApplicationWay::redistributed)},
                                {"overhead", of(ApplicationWay::redistributed) / of(ApplicationWay::on_tiles) - 1},
                                {"speedup", of(ApplicationWay::scalapack) / of(ApplicationWay::redistributed)}});
            }
    return rows;
}

// ------------------------------------------------------------------ simulated

constexpr Index quick_application_order = 9600;

double simulated_application_seconds(ApplicationKind algorithm, const ApplicationSizes& sizes, ApplicationWay way) {
    SimulatedEngine engine(read_platform("shaheen2", fmt::format("{}haswell", shaheen_nodes)));
    {
        Stream s(engine);
        const auto written = [](TileIndex) { return TileMemory{}; };
        const ApplicationSizes blocks{sizes.n, sizes.block, sizes.block};
        const Operands arrays = operands([&](const char* name) { return in_tiles(s, blocks, name, written); });
        const Operands tiles = operands([&](const char* name) {
            return way == ApplicationWay::on_tiles ? in_tiles(s, sizes, name, written) : in_tiles(s, sizes, name);
        });
        if (way == ApplicationWay::redistributed) arrays.send_to(s, algorithm, tiles);
        (way == ApplicationWay::on_arrays ? arrays : tiles).submit(s, algorithm);
        if (way == ApplicationWay::redistributed) tiles.send_result_to(s, algorithm, arrays);
        require_done(s.wait());
    }
    return engine.result().makespan;
}

Row simulated_application_row(ApplicationKind algorithm, const ApplicationSizes& sizes) {
    const double on_arrays = simulated_application_seconds(algorithm, sizes, ApplicationWay::on_arrays);
    const double on_tiles = simulated_application_seconds(algorithm, sizes, ApplicationWay::on_tiles);
    const double redistributed = simulated_application_seconds(algorithm, sizes, ApplicationWay::redistributed);
    return {{"platform", "shaheen2"},
            {"nodes", shaheen_nodes},
            {"algorithm", application_name(algorithm)},
            {"n", sizes.n},
            {"block", sizes.block},
            {"tile", sizes.tile},
            {"on_its_arrays", on_arrays},
            {"on_tiles", on_tiles},
            {"redistributed", redistributed},
            {"overhead", redistributed / on_tiles - 1},
            {"speedup", on_arrays / redistributed}};
}

Row remake_application(const Row& row) {
    const auto number = [&](const char* column) { return row.at(column).get<Index>(); };
    return simulated_application_row(row.at("algorithm") == application_name(ApplicationKind::cholesky)
                                         ? ApplicationKind::cholesky
                                         : ApplicationKind::gemm,
                                     {number("n"), number("block"), number("tile")});
}

std::vector<Row> simulate_applications(Laboratory& lab) {
    std::vector<Row> rows;
    const auto orders = [&](ApplicationKind algorithm) -> std::vector<Index> {
        if (lab.scope == Scope::quick) return {quick_application_order};
        // Products have n³ tasks where Cholesky has n³/6.
        return algorithm == ApplicationKind::cholesky ? std::vector<Index>{19200, 38400, 57600}
                                                      : std::vector<Index>{9600, 19200, 28800};
    };
    for (const ApplicationKind algorithm : {ApplicationKind::cholesky, ApplicationKind::gemm})
        for (const Index n : orders(algorithm))
            for (const ApplicationSizes& sizes : sizes_of(n, 960, 400))
                rows.push_back(simulated_application_row(algorithm, sizes));
    return rows;
}

PanelPlot plot_applications(const std::vector<Row>& rows, const std::string& title) {
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

Section applications_section() {
    return {"applications", measure_applications, [](const std::vector<Row>& rows) {
                return plot_applications(rows, "Paper 002, figure 18: ScaLAPACK's arrays through tiles and back");
            }};
}

Section simulated_applications_section() {
    return {.name = "applications_simulated",
            .run = simulate_applications,
            .plot =
                [](const std::vector<Row>& rows) {
                    return plot_applications(rows, "Paper 002, figure 18, simulated on Shaheen II");
                },
            .again = Section::Again{.remake = remake_application, .quick = [](const Row& row) {
                                        return row.at("n").get<Index>() <= 2 * quick_application_order &&
                                               row.at("tile") == 960;
                                    }}};
}

}  // namespace tesela::bench
