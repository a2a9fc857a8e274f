#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "harness/part_table.hpp"
#include "harness/timing.hpp"
#include "shared/covariance_problem.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/pictures/rank_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tesela::bench {
namespace {

/// A matrix of figure 2, by the paper's name: points in so many dimensions, and its tiles as tasks.
struct RankCase {
    std::string name;
    std::string title;
    Index dimensions = 2;
    std::function<void(Stream&, const Matrix<double>&, const CovarianceMatrix&)> generate;
};

/// sin(κr)/(κr) with κ = 50, and 1e-4 more on the diagonal. The paper does not give its synthetic matrix; this is the
/// smooth oscillating one of the library that it uses.
void generate_synthetic(Stream& s, const Matrix<double>& A, const CovarianceMatrix& covariances) {
    constexpr double wave_number = 50;
    constexpr double nugget = 1e-4;
    tesela::generate(s, A.lower(), [&points = covariances.points()](Index i, Index j) {
        if (i == j) return 1 + nugget;
        const double phase = wave_number * distance(points, i, points, j);
        return phase > 0 ? std::sin(phase) / phase : 1.0;
    });
}

void generate_covariances(Stream& s, const Matrix<double>& A, const CovarianceMatrix& covariances) {
    covariances.generate(s, A);
}

const std::vector<RankCase>& rank_cases() {
    static const std::vector<RankCase> cases{
        {"syn-2D", "sin(50 r)/(50 r) in the unit square", 2, generate_synthetic},
        {"st-2D-sqexp", "squared exponential, range 0.1, in the unit square", 2, generate_covariances},
        {"st-3D-sqexp", "squared exponential, range 0.1, in the unit cube", 3, generate_covariances}};
    return cases;
}

std::vector<std::string> rank_case_names() {
    std::vector<std::string> names;
    for (const RankCase& one : rank_cases()) names.push_back(one.name);
    return names;
}

struct TlrRanksOptions {
    Index n = 20000;
    double accuracy = 1e-8;
    std::vector<std::string> cases;  ///< none: all
    std::string folder = "docs/tables";
    Index tile = 500;
    EngineOptions engine;
};

void add_tlr_ranks_options(CLI::App& command, TlrRanksOptions& options) {
    command.add_option("--n", options.n, "Points, on a grid of which each is moved a little")->capture_default_str();
    command.add_option("--accuracy", options.accuracy, "Of a tile, in the Frobenius norm")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    comma_separated(
        command.add_option("--cases", options.cases, fmt::format("Some of {}", fmt::join(rank_case_names(), ","))));
    command.add_option("--folder", options.folder, "Where the files go")->capture_default_str();
    command.add_option("--tile", options.tile, "Tile size")->check(CLI::PositiveNumber)->capture_default_str();
    add_engine_options(command, options.engine);
}

std::vector<RankCase> chosen_rank_cases(const std::vector<std::string>& names) {
    if (names.empty()) return rank_cases();
    std::vector<RankCase> chosen;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(rank_cases(), name, &RankCase::name);
        if (found == rank_cases().end())
            throw Error("--cases has {}; it takes some of {}", name, fmt::join(rank_case_names(), ", "));
        chosen.push_back(*found);
    }
    return chosen;
}

CovarianceProblem problem_of(const RankCase& of, const TlrRanksOptions& options) {
    return {.n = options.n,
            .family = CovarianceFamily::squared_exponential,
            .theta = {.sigma2 = 1, .range = 0.1, .smoothness = 1.5, .nugget = 1e-4},
            .dimensions = of.dimensions,
            .accuracy = options.accuracy};
}

/// What came of a case.
struct RanksOfCase {
    RankMaps maps;
    RankSummary initial;
    RankSummary last;
    double seconds = 0;
};

RanksOfCase factored_ranks(StarpuEngine& engine, const RankCase& of, const TlrRanksOptions& options) {
    const CovarianceProblem problem = problem_of(of, options);
    const CovarianceMatrix covariances(problem);
    Stream s(engine);
    const Matrix<double> A = matrix_of(s, options.n, options.tile, problem.compression());
    RanksOfCase ranks{.maps = {.title = fmt::format("{}: {}; {} points, tiles of {}, accuracy {:.0e}", of.name,
                                                    of.title, options.n, options.tile, options.accuracy),
                               .tiling = A.tiling(),
                               .stored = Stored::lower,
                               .initial = {},
                               .last = {}},
                      .initial = {},
                      .last = {}};
    ranks.seconds = engine.max(seconds_of([&] {
        of.generate(s, A, covariances);
        require_done(s.wait());
    }));
    ranks.maps.initial = tile_ranks(s, A);
    ranks.seconds += engine.max(seconds_of([&] {
        cholesky(s, A);
        require_done(s.wait());
    }));
    ranks.maps.last = tile_ranks(s, A);
    ranks.initial = summarise_ranks(ranks.maps.initial, A.tiling(), Stored::lower);
    ranks.last = summarise_ranks(ranks.maps.last, A.tiling(), Stored::lower);
    return ranks;
}

Row rank_row(const RankCase& of, const TlrRanksOptions& options, const RanksOfCase& ranks) {
    return {
        {"case", of.name},
        {"n", options.n},
        {"tile", ranks.maps.tiling.rows(0)},
        {"accuracy", options.accuracy},
        {"tiles", ranks.last.tiles},
        {"compressed_initial", ranks.initial.compressed},
        {"compressed_final", ranks.last.compressed},
        {"mean_initial", ranks.initial.mean},
        {"max_initial", ranks.initial.largest},
        {"mean_final", ranks.last.mean},
        {"max_final", ranks.last.largest},
        {"max_over_mean_final", ranks.last.mean > 0 ? static_cast<double>(ranks.last.largest) / ranks.last.mean : 0},
        {"bytes_initial", ranks.initial.bytes},
        {"bytes_final", ranks.last.bytes},
        {"dense_bytes", ranks.last.dense_bytes},
        {"seconds", ranks.seconds}};
}

/// Where one case is run the rows of others stay in the table.
Report run_tlr_ranks(const TlrRanksOptions& options) {
    const std::vector<RankCase> cases = chosen_rank_cases(options.cases);
    const auto engine = start_engine(options.engine);
    Report report;
    for (const RankCase& of : cases) {
        const RanksOfCase ranks = factored_ranks(*engine, of, options);
        const Row row = rank_row(of, options, ranks);
        report.rows.push_back(row);
        if (!engine->is_first()) continue;
        write_file(fmt::format("{}/tlr_ranks_{}.svg", options.folder, of.name), draw_rank_maps(ranks.maps));
        PartTable(options.folder + "/tlr_ranks.csv", "case", {row}).write();
    }
    return report;
}

}  // namespace

Experiment tlr_ranks() {
    return experiment("tlr-ranks",
                      "Figure 2 of paper 004: ranks of compressed matrices before and after their Cholesky "
                      "factorisation, as pictures and a table",
                      add_tlr_ranks_options, run_tlr_ranks);
}

}  // namespace tesela::bench
