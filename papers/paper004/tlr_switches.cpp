#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/part_table.hpp"
#include "harness/timing.hpp"
#include "paper004/counted_bytes.hpp"
#include "shared/covariance_problem.hpp"
#include "shared/sent_by_all.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/kernels/tile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::bench {
namespace {

struct TlrSwitchesOptions {
    CovarianceProblem problem;
    /// What is turned on, one at a time and all together.
    FactorOptions factor{.lookahead = 5, .diagonal_tile = 300};
    int repetitions = 5;
    std::string table;  ///< empty: none
    Index tile = 0;
    EngineOptions engine;
};

void add_tlr_switches_options(CLI::App& command, TlrSwitchesOptions& options) {
    add_problem_options(command, options.problem);
    command
        .add_option("--sent-rank", options.problem.sent_rank,
                    "Columns that messages with compressed tiles have at least where they are not exact; 0: the "
                    "largest rank of all tiles")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
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

/// More columns would make messages longer than whole tiles, which sent_shape never lets them be.
void check_sent_rank(Index sent_rank, Index tile) {
    const Index most = sent_shape({tile, tile, 0}, sent_rank).rank;
    if (sent_rank > most)
        throw Error("--sent-rank must be at most {}, with which messages are as long as a whole tile of {}; it is {}",
                    most, tile, sent_rank);
}

/// How long messages with compressed tiles are: as one of the largest rank, which paper 004 begins with, or as they
/// need.
enum class Messages { of_one_size, exact };

/// A way to run the factorisation, and what it came to.
struct SwitchVariant {
    std::string name;
    std::string distribution = "block_cyclic";
    Messages messages = Messages::of_one_size;
    FactorOptions factor{};
    Best best{};
    double bytes = 0;    ///< sent by all nodes
    double counted = 0;  ///< likewise, by the stream and the ranks
};

std::vector<SwitchVariant> variants_of(const TlrSwitchesOptions& options, Index nodes) {
    const FactorOptions& on = options.factor;
    std::vector<SwitchVariant> all{{.name = "none"}};
    if (nodes > 1) {
        all.push_back({.name = "band", .distribution = "band:1"});
        all.push_back({.name = "exact messages", .messages = Messages::exact});
    }
    all.push_back({.name = "lookahead", .factor = {.lookahead = on.lookahead}});
    all.push_back({.name = "diagonal in parts", .factor = {.diagonal_tile = on.diagonal_tile}});
    all.push_back({.name = "all",
                   .distribution = nodes > 1 ? "band:1" : "block_cyclic",
                   .messages = Messages::exact,
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
          tiling_(Tiling::square(options.problem.n, tile_size(options.tile, options.problem.n, engine))) {
        check_sent_rank(compression_.sent_rank, tiling_.rows(0));
        // The largest rank is known when all are.
        if (compression_.sent_rank > 0) return;
        SwitchVariant first{.name = "none"};
        compression_.sent_rank = summarise_ranks(run(first), tiling_, Stored::lower).largest;
    }
    [[nodiscard]] const Tiling& tiling() const { return tiling_; }
    [[nodiscard]] Index sent_rank(const SwitchVariant& variant) const {
        return variant.messages == Messages::exact ? 0 : compression_.sent_rank;
    }
    /// One more run; returns the ranks of the factor.
    RankMap run(SwitchVariant& variant) const {
        Stream s(engine_);
        const Matrix<double> A(s, tiling_, owners(variant),
                               {.stored = Stored::lower, .compression = compression(variant)});
        covariances_.generate(s, A);
        require_done(s.wait());
        const double before = sent_by_all(engine_).bytes;
        variant.best.add(engine_.max(seconds_of([&] {
            cholesky(s, A, variant.factor);
            require_done(s.wait());
        })));
        variant.bytes = sent_by_all(engine_).bytes - before;
        RankMap ranks = tile_ranks(s, A);
        variant.counted =
            counted_bytes({Operation::cholesky, tiling_, owners(variant), compression(variant), variant.factor}, ranks);
        return ranks;
    }

private:
    [[nodiscard]] Distribution owners(const SwitchVariant& variant) const {
        return make_distribution(variant.distribution, tiling_.grid(), engine_.node_count(), Operation::cholesky);
    }
    [[nodiscard]] Compression compression(const SwitchVariant& variant) const {
        Compression result = compression_;
        result.sent_rank = sent_rank(variant);
        return result;
    }
    StarpuEngine& engine_;
    Compression compression_;
    CovarianceMatrix covariances_;
    Tiling tiling_;
};

const SwitchVariant& variant_named(const std::vector<SwitchVariant>& variants, std::string_view name) {
    return *std::ranges::find(variants, name, &SwitchVariant::name);
}

/// Times of the factorisation and bytes that were sent: without any switch, with each and with all, in turn. Without
/// exact messages these have the rank `problem.sent_rank`, or the largest of all where that is 0.
Report run_tlr_switches(const TlrSwitchesOptions& options) {
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1; it is {}", options.repetitions);
    const auto engine = start_engine(options.engine);
    require_alike(*engine, options.problem, fmt::format("{}", options.tile));
    const SwitchedMatrix matrix(*engine, options);
    const Index nodes = engine->node_count();
    std::vector<SwitchVariant> variants = variants_of(options, nodes);
    for (int k = 0; k < options.repetitions; ++k)
        for (SwitchVariant& variant : variants) (void)matrix.run(variant);
    Report report;
    double miscounted = 0;
    for (const SwitchVariant& variant : variants) {
        report.rows.push_back({{"nodes", nodes},
                               {"n", options.problem.n},
                               {"tile", matrix.tiling().rows(0)},
                               {"switch", variant.name},
                               {"sent_rank", matrix.sent_rank(variant)},
                               {"lookahead", variant.factor.lookahead},
                               {"diagonal_tile", variant.factor.diagonal_tile},
                               {"seconds", variant.best.seconds()},
                               {"over_none", variant.best.seconds() / variants.front().best.seconds()},
                               {"gbytes_sent", variant.bytes / 1e9}});
        miscounted = std::max(miscounted, std::abs(variant.bytes - variant.counted));
    }
    if (!options.table.empty() && engine->is_first()) PartTable(options.table, "nodes", report.rows).write();
    if (nodes > 1)
        report.checks = {at_most("bytes sent differ from those of the ranks by", miscounted, 0),
                         at_most("bytes of exact messages over those of one size",
                                 variant_named(variants, "exact messages").bytes / variants.front().bytes, 1)};
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
