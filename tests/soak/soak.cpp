#include "harness/engine_options.hpp"
#include "harness/resident_memory.hpp"
#include "harness/timing.hpp"
#include "shared/some_observations.hpp"
#include "soak/experiments.hpp"
#include "soak/wandering_tiles.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/geo/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace tesela::bench {
namespace {

constexpr double growth_limit = 5e6;  // bytes

struct SoakOptions {
    Index messages = 10'000'000;
    Index streams = 100'000;
    Index likelihoods = 50;
    Index points = 2000;
    EngineOptions engine;
};

void add_soak_options(CLI::App& command, SoakOptions& options) {
    command
        .add_option("--messages", options.messages,
                    "Messages between nodes in one stream, all nodes together; 0: none. Needs mpirun -n 2 or more")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--streams", options.streams,
                    "Streams opened and closed one after another; 0: none. Needs mpirun -n 2 or more")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--likelihoods", options.likelihoods,
                    "Log-likelihoods of a compressed covariance matrix one after another; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_option("--points", options.points, "Observations of each of them")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_engine_options(command, options.engine);
}

/// Time and memory of a long piece of work: the largest over the nodes.
struct Endurance {
    double seconds = 0;
    double resident_after_tenth = 0;
    double resident_at_end = 0;
    double growth = 0;
};

/// How much there is to do; what the first pieces take, such as memory that is used again and again, is no growth.
struct Amount {
    Index pieces = 1;
    Index first = 1;
};

/// Does the pieces by work(first, last), which returns when they are done on every node.
template <class Work>
Endurance endure(StarpuEngine& engine, Amount amount, Work work) {
    Endurance result;
    const Index count = amount.pieces;
    const Index tenth = std::min(count, std::max(amount.first, count / 10));
    result.seconds = seconds_of([&] { work(Index{0}, tenth); });
    const double before = resident_bytes();
    result.seconds += seconds_of([&] { work(tenth, count); });
    const double after = resident_bytes();
    result.seconds = engine.max(result.seconds);
    result.resident_after_tenth = engine.max(before);
    result.resident_at_end = engine.max(after);
    result.growth = engine.max(after - before);
    return result;
}

/// Adds what was measured under names that begin with that of the part.
void add_endurance(Report& report, const std::string& part, const Endurance& endurance) {
    report.figures[part + "_seconds"] = endurance.seconds;
    report.figures[part + "_resident_bytes_after_tenth"] = endurance.resident_after_tenth;
    report.figures[part + "_resident_bytes_at_end"] = endurance.resident_at_end;
    report.figures[part + "_growth_bytes"] = endurance.growth;
    report.checks.push_back(at_most("bytes by which memory grew under " + part, endurance.growth, growth_limit));
}

void soak_messages(StarpuEngine& engine, const SoakOptions& options, Report& report) {
    WanderingTiles tiles(engine);
    const Index rounds = tiles.rounds_for(options.messages);
    ProgressLine progress;
    const Endurance endurance =
        endure(engine, {rounds, WanderingTiles::rounds_to_settle}, [&](Index first, Index last) {
            for (Index round = first; round < last; ++round) {
                tiles.run_round();
                progress.show("messages", tiles.messages(), options.messages);
            }
            tiles.wait();
        });
    report.figures["messages"] = tiles.messages();
    report.figures["messages_per_second"] = static_cast<double>(tiles.messages()) / endurance.seconds;
    add_endurance(report, "messages", endurance);
    report.checks.push_back(at_most("values that are wrong", static_cast<double>(tiles.wrong_values()), 0));
}

/// A stream of few tasks on tiles of all nodes, from its beginning to its end.
void run_short_stream(StarpuEngine& engine) {
    const Index nodes = engine.node_count();
    Stream stream(engine, {.name = "short"});
    const Matrix<double> matrix(stream, Tiling::uniform({8 * nodes, 8}, {8, 8}), one_tile_per_node(nodes));
    fill(stream, matrix.view(), {.off_diagonal = 1, .diagonal = 1});
    for (Index node = 0; node < nodes; ++node) stream.submit(add_tile(matrix((node + 1) % nodes, 0), matrix(node, 0)));
    require_done(stream.wait());
}

void soak_streams(StarpuEngine& engine, const SoakOptions& options, Report& report) {
    ProgressLine progress;
    const Endurance endurance = endure(engine, {.pieces = options.streams}, [&](Index first, Index last) {
        for (Index stream = first; stream < last; ++stream) {
            run_short_stream(engine);
            progress.show("streams", stream + 1, options.streams);
        }
    });
    report.figures["streams"] = options.streams;
    report.figures["streams_per_second"] = static_cast<double>(options.streams) / endurance.seconds;
    add_endurance(report, "streams", endurance);
}

/// Log-likelihoods as a fit asks for them: the parameters of the next are others, and ranks with them. Every sixth has
/// the parameters of the first again, and must be the same.
void soak_likelihoods(StarpuEngine& engine, const SoakOptions& options, Report& report) {
    constexpr Index different = 6;
    // A matrix has all its tiles at their largest, and the allocator what that takes, after two rounds of parameters.
    constexpr Index to_settle = 2 * different;
    Stream stream(engine, {.name = "likelihoods"});
    geo::Likelihood likelihood(stream, some_observations(options.points), {.trend = geo::Trend::none},
                               {.compression = geo::TileAccuracy{.accuracy = 1e-6}});
    std::map<Index, double> values;
    Index wrong = 0;
    ProgressLine progress;
    const Endurance endurance = endure(engine, {options.likelihoods, to_settle}, [&](Index first, Index last) {
        for (Index k = first; k < last; ++k) {
            const auto which = static_cast<double>(k % different);
            const auto value = likelihood.evaluate({.sigma2 = 1, .range = 0.05 + 0.02 * which, .nugget = 0.1});
            require_done(value.status);
            const double before = values.try_emplace(k % different, value.log_likelihood).first->second;
            if (std::abs(value.log_likelihood - before) > 1e-9 * std::abs(before)) ++wrong;
            progress.show("likelihoods", k + 1, options.likelihoods);
        }
    });
    report.figures["likelihoods"] = options.likelihoods;
    report.figures["likelihoods_per_second"] = static_cast<double>(options.likelihoods) / endurance.seconds;
    add_endurance(report, "likelihoods", endurance);
    report.checks.push_back(at_most("log-likelihoods that are not as before", static_cast<double>(wrong), 0));
}

Report run_soak(const SoakOptions& options) {
    const auto engine = start_engine(options.engine);
    const bool has_others = engine->node_count() > 1;
    if (options.likelihoods == 0 && (!has_others || (options.messages == 0 && options.streams == 0)))
        throw Error(
            "nothing to do: --likelihoods is 0; --messages and --streams, if they are not, need mpirun with at least 2 "
            "nodes");
    Report report{.figures = {{"nodes", engine->node_count()}, {"workers", engine->worker_count()}}};
    // Streams first: what messages leave in the allocator would hide a leak of small streams.
    if (has_others && options.streams > 0) soak_streams(*engine, options, report);
    if (has_others && options.messages > 0) soak_messages(*engine, options, report);
    if (options.likelihoods > 0) soak_likelihoods(*engine, options, report);
    return report;
}

}  // namespace

Experiment soak() {
    return experiment(
        "soak",
        "Long runs: likelihoods of a compressed matrix, and under mpirun many messages and streams before them; exit "
        "code 1 if memory grows by more than 5 MB or a value is wrong",
        add_soak_options, run_soak);
}

}  // namespace tesela::bench
