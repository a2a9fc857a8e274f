#include "tlr_switches_bench.hpp"

#include "checks.hpp"
#include "counted_bytes.hpp"
#include "part_table.hpp"
#include "sent_by_all.hpp"
#include "timing.hpp"

#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/factor_options.hpp"
#include "tesela/distribution/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

/// How long messages with compressed tiles are: as one of the largest rank, which paper 004 begins with, or as they
/// need.
enum class Messages { of_one_size, exact };

/// A way to run the factorisation, and what it came to.
struct Variant {
    std::string name;
    std::string distribution = "block_cyclic";
    Messages messages = Messages::of_one_size;
    FactorOptions factor{};
    Best best{};
    double bytes = 0;    ///< sent by all nodes
    double counted = 0;  ///< likewise, by the stream and the ranks
};

std::vector<Variant> variants_of(const TlrSwitchesOptions& options, Index nodes) {
    const FactorOptions& on = options.factor;
    std::vector<Variant> all{{.name = "none"}};
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
class Factored {
public:
    Factored(StarpuEngine& engine, const TlrSwitchesOptions& options)
        : engine_(engine),
          compression_(options.problem.compression()),
          covariances_(options.problem),
          tiling_(Tiling::square(options.problem.n, cli::tile_size(options.run, options.problem.n, engine))) {
        cli::check_sent_rank(compression_.sent_rank, tiling_.rows(0));
        // The largest rank is known when all are.
        if (compression_.sent_rank > 0) return;
        Variant first{.name = "none"};
        compression_.sent_rank = summarise_ranks(run(first), tiling_, Stored::lower).largest;
    }
    [[nodiscard]] const Tiling& tiling() const { return tiling_; }
    [[nodiscard]] Index sent_rank(const Variant& variant) const {
        return variant.messages == Messages::exact ? 0 : compression_.sent_rank;
    }
    /// One more run; returns the ranks of the factor.
    RankMap run(Variant& variant) const {
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
    [[nodiscard]] Distribution owners(const Variant& variant) const {
        return make_distribution(variant.distribution, tiling_.grid(), engine_.node_count(), Operation::cholesky);
    }
    [[nodiscard]] Compression compression(const Variant& variant) const {
        Compression result = compression_;
        result.sent_rank = sent_rank(variant);
        return result;
    }
    StarpuEngine& engine_;
    Compression compression_;
    CovarianceMatrix covariances_;
    Tiling tiling_;
};

const Variant& named(const std::vector<Variant>& variants, std::string_view name) {
    return *std::ranges::find(variants, name, &Variant::name);
}

}  // namespace

Json tlr_switches_benchmark(StarpuEngine& engine, const TlrSwitchesOptions& options) {
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1; it is {}", options.repetitions);
    require_alike(engine, options.problem, options.run.tile);
    const Factored factored(engine, options);
    const Index nodes = engine.node_count();
    std::vector<Variant> variants = variants_of(options, nodes);
    for (int k = 0; k < options.repetitions; ++k)
        for (Variant& variant : variants) (void)factored.run(variant);
    std::vector<Row> rows;
    double miscounted = 0;
    for (const Variant& variant : variants) {
        rows.push_back({{"nodes", nodes},
                        {"n", options.problem.n},
                        {"tile", factored.tiling().rows(0)},
                        {"switch", variant.name},
                        {"sent_rank", factored.sent_rank(variant)},
                        {"lookahead", variant.factor.lookahead},
                        {"diagonal_tile", variant.factor.diagonal_tile},
                        {"seconds", variant.best.seconds()},
                        {"over_none", variant.best.seconds() / variants.front().best.seconds()},
                        {"gbytes_sent", variant.bytes / 1e9}});
        miscounted = std::max(miscounted, std::abs(variant.bytes - variant.counted));
    }
    if (!options.table.empty() && engine.this_node() == NodeId{0}) PartTable(options.table, "nodes", rows).write();
    Json result{{"rows", rows}, {"checks", Json::array()}};
    if (nodes == 1) return result;
    result["checks"].push_back(at_most("bytes sent differ from those of the ranks by", miscounted, 0));
    result["checks"].push_back(at_most("bytes of exact messages over those of one size",
                                       named(variants, "exact messages").bytes / variants.front().bytes, 1));
    return result;
}

}  // namespace tesela::bench
