#include "soak_bench.hpp"

#include "resident_memory.hpp"
#include "soak/fault_job.hpp"
#include "soak/wandering_tiles.hpp"
#include "some_observations.hpp"
#include "timing.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/apps/geo/likelihood.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/progress_line.hpp"
#include "tesela/net/nodes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace tesela::bench {
namespace {

using cli::Json;

constexpr double growth_limit = 5e6;  // bytes
constexpr double fault_limit = 10;    // seconds
constexpr Index fault_nodes = 4;

Json at_most(const std::string& bar, double value, double limit) {
    return {{"bar", bar}, {"value", value}, {"limit", limit}, {"met", value <= limit}};
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
void report(Json& result, const std::string& part, const Endurance& endurance) {
    result[part + "_seconds"] = endurance.seconds;
    result[part + "_resident_bytes_after_tenth"] = endurance.resident_after_tenth;
    result[part + "_resident_bytes_at_end"] = endurance.resident_at_end;
    result[part + "_growth_bytes"] = endurance.growth;
    result["checks"].push_back(at_most("bytes by which memory grew under " + part, endurance.growth, growth_limit));
}

void soak_messages(StarpuEngine& engine, const SoakOptions& options, Json& result) {
    WanderingTiles tiles(engine);
    const Index rounds = tiles.rounds_for(options.messages);
    cli::ProgressLine progress;
    const Endurance endurance =
        endure(engine, {rounds, WanderingTiles::rounds_to_settle}, [&](Index first, Index last) {
            for (Index round = first; round < last; ++round) {
                tiles.run_round();
                progress.show("messages", tiles.messages(), options.messages);
            }
            tiles.wait();
        });
    result["messages"] = tiles.messages();
    result["messages_per_second"] = static_cast<double>(tiles.messages()) / endurance.seconds;
    report(result, "messages", endurance);
    result["checks"].push_back(at_most("values that are wrong", static_cast<double>(tiles.wrong_values()), 0));
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

void soak_streams(StarpuEngine& engine, const SoakOptions& options, Json& result) {
    cli::ProgressLine progress;
    const Endurance endurance = endure(engine, {.pieces = options.streams}, [&](Index first, Index last) {
        for (Index stream = first; stream < last; ++stream) {
            run_short_stream(engine);
            progress.show("streams", stream + 1, options.streams);
        }
    });
    result["streams"] = options.streams;
    result["streams_per_second"] = static_cast<double>(options.streams) / endurance.seconds;
    report(result, "streams", endurance);
}

/// Log-likelihoods as a fit asks for them: the parameters of the next are others, and ranks with them. Every sixth has
/// the parameters of the first again, and must be the same.
void soak_likelihoods(StarpuEngine& engine, const SoakOptions& options, Json& result) {
    constexpr Index different = 6;
    // A matrix has all its tiles at their largest, and the allocator what that takes, after two rounds of parameters.
    constexpr Index to_settle = 2 * different;
    Stream stream(engine, {.name = "likelihoods"});
    geo::Likelihood likelihood(stream, some_observations(options.points), {.trend = geo::Trend::none},
                               {.compression = geo::TileAccuracy{.accuracy = 1e-6}});
    std::map<Index, double> values;
    Index wrong = 0;
    cli::ProgressLine progress;
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
    result["likelihoods"] = options.likelihoods;
    result["likelihoods_per_second"] = static_cast<double>(options.likelihoods) / endurance.seconds;
    report(result, "likelihoods", endurance);
    result["checks"].push_back(at_most("log-likelihoods that are not as before", static_cast<double>(wrong), 0));
}

/// What the runs with faults came to, all together.
class FaultTally {
public:
    void add(const std::string& fault, std::uint64_t seed, const FaultEnd& end) {
        if (end.was_reached()) worst_[fault] = std::max(worst_[fault], end.seconds);
        not_reached_ += end.was_reached() ? 0 : 1;
        successes_ += end.exit_code == 0 ? 1 : 0;
        left_ += end.processes_left;
        const bool right =
            end.was_reached() && end.exit_code != 0 && end.processes_left == 0 && end.seconds <= fault_limit;
        if (right) return;
        broken_.push_back({{"fault", fault},
                           {"seed", seed},
                           {"node", end.node},
                           {"step", end.step},
                           {"seconds", end.seconds},
                           {"exit_code", end.exit_code},
                           {"processes_left", end.processes_left}});
    }
    [[nodiscard]] Json result(Index faults) const {
        double worst = 0;
        for (const auto& [fault, seconds] : worst_) worst = std::max(worst, seconds);
        return {{"faults", faults},
                {"nodes", fault_nodes},
                {"worst_seconds", worst_},
                {"broken", broken_},
                {"checks",
                 {at_most("seconds from a fault to the end of its run", worst, fault_limit),
                  at_most("runs that ended as if nothing had happened", static_cast<double>(successes_), 0),
                  at_most("processes left", static_cast<double>(left_), 0),
                  at_most("runs that did not come to their fault", static_cast<double>(not_reached_), 0)}}};
    }

private:
    std::map<std::string, double> worst_;
    Json broken_ = Json::array();
    Index not_reached_ = 0;
    Index successes_ = 0;
    Index left_ = 0;
};

}  // namespace

void check_options(const SoakOptions& options) {
    if (options.messages < 0 || options.streams < 0 || options.likelihoods < 0 || options.faults < 0)
        throw Error("--messages, --streams, --likelihoods and --faults must be at least 0");
    if (options.points < 1) throw Error("--points must be at least 1; it is {}", options.points);
    if (options.likelihoods > 0) return;
    if (!started_in_parallel() && options.faults == 0)
        throw Error(
            "nothing to do: --faults and --likelihoods are 0, and --messages and --streams need mpirun with at least 2 "
            "nodes");
    if (started_in_parallel() && options.messages == 0 && options.streams == 0)
        throw Error(
            "nothing to do: --messages, --streams and --likelihoods are 0, and --faults starts mpirun itself: run it "
            "without mpirun");
}

Json soak_benchmark(StarpuEngine& engine, const SoakOptions& options) {
    const bool has_others = engine.node_count() > 1;
    if (!has_others && options.likelihoods == 0)
        throw Error("messages need at least 2 nodes: mpirun -n 2 tesela bench soak");
    Json result{{"nodes", engine.node_count()}, {"workers", engine.worker_count()}, {"checks", Json::array()}};
    // Streams first: what messages leave in the allocator would hide a leak of small streams.
    if (has_others && options.streams > 0) soak_streams(engine, options, result);
    if (has_others && options.messages > 0) soak_messages(engine, options, result);
    if (options.likelihoods > 0) soak_likelihoods(engine, options, result);
    return result;
}

Json fault_benchmark(Index faults) {
    constexpr std::array<const char*, 4> kinds{"throw", "exit", "return", "kill"};
    FaultTally tally;
    cli::ProgressLine progress;
    for (Index run = 0; run < faults; ++run) {
        const std::string kind = kinds[static_cast<std::size_t>(run) % kinds.size()];
        const auto seed = static_cast<std::uint64_t>(run + 1);
        FaultJob job({.fault = kind, .seed = seed, .nodes = fault_nodes});
        tally.add(kind, seed, job.wait(fault_limit));
        progress.show("faults", run + 1, faults);
    }
    return tally.result(faults);
}

}  // namespace tesela::bench
