#include "tlr_switches_bench.hpp"

#include "checks.hpp"
#include "part_table.hpp"
#include "timing.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/flow/recording.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A way to run the factorisation, and what it came to.
struct Variant {
    std::string name;
    std::string distribution = "block_cyclic";
    FactorOptions factor{};
    Best best{};
    double bytes = 0;  ///< sent by all nodes
    Index largest_rank = 0;
};

std::vector<Variant> variants_of(const TlrSwitchesOptions& options, Index nodes) {
    const FactorOptions& on = options.factor;
    std::vector<Variant> all{{.name = "none"}};
    if (nodes > 1) all.push_back({.name = "band", .distribution = "band:1"});
    all.push_back({.name = "lookahead", .factor = {.lookahead = on.lookahead}});
    all.push_back({.name = "diagonal in parts", .factor = {.diagonal_tile = on.diagonal_tile}});
    all.push_back({.name = "all",
                   .distribution = nodes > 1 ? "band:1" : "block_cyclic",
                   .factor = {.lookahead = on.lookahead, .diagonal_tile = on.diagonal_tile}});
    return all;
}

double bytes_sent(StarpuEngine& engine) {
    double here = 0;
    for (const StarpuEngine::Sent& sent : engine.sent()) here += static_cast<double>(sent.bytes);
    double all = 0;
    for (const double node : engine.gather(here)) all += node;
    return all;
}

/// What the messages of a factorisation have if all compressed tiles travel with one rank: counted over the stream.
double padded_bytes(const Tiling& tiling, const Variant& variant, Index nodes, Index dense_band) {
    RecordingEngine engine(nodes);
    {
        Stream s(engine);
        run_operation(s, Operation::cholesky, tiling,
                      make_distribution(variant.distribution, tiling.grid(), nodes, Operation::cholesky),
                      variant.factor);
    }
    const Recording recording = engine.take();
    double bytes = 0;
    for (const Transfer& message : list_transfers(recording)) {
        const RecordedDatum& tile = recording.data[static_cast<std::size_t>(message.datum)];
        TileShape shape = tile.shape;
        if (std::abs(tile.index.i - tile.index.j) >= dense_band) shape.rank = variant.largest_rank;
        bytes += is_token(tile) ? message.bytes : tile_bytes(shape, message.bytes);
    }
    return bytes;
}

}  // namespace

Json tlr_switches_benchmark(StarpuEngine& engine, const TlrSwitchesOptions& options) {
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1; it is {}", options.repetitions);
    const CovarianceProblem& problem = options.problem;
    const CovarianceMatrix covariances(problem);
    const Tiling tiling = Tiling::square(problem.n, cli::tile_size(options.run, problem.n, engine));
    const Index nodes = engine.node_count();
    std::vector<Variant> variants = variants_of(options, nodes);
    for (int k = 0; k < options.repetitions; ++k)
        for (Variant& variant : variants) {
            Stream s(engine);
            const Matrix<double> A(s, tiling,
                                   make_distribution(variant.distribution, tiling.grid(), nodes, Operation::cholesky),
                                   {.stored = Stored::lower, .compression = problem.compression()});
            covariances.generate(s, A);
            require(s.wait());
            const double before = bytes_sent(engine);
            variant.best.add(engine.max(seconds_of([&] {
                cholesky(s, A, variant.factor);
                require(s.wait());
            })));
            variant.bytes = bytes_sent(engine) - before;
            if (k == 0) variant.largest_rank = summarise_ranks(tile_ranks(s, A), tiling, Stored::lower).largest;
        }
    std::vector<Row> rows;
    for (const Variant& variant : variants)
        rows.push_back(
            {{"nodes", nodes},
             {"n", problem.n},
             {"tile", tiling.rows(0)},
             {"switch", variant.name},
             {"lookahead", variant.factor.lookahead},
             {"diagonal_tile", variant.factor.diagonal_tile},
             {"seconds", variant.best.seconds()},
             {"over_none", variant.best.seconds() / variants.front().best.seconds()},
             {"gbytes_sent", variant.bytes / 1e9},
             {"gbytes_of_largest_rank", padded_bytes(tiling, variant, nodes, problem.compression().dense_band) / 1e9}});
    if (!options.table.empty() && engine.this_node() == NodeId{0}) PartTable(options.table, "nodes", rows).write();
    Json result{{"rows", rows}, {"checks", Json::array()}};
    if (nodes > 1)
        result["checks"].push_back(at_most(
            "bytes sent over those of messages with the largest rank",
            rows.front().at("gbytes_sent").get<double>() / rows.front().at("gbytes_of_largest_rank").get<double>(), 1));
    return result;
}

}  // namespace tesela::bench
