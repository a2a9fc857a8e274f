#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "shared/contest.hpp"
#include "shared/rates.hpp"

#include "tesela/base/error.hpp"

namespace tesela::bench {
namespace {

struct RedistributeBenchOptions {
    ContestOptions contest;
    int repetitions = 7;
    bool check = false;
    EngineOptions engine;
};

/// Adds an option that takes one number for both dimensions, or two as "3,4".
void add_pair(CLI::App& command, const std::string& name, ElementIndex& value, const std::string& help) {
    const auto take = [&value](const std::vector<Index>& given) { value = {given.front(), given.back()}; };
    comma_separated(command.add_option_function<std::vector<Index>>(name, take, help))->expected(1, 2);
}

void add_submatrix_options(CLI::App& command, ContestOptions& contest) {
    RedistributeOptions& what = contest.redistribute;
    command.add_option("--rows", what.size.i, "Rows of the submatrix (default: all from --offset-from on)");
    command.add_option("--cols", what.size.j, "Columns of the submatrix (default: all from --offset-from on)");
    add_pair(command, "--offset-from", what.from_offset, "First element of the submatrix in the source: I or I,J");
    add_pair(command, "--offset-to", what.to_offset, "First element of the submatrix in the target: I or I,J");
    command.add_flag_callback(
        "--lower", [&contest] { contest.part = Part::lower; }, "Move the lower triangle only");
    command.add_flag_callback(
        "--transpose", [&contest] { contest.op = Op::transpose; }, "Move the transpose");
}

void add_message_options(CLI::App& command, RedistributeOptions& what) {
    command.add_option("--batch", what.batch, "Messages between two nodes at a time; 0: all")->capture_default_str();
    command.add_option("--message-bytes", what.message_bytes, "Size of messages that segments are put together to")
        ->capture_default_str();
    command
        .add_option("--whole-tile-bytes", what.whole_tile_bytes,
                    "Tiles that travel as a whole do so alone from this size on")
        ->capture_default_str();
}

void add_redistribute_options(CLI::App& command, RedistributeBenchOptions& options) {
    ContestOptions& contest = options.contest;
    command.add_option("--n", contest.n, "Order of both matrices")->capture_default_str();
    command.add_option("--from", contest.from,
                       "Distribution of the source (default: block_cyclic:1xP, all P nodes in a row)");
    command.add_option("--to", contest.to, "Distribution of the target (default: block_cyclic, the squarest grid)");
    add_pair(command, "--tile-from", contest.tile_from, "Tile size of the source: SIZE or ROWS,COLS (default: 960)");
    add_pair(command, "--tile-to", contest.tile_to, "Tile size of the target: SIZE or ROWS,COLS (default: 400)");
    add_submatrix_options(command, contest);
    add_message_options(command, contest.redistribute);
    command.add_flag("--in-place", contest.in_place, "Give the tiles of one matrix to other owners, without a copy");
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    command.add_flag("--check", options.check, "Check every element of the target; exit code 1 if one is wrong");
    command.add_flag("!--no-compare", contest.compare, "Do not measure ScaLAPACK");
    add_engine_options(command, options.engine);
}

void check_at_least(Index least, const char* name, Index value) {
    if (value < least) throw Error("{} must be at least {}; it is {}", name, least, value);
}

/// Whole tiles of one matrix change their owners.
void check_in_place(const ContestOptions& options) {
    const ElementIndex zero{};
    const RedistributeOptions& what = options.redistribute;
    if (!options.in_place ||
        (options.tile_from == options.tile_to && options.part == Part::all && options.op == Op::none &&
         what.from_offset == zero && what.to_offset == zero && what.size == ElementIndex{-1, -1}))
        return;
    throw Error("--in-place gives whole tiles to other owners: both tile sizes must be the same, and no part chosen");
}

void check_redistribution(const RedistributeBenchOptions& given) {
    const ContestOptions& options = given.contest;
    check_at_least(1, "--n", options.n);
    for (const ElementIndex tile : {options.tile_from, options.tile_to}) {
        check_at_least(1, "a tile size", tile.i);
        check_at_least(1, "a tile size", tile.j);
    }
    check_in_place(options);
    check_at_least(1, "--repetitions", given.repetitions);
    check_at_least(0, "--batch", options.redistribute.batch);
    check_at_least(1, "--message-bytes", options.redistribute.message_bytes);
}

Report run_redistribute(const RedistributeBenchOptions& options) {
    check_redistribution(options);
    const auto engine = start_engine(options.engine);
    std::vector<std::unique_ptr<Contest>> contests;
    contests.push_back(std::make_unique<Contest>(*engine, options.contest));
    Contest& contest = *contests.front();
    const ContestTimes best = race(contests, options.repetitions).front();
    const RedistributionVolume volume = contest.volume();
    const CopyRates rates = measure_rates(*engine).copy();
    const RedistributionBound bound = redistribution_bound(volume, rates);
    const double seconds = best.tesela;
    const Index bytes = volume.local.bytes + volume.remote.bytes;
    Report report{.figures = {{"n", contest.options().n},
                              {"nodes", engine->node_count()},
                              {"from", contest.options().from},
                              {"to", contest.options().to},
                              {"tile_from", contest.options().tile_from.i},
                              {"tile_to", contest.options().tile_to.i},
                              {"seconds", seconds},
                              {"bytes", bytes},
                              {"remote_bytes", volume.remote.bytes},
                              {"gbytes_per_second", 1e-9 * static_cast<double>(bytes) / seconds},
                              {"segments", volume.local.segments + volume.remote.segments},
                              {"network_gbytes_per_second", 1e-9 * rates.network},
                              {"memcpy_gbytes_per_second", 1e-9 * rates.memory},
                              {"achieved_bandwidth", 1e-9 * static_cast<double>(bound.largest) / seconds},
                              {"bound", 1e-9 * bound.bandwidth},
                              {"bound_seconds", bound.seconds},
                              {"scalapack_seconds", nullptr},
                              {"ratio", nullptr}}};
    if (best.scalapack) {
        report.figures["scalapack_seconds"] = *best.scalapack;
        report.figures["ratio"] = *best.scalapack / seconds;
    }
    if (options.check) {
        const Index wrong = contest.wrong();
        report.figures["wrong_elements"] = wrong;
        report.checks = {at_most("wrong elements", static_cast<double>(wrong), 0)};
    }
    return report;
}

}  // namespace

Experiment redistribute() {
    return experiment("redistribute",
                      "A matrix from one distribution and tile size to another, beside ScaLAPACK's pdgemr2d",
                      add_redistribute_options, run_redistribute);
}

}  // namespace tesela::bench
