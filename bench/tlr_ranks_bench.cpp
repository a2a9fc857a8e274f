#include "tlr_ranks_bench.hpp"

#include "covariance_problem.hpp"
#include "part_table.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/report/rank_map.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A matrix of figure 2: points in so many dimensions, and its tiles as tasks.
struct Case {
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

const std::vector<Case>& all_cases() {
    static const std::vector<Case> cases{
        {"syn-2D", "sin(50 r)/(50 r) in the unit square", 2, generate_synthetic},
        {"st-2D-sqexp", "squared exponential, range 0.1, in the unit square", 2, generate_covariances},
        {"st-3D-sqexp", "squared exponential, range 0.1, in the unit cube", 3, generate_covariances}};
    return cases;
}

std::vector<Case> chosen_cases(const std::vector<std::string>& names) {
    if (names.empty()) return all_cases();
    std::vector<Case> chosen;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(all_cases(), name, &Case::name);
        if (found == all_cases().end())
            throw Error("--cases has {}; it takes some of {}", name, fmt::join(tlr_rank_cases(), ", "));
        chosen.push_back(*found);
    }
    return chosen;
}

CovarianceProblem problem_of(const Case& of, const TlrRanksOptions& options) {
    return {.n = options.n,
            .family = CovarianceFamily::squared_exponential,
            .theta = {.sigma2 = 1, .range = 0.1, .smoothness = 1.5, .nugget = 1e-4},
            .dimensions = of.dimensions,
            .accuracy = options.accuracy};
}

/// What came of a case.
struct Ranks {
    RankMaps maps;
    RankSummary initial;
    RankSummary last;
    double seconds = 0;
};

Ranks factored(StarpuEngine& engine, const Case& of, const TlrRanksOptions& options) {
    const CovarianceProblem problem = problem_of(of, options);
    const CovarianceMatrix covariances(problem);
    const Index tile = cli::is_automatic_tile(options.run.tile) ? 500 : cli::parse_tile(options.run.tile);
    Stream s(engine);
    const Matrix<double> A = matrix_of(s, options.n, tile, problem.compression());
    Ranks ranks{.maps = {.title = fmt::format("{}: {}; {} points, tiles of {}, accuracy {:.0e}", of.name, of.title,
                                              options.n, tile, options.accuracy),
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

Row row_of(const Case& of, const TlrRanksOptions& options, const Ranks& ranks) {
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

}  // namespace

std::vector<std::string> tlr_rank_cases() {
    std::vector<std::string> names;
    for (const Case& one : all_cases()) names.push_back(one.name);
    return names;
}

Json tlr_ranks_benchmark(StarpuEngine& engine, const TlrRanksOptions& options) {
    Json result{{"rows", Json::array()}, {"checks", Json::array()}};
    for (const Case& of : chosen_cases(options.cases)) {
        const Ranks ranks = factored(engine, of, options);
        const Row row = row_of(of, options, ranks);
        result["rows"].push_back(row);
        if (engine.this_node() != NodeId{0}) continue;
        write_file(fmt::format("{}/tlr_ranks_{}.svg", options.folder, of.name), draw_rank_maps(ranks.maps));
        PartTable(options.folder + "/tlr_ranks.csv", "case", {row}).write();
    }
    return result;
}

}  // namespace tesela::bench
