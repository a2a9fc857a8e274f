#include "redistribution/redistribute_bench.hpp"

#include "redistribution/contest.hpp"
#include "redistribution/rates.hpp"

#include "tesela/base/error.hpp"

namespace tesela::bench {
namespace {

void check_at_least(Index least, const char* name, Index value) {
    if (value < least) throw Error("{} must be at least {}; it is {}", name, least, value);
}

/// Whole tiles of one matrix change their owners.
void check_in_place(const RedistributeBenchOptions& options) {
    const ElementIndex zero{};
    const RedistributeOptions& what = options.redistribute;
    if (!options.in_place ||
        (options.tile_from == options.tile_to && options.part == Part::all && options.op == Op::none &&
         what.from_offset == zero && what.to_offset == zero && what.size == ElementIndex{-1, -1}))
        return;
    throw Error("--in-place gives whole tiles to other owners: both tile sizes must be the same, and no part chosen");
}

}  // namespace

void check_options(const RedistributeBenchOptions& options) {
    check_at_least(1, "--n", options.n);
    for (const ElementIndex tile : {options.tile_from, options.tile_to}) {
        check_at_least(1, "a tile size", tile.i);
        check_at_least(1, "a tile size", tile.j);
    }
    check_in_place(options);
    check_at_least(1, "--repetitions", options.repetitions);
    check_at_least(0, "--batch", options.redistribute.batch);
    check_at_least(0, "--batch-columns", options.redistribute.batch_columns);
    check_at_least(1, "--message-bytes", options.redistribute.message_bytes);
}

cli::Json redistribute_benchmark(StarpuEngine& engine, const RedistributeBenchOptions& options) {
    std::vector<std::unique_ptr<Contest>> contests;
    contests.push_back(std::make_unique<Contest>(engine, options));
    Contest& contest = *contests.front();
    const ContestTimes best = race(contests, options.repetitions).front();
    const RedistributionVolume volume = contest.volume();
    const CopyRates rates = measure_rates(engine).copy();
    const RedistributionBound bound = redistribution_bound(volume, rates);
    const double seconds = best.tesela;
    cli::Json result{
        {"n", options.n},
        {"nodes", engine.node_count()},
        {"from", contest.options().from},
        {"to", contest.options().to},
        {"tile_from", options.tile_from.i},
        {"tile_to", options.tile_to.i},
        {"seconds", seconds},
        {"bytes", volume.local.bytes + volume.remote.bytes},
        {"remote_bytes", volume.remote.bytes},
        {"gbytes_per_second", 1e-9 * static_cast<double>(volume.local.bytes + volume.remote.bytes) / seconds},
        {"segments", volume.local.segments + volume.remote.segments},
        {"network_gbytes_per_second", 1e-9 * rates.network},
        {"memcpy_gbytes_per_second", 1e-9 * rates.memory},
        {"achieved_bandwidth", 1e-9 * static_cast<double>(bound.largest) / seconds},
        {"bound", 1e-9 * bound.bandwidth},
        {"bound_seconds", bound.seconds},
        {"scalapack_seconds", nullptr},
        {"ratio", nullptr},
        {"correct", true}};
    if (best.scalapack) {
        result["scalapack_seconds"] = *best.scalapack;
        result["ratio"] = *best.scalapack / seconds;
    }
    if (options.check) {
        const Index wrong = contest.wrong();
        result["wrong_elements"] = wrong;
        result["correct"] = wrong == 0;
    }
    return result;
}

}  // namespace tesela::bench
