#include "tesela/cli/commands.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/factor_options.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/overlap_option.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/simulated_run.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/mds/planning.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tesela::cli {
namespace {

/// What tiles of low rank are like, of operations that compute with them.
struct CompressionOptions {
    DensityOptions contents;
    Index sent_rank = 0;
};

struct FactorisationOptions {
    SimulateOptions run;
    CompressionOptions tiles;
    FactorOptions factor{};
};
struct EvaluationOptions {
    SimulateOptions run;
    CompressionOptions tiles;
    geo::OverlapChoice overlap{};
};
struct ScalingOptions {
    SimulateOptions run;
    mds::PlannedScaling scaling;
};

void add_compression_options(CLI::App& command, CompressionOptions& options) {
    add_density_options(command, options.contents);
    rarely_used(
        at_least(command.add_option("--sent-rank", options.sent_rank,
                                    "Messages with tiles of low rank are as long as with this rank; 0: as they need"),
                 Index{0})
            ->capture_default_str());
}

void add_product_options(CLI::App& command, FactorisationOptions& options) {
    add_compression_options(command, options.tiles);
    add_simulate_options(command, options.run);
}

void add_cholesky_options(CLI::App& command, FactorisationOptions& options) {
    add_product_options(command, options);
    add_factor_options(command, options.factor);
}

void add_evaluation_options(CLI::App& command, EvaluationOptions& options) {
    add_compression_options(command, options.tiles);
    add_simulate_options(command, options.run);
    add_simulated_overlap_option(command, options.overlap);
}

void add_scaling_options(CLI::App& command, ScalingOptions& options) {
    add_simulate_options(command, options.run);
    auto& scaling = options.scaling;
    add_choice(command, "--overlap", scaling.step, streaming_step_names,
               "How far phases overlap, from sync (not at all); each step adds to those before it");
    at_least(command.add_option("--columns", scaling.columns, "Random columns that the matrix is multiplied by"),
             Index{1})
        ->capture_default_str();
    at_least(command.add_option("--readers", scaling.readers,
                                "Reads at a time on a node, or as many as the platform's limit of them says where that "
                                "is less"),
             1)
        ->capture_default_str();
    at_least(command.add_option("--panel", scaling.panel_tiles,
                                "Columns of tiles that are read at a time, to take tiles from; 0: tiles are read"),
             Index{0})
        ->capture_default_str();
}

Platform platform_of(const SimulateOptions& options) { return read_platform(options.platform, options.nodes); }

/// An operation and the matrix whose tiles may be compressed.
struct NamedWork {
    std::string name;
    Operation operation;
    std::string matrix = operation_matrix;
};

SimulatedWork work_on(const SimulateOptions& options, const NamedWork& of, const DensityOptions& contents) {
    const RanksUse use{.tiles = options.tiles, .tile = options.tile, .operation = of.operation};
    return {.name = of.name, .operation = of.operation, .contents = tile_contents(contents, use, options.engine.seed)};
}

/// A product has several matrices, of which the trace knows each by its name.
RankModel ranks_of_product(const std::string& file) {
    const trace::Trace trace = read_trace_with_warnings("tesela", file);
    const std::vector<TracedRanks> known = traced_ranks(trace);
    if (known.size() == 1) throw Error("{} has ranks of one matrix, and a product has three", file);
    if (known.empty()) (void)ranks_of_matrix(trace, "", file);  // says so
    for (const TracedRanks& ranks : known) require_all_tiles(ranks, trace, file);
    return ranks_from_trace(trace);
}

RankModel ranks_of(const CompressionOptions& options, const TileContents& contents, const NamedWork& of) {
    const auto& [density, trace] = options.contents;
    if (of.operation == Operation::product && !trace.empty()) return ranks_of_product(trace);
    if (!trace.empty()) return ranks_from_maps({{of.matrix, contents.ranks}});
    return density == "dense" ? RankModel{} : ranks_from_density(contents.density, contents.tile);
}

SimulatedWork compressed_work(const SimulateOptions& options, const NamedWork& of, const CompressionOptions& tiles,
                              const Platform& platform) {
    const bool of_several = of.operation == Operation::product && !tiles.contents.ranks.empty();
    SimulatedWork work = work_on(options, of, of_several ? DensityOptions{} : tiles.contents);
    work.ranks = ranks_of(tiles, work.contents, of);
    if (!work.ranks.rank && tiles.sent_rank > 0)
        throw Error("--sent-rank is for tiles of low rank: give --density or --ranks");
    check_sent_rank(tiles.sent_rank, work.contents.tile);
    work.ranks.sent_rank = tiles.sent_rank;
    if (!tiles.contents.ranks.empty() && platform.recompression.empty())
        work.warnings.push_back(
            fmt::format("platform {} does not say how slow recompression is, and has it as fast as dense products: "
                        "compressed tiles come out two to four times too fast",
                        platform.name));
    return work;
}

int simulate_operation(Operation operation, const FactorisationOptions& options) {
    const Platform platform = platform_of(options.run);
    const NamedWork of{.name = std::string(name_in(operation_names, operation)), .operation = operation};
    SimulatedWork work = compressed_work(options.run, of, options.tiles, platform);
    const Index n = options.run.tiles * work.contents.tile;
    work.submit = [&, tiling = Tiling::square(n, work.contents.tile)](Stream& stream, const Distribution& owners) {
        run_operation(stream, operation, tiling, owners, options.factor);
    };
    return simulate(options.run, platform, work);
}

/// QR updates each tile in as many steps as LU.
int simulate_qr(const SimulateOptions& options) {
    SimulatedWork work = work_on(options, {.name = "qr", .operation = Operation::lu}, {});
    const Index n = options.tiles * work.contents.tile;
    work.submit = [tiling = Tiling::square(n, work.contents.tile)](Stream& stream, const Distribution& owners) {
        run_qr(stream, tiling, owners);
    };
    return simulate(options, platform_of(options), work);
}

int simulate_evaluation(const EvaluationOptions& options) {
    const Platform platform = platform_of(options.run);
    const NamedWork of{.name = "geo", .operation = Operation::cholesky, .matrix = geo::planned_matrix};
    SimulatedWork work = compressed_work(options.run, of, options.tiles, platform);
    const geo::PlannedEvaluation evaluation{
        .points = options.run.tiles * work.contents.tile, .tile = work.contents.tile, .overlap = options.overlap};
    if (evaluation.points < 2) throw Error("geo needs at least two points");
    work.critical = geo::critical_worker(options.overlap);
    work.overlap = geo::describe_overlap(options.overlap, platform);
    work.submit = [&](Stream& stream, const Distribution& owners) {
        geo::submit_evaluation(stream, evaluation, {owners, owners});
    };
    return simulate(options.run, platform, work);
}

/// Whole rows of tiles are on one node, as tesela mds has them.
int simulate_scaling(const ScalingOptions& options) {
    SimulatedWork work = work_on(options.run, {.name = "mds", .operation = Operation::product}, {});
    mds::PlannedScaling scaling = options.scaling;
    scaling.tile = work.contents.tile;
    scaling.points = options.run.tiles * scaling.tile;
    work.distribution = "1d";
    work.overlap = name_in(streaming_step_names, scaling.step);
    work.details = {{"columns", scaling.columns}, {"readers", scaling.readers}, {"panel", scaling.panel_tiles}};
    work.submit = [&](Stream& stream, const Distribution& owners) {
        mds::submit_scaling(stream, scaling, {read_owners(scaling.step, owners), owners});
    };
    return simulate(options.run, platform_of(options.run), work);
}

auto simulator_of(Operation operation) {
    return [operation](const FactorisationOptions& options) { return simulate_operation(operation, options); };
}

}  // namespace

Command simulate_command() {
    return {.name = "simulate",
            .summary = "Predict how long an algorithm takes on a cluster that a file describes",
            .commands = {
                command("cholesky", "Cholesky factorization", add_cholesky_options, simulator_of(Operation::cholesky)),
                command("lu", "LU factorization without pivoting", add_product_options, simulator_of(Operation::lu)),
                command("gemm", "Product of two matrices", add_product_options, simulator_of(Operation::product)),
                command("qr", "QR factorization", add_simulate_options, simulate_qr),
                command("geo", "One likelihood evaluation, as tesela fit makes them", add_evaluation_options,
                        simulate_evaluation),
                command("mds", "Distances that are read, their Gram matrix and its product with random columns",
                        add_scaling_options, simulate_scaling)}};
}

}  // namespace tesela::cli
