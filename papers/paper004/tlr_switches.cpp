#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/part_table.hpp"
#include "harness/timing.hpp"
#include "paper004/counted_bytes.hpp"
#include "paper004/switched_cholesky.hpp"
#include "shared/covariance_problem.hpp"
#include "shared/sent_by_all.hpp"

#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

struct TlrSwitchesOptions {
    CovarianceProblem problem;
    /// What is turned on, one at a time and all together.
    SwitchedFactor factor{.lookahead = 5, .diagonal_tile = 300};
    int repetitions = 5;
    std::string table;  ///< empty: none
    Index tile = 0;
    EngineOptions engine;
};

void add_tlr_switches_options(CLI::App& command, TlrSwitchesOptions& options) {
    add_problem_options(command, options.problem);
    command
        .add_option("--lookahead", options.factor.lookahead,
                    "Cholesky: solves further than so many tiles from the diagonal wait until the next diagonal tile "
                    "is updated; 0: they do not wait")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--diagonal-tile", options.factor.diagonal_tile,
                    "Cholesky: diagonal tiles are factorised as tiles of this size; 0: each by one task")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    command.add_option("--table", options.table, "CSV file for the results; rows of other numbers of nodes stay");
    add_tile_option(command, options.tile);
    add_engine_options(command, options.engine);
}

/// A way to run the factorisation, and what it came to.
struct SwitchVariant {
    std::string name;
    std::string distribution = "block_cyclic";
    SwitchedFactor factor{};
    Best best{};
    double bytes = 0;    ///< sent by all nodes
    double counted = 0;  ///< likewise, by the stream and the ranks
};

std::vector<SwitchVariant> variants_of(const TlrSwitchesOptions& options, Index nodes) {
    const SwitchedFactor& on = options.factor;
    std::vector<SwitchVariant> all{{.name = "none"}};
    if (nodes > 1) all.push_back({.name = "band", .distribution = "band:1"});
    all.push_back({.name = "lookahead", .factor = {.lookahead = on.lookahead}});
    all.push_back({.name = "diagonal in parts", .factor = {.diagonal_tile = on.diagonal_tile}});
    all.push_back({.name = "all",
                   .distribution = nodes > 1 ? "band:1" : "block_cyclic",
                   .factor = {.lookahead = on.lookahead, .diagonal_tile = on.diagonal_tile}});
    return all;
}

/// The matrix that all variants factor.
class SwitchedMatrix {
public:
    SwitchedMatrix(StarpuEngine& engine, const TlrSwitchesOptions& options)
        : engine_(engine),
          compression_(options.problem.compression()),
          covariances_(options.problem),
          tiling_(Tiling::square(options.problem.n, tile_size(options.tile, options.problem.n, engine))) {}
    [[nodiscard]] const Tiling& tiling() const { return tiling_; }
    /// One more run.
    void run(SwitchVariant& variant) const {
        Stream s(engine_);
        const Matrix<double> A(s, tiling_, owners(variant), {.stored = Stored::lower, .compression = compression_});
        covariances_.generate(s, A);
        require_done(s.wait());
        const double before = sent_by_all(engine_).bytes;
        variant.best.add(engine_.max(seconds_of([&] {
            switched_cholesky(s, A, variant.factor);
            require_done(s.wait());
        })));
        variant.bytes = sent_by_all(engine_).bytes - before;
        variant.counted = counted_bytes({Operation::cholesky, tiling_, owners(variant), compression_, variant.factor},
                                        tile_ranks(s, A));
    }

private:
    [[nodiscard]] Distribution owners(const SwitchVariant& variant) const {
        return make_distribution(variant.distribution, tiling_.grid(), engine_.node_count(), Operation::cholesky);
    }
    StarpuEngine& engine_;
    Compression compression_;
    CovarianceMatrix covariances_;
    Tiling tiling_;
};

/// Times of the factorisation and bytes that were sent: without any switch, with each and with all, in turn.
Report run_tlr_switches(const TlrSwitchesOptions& options) {
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1; it is {}", options.repetitions);
    const auto engine = start_engine(options.engine);
    require_alike(*engine, options.problem, fmt::format("{}", options.tile));
    const SwitchedMatrix matrix(*engine, options);
    const Index nodes = engine->node_count();
    std::vector<SwitchVariant> variants = variants_of(options, nodes);
    for (int k = 0; k < options.repetitions; ++k)
        for (SwitchVariant& variant : variants) matrix.run(variant);
    Report report;
    double miscounted = 0;
    for (const SwitchVariant& variant : variants) {
        report.rows.push_back({{"nodes", nodes},
                               {"n", options.problem.n},
                               {"tile", matrix.tiling().rows(0)},
                               {"switch", variant.name},
                               {"lookahead", variant.factor.lookahead},
                               {"diagonal_tile", variant.factor.diagonal_tile},
                               {"seconds", variant.best.seconds()},
                               {"over_none", variant.best.seconds() / variants.front().best.seconds()},
                               {"gbytes_sent", variant.bytes / 1e9}});
        miscounted = std::max(miscounted, std::abs(variant.bytes - variant.counted));
    }
    if (!options.table.empty() && engine->is_first()) PartTable(options.table, "nodes", report.rows).write();
    if (nodes > 1) report.checks = {at_most("bytes sent differ from those of the ranks by", miscounted, 0)};
    return report;
}

}  // namespace

Experiment tlr_switches() {
    return experiment("tlr-switches",
                      "What paper 004's optimisations of a compressed Cholesky gain here: without any, each alone, "
                      "all; exit code 1 if messages have other bytes than ranks say",
                      add_tlr_switches_options, run_tlr_switches);
}

}  // namespace tesela::bench
