#include "tesela/cli/commands.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/density_option.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/distribution/powers.hpp"
#include "tesela/distribution/step_schedule.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/pictures/owner_map.hpp"
#include "tesela/sim/allocation_metrics.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {
namespace {

/// Beyond this many tile rows a recorded stream no longer fits in memory comfortably: 5.6 million tasks of LU.
constexpr Index most_recorded_tiles = 256;

/// What `make` and `compare` share.
struct ProblemOptions {
    Index tiles = 0;
    Index count = 0;
    double alpha = 2;
    Operation operation = Operation::cholesky;
    DensityOptions contents;
    std::uint64_t seed = 0;
    std::vector<double> powers;
    std::string platform;
    std::string nodes;
    std::optional<Index> tile{};
};

void add_problem_options(CLI::App& command, ProblemOptions& options) {
    command.add_option("--tiles", options.tiles, "Tile rows (and columns) of the matrix")->required();
    auto* count = command.add_option("--count", options.count, "Number of equal nodes");
    command
        .add_option("--alpha", options.alpha,
                    "For bce, rs and hybrid: at most ceil(alpha*sqrt(P)) of the P nodes own tiles of any row or column")
        ->capture_default_str();
    add_choice(command, "--kernel", options.operation, operation_names,
               "Operation whose work on a tile is the weight of that tile");
    add_density_options(command, options.contents);
    at_least(command.add_option("--seed", options.seed, "Of the density and of random families"), std::uint64_t{0})
        ->capture_default_str();
    auto* powers = comma_separated(
        command.add_option("--powers", options.powers,
                           "Power (relative speed) of each node, as 1,1,2.5, for bce, rs, hybrid, best, 1d and "
                           "1d1d, and for what is measured; instead of --count"));
    auto* platform = command.add_option("--platform", options.platform,
                                        "A platform file, or the name of a ready-made platform; instead of --count");
    command
        .add_option("--nodes", options.nodes,
                    "Nodes of the platform to use, by number and type, as 6che+6chi (default: all)")
        ->needs(platform);
    at_least(command.add_option("--tile", options.tile,
                                "Tile size, for the platform's powers and for the bytes of transfers (default: that "
                                "of --ranks, else 960)"),
             Index{1});
    count->excludes(powers)->excludes(platform);
    powers->excludes(platform);
}

TileContents contents_of(const ProblemOptions& options) {
    return tile_contents(options.contents,
                         {.tiles = options.tiles, .tile = options.tile, .operation = options.operation}, options.seed);
}

DistributionRequest request_of(const ProblemOptions& options, const TileContents& contents) {
    DistributionRequest request{.workload = {.operation = options.operation, .density = contents.density},
                                .nodes = options.count,
                                .alpha = options.alpha,
                                .seed = options.seed,
                                .powers = options.powers};
    if (!options.platform.empty()) {
        const Platform platform = read_platform(options.platform, options.nodes);
        request.powers = update_powers(platform, contents.tile);
        request.steps = cholesky_constraint(platform, contents.tile);
    }
    if (!request.powers.empty()) request.nodes = static_cast<Index>(request.powers.size());
    if (request.nodes < 1) throw Error("say how many nodes there are: --count P, --powers LIST or --platform FILE");
    return request;
}

// --- make -----------------------------------------------------------------------------------------------------------

struct MakeOptions {
    ProblemOptions problem;
    std::string family;
    std::string output = "-";
};

void add_make_options(CLI::App& command, MakeOptions& options) {
    command.add_option("family", options.family, "One of the families below, with its arguments, as block_cyclic:2x3")
        ->required();
    add_problem_options(command, options.problem);
    command.add_option("-o,--output", options.output, "File to write; - is standard output")->capture_default_str();
    command.footer(
        "Families:\n"
        "  block_cyclic[:PxQ]  equal nodes: a grid of nodes laid cyclically; without PxQ the squarest\n"
        "  block_cyclic:rule   as in paper 001: the largest (c-1) x c grid; nodes beyond it stay idle\n"
        "  bce[:ALPHA|RxC]     tiles of unequal weight: a larger grid of virtual nodes, packed by weight;\n"
        "                      RxC/USED: on the first USED nodes, the others stay idle\n"
        "  rs[:ALPHA]          products: each row and column keeps to a random subset of the nodes\n"
        "  hybrid[:ALPHA]      factorisations: a bce pattern whose overloaded nodes hand over tiles\n"
        "  best[:ALPHA]        of block_cyclic:rule, bce and rs the one with the least maximum load\n"
        "  1d[:POWERS]         unequal nodes: whole tile rows in proportion to power\n"
        "  1d1d[:POWERS]       unequal nodes: rows and columns of tiles in proportion to power\n"
        "  1d1d_triangle       Cholesky: as 1d1d, then each node gets its share of the lower triangle to a tile\n"
        "  1d1d_constrained    as 1d1d for Cholesky, without slow nodes in the last steps; needs --platform\n"
        "  band[:WIDTH]        low rank off the diagonal: tiles near it over all nodes, the others in a grid\n"
        "  sbc                 Cholesky on r(r-1)/2 nodes, or r*r/2 with r even: fewer transfers than a grid\n"
        "  random[:SEED]       each tile anywhere, for tests\n"
        "  FILE.json           a distribution from a file");
}

int make_distribution_file(const MakeOptions& options) {
    const nlohmann::json json = make_family(options.family, request_of(options.problem, contents_of(options.problem)));
    write_file(options.output, json.dump() + "\n");
    return success;
}

// --- compare --------------------------------------------------------------------------------------------------------

struct DistCompareOptions {
    ProblemOptions problem;
    std::vector<std::string> families;
    bool simulate = false;
    CommunicationModel network;
    bool json = false;
};

/// Paper 001's makespans over ideal: without and with communication.
struct Makespans {
    double dependencies = 0;
    double without_preemption = 0;
    double communications = 0;
};

struct ComparedFamily {
    std::string family;
    LoadSummary load;
    double step_imbalance = 1;
    std::optional<double> steps{};
    Index max_nodes_per_row = 0;
    Index max_nodes_per_column = 0;
    std::optional<Transfers> transfers;
    std::optional<Makespans> makespans{};
    double seconds_to_make = 0;
};

Makespans simulate(const DistributionRequest& request, const Distribution& distribution,
                   const RecordedOperation& recorded, const CommunicationModel& network) {
    const AllocationMetrics metrics(recorded.recording(), request.workload);
    const double ideal = metrics.ideal(request.nodes);
    const auto submit = [&](Stream& stream, const Tiling& tiling) {
        run_operation(stream, request.workload.operation, tiling, distribution);
    };
    return {metrics.dependency_makespan(distribution, Preemption::allowed) / ideal,
            metrics.dependency_makespan(distribution, Preemption::none) / ideal,
            communication_makespan(request.workload, request.nodes, network, submit) / ideal};
}

/// What all families are compared by: how long the nodes take for the operation's kernels, and all of them at best.
struct Yardstick {
    std::vector<NodeTimes> times;
    double ideal = 0;
};

std::vector<NodeTimes> times_of(const ProblemOptions& problem, const DistributionRequest& request, Index tile) {
    if (problem.platform.empty()) return times_by_power(request.workload.costs, request.nodes, request.powers);
    return platform_times(read_platform(problem.platform, problem.nodes), problem.operation, tile);
}

ComparedFamily measure(const std::string& family, const DistributionRequest& request, const DistCompareOptions& options,
                       const Yardstick& by, const std::optional<RecordedOperation>& recorded) {
    const auto& [times, ideal] = by;
    const auto start = Clock::now();
    const Distribution distribution = make_family(family, request);
    const double seconds = seconds_since(start);
    const Stored stored = stored_tiles(request.workload.operation);
    ComparedFamily row{.family = family,
                       .load = summarise_times(node_times(distribution, request.workload, times), ideal),
                       .step_imbalance = step_imbalance(distribution, request.workload, request.powers),
                       .max_nodes_per_row = std::ranges::max(nodes_per_row(distribution, stored)),
                       .max_nodes_per_column = std::ranges::max(nodes_per_column(distribution, stored)),
                       .transfers = std::nullopt,
                       .seconds_to_make = seconds};
    if (recorded) {
        row.transfers = recorded->transfers(distribution);
        row.steps = ideal > 0 ? step_makespan(distribution, request.workload, times) / ideal : 1;
    }
    if (options.simulate) row.makespans = simulate(request, distribution, *recorded, options.network);
    return row;
}

/// Commas separate families and their arguments: what begins with a digit belongs to the family before it.
std::vector<std::string> whole_families(const std::vector<std::string>& words) {
    std::vector<std::string> families;
    for (const std::string& word : words) {
        const bool argument =
            !families.empty() && !word.empty() && (word[0] == '.' || (word[0] >= '0' && word[0] <= '9'));
        const bool family = word.starts_with("1d");  // the only ones whose names begin with a digit
        if (argument && !family)
            families.back() += "," + word;
        else
            families.push_back(word);
    }
    return families;
}

std::vector<ComparedFamily> compare(const DistCompareOptions& options) {
    const TileContents contents = contents_of(options.problem);
    const DistributionRequest request = request_of(options.problem, contents);
    std::optional<RecordedOperation> recorded;
    if (options.simulate && !request.powers.empty())
        throw Error("--simulate compares on equal nodes (--count); for others use tesela simulate");
    if (options.simulate || options.problem.tiles <= most_recorded_tiles)
        recorded.emplace(request.workload.operation, OperationSize{.tiles = options.problem.tiles,
                                                                   .nodes = request.nodes,
                                                                   .tile = contents.tile,
                                                                   .ranks = contents.ranks});
    Yardstick by{.times = times_of(options.problem, request, contents.tile)};
    by.ideal = ideal_time(request.workload, by.times);
    std::vector<ComparedFamily> rows;
    for (const auto& name : options.families.empty() ? families_for(request) : whole_families(options.families))
        rows.push_back(measure(name, request, options, by, recorded));
    return rows;
}

Json to_json(const ComparedFamily& row) {
    Json json{{"family", row.family},
              {"max_load", row.load.max_over_ideal},
              {"dispersion", row.load.dispersion},
              {"steps", nullptr},
              {"step_imbalance", row.step_imbalance},
              {"max_nodes_per_row", row.max_nodes_per_row},
              {"max_nodes_per_column", row.max_nodes_per_column},
              {"transfers", nullptr},
              {"bytes", nullptr},
              {"seconds_to_make", row.seconds_to_make}};
    if (row.steps) json["steps"] = *row.steps;
    if (row.transfers) {
        json["transfers"] = row.transfers->messages;
        json["bytes"] = row.transfers->bytes;
    }
    if (row.makespans) {
        json["dependencies"] = row.makespans->dependencies;
        json["dependencies_without_preemption"] = row.makespans->without_preemption;
        json["communications"] = row.makespans->communications;
    }
    return json;
}

void print_table(const std::vector<ComparedFamily>& rows) {
    const bool simulated = !rows.empty() && rows.front().makespans;
    fmt::print("{:<18} {:>9} {:>10} {:>9} {:>8} {:>8} {:>10} {:>15}{}\n", "family", "max_load", "dispersion", "steps",
               "per_row", "per_col", "transfers", "seconds_to_make", simulated ? " dependencies communications" : "");
    for (const auto& row : rows) {
        fmt::print("{:<18} {:>9.4f} {:>10.4f} {:>9} {:>8} {:>8} {:>10} {:>15.3f}", row.family, row.load.max_over_ideal,
                   row.load.dispersion, row.steps ? fmt::format("{:.4f}", *row.steps) : "-", row.max_nodes_per_row,
                   row.max_nodes_per_column, row.transfers ? fmt::format("{}", row.transfers->messages) : "-",
                   row.seconds_to_make);
        if (row.makespans)
            fmt::print(" {:>12.4f} {:>14.4f}", row.makespans->dependencies, row.makespans->communications);
        fmt::print("\n");
    }
}

void add_dist_compare_options(CLI::App& command, DistCompareOptions& options) {
    add_problem_options(command, options.problem);
    auto* simulated =
        command.add_flag("--simulate", options.simulate,
                         "Also the makespans of paper 001 over the ideal: with dependencies, and with communication");
    command
        .add_option("--bandwidth", options.network.bandwidth,
                    "Bytes per second of a node's interface in the makespan with communication")
        ->needs(simulated)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option("--flops", options.network.flops,
                    "Operations per second of a node in a product of full tiles of 960 rows")
        ->needs(simulated)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    comma_separated(command.add_option(
        "--families", options.families,
        "Families to compare, as block_cyclic:2x3,bce,rs (default: those that fit the nodes; see tesela "
        "dist make --help)"));
    add_json_option(command, options.json);
    command.footer(
        "Columns:\n"
        "  max_load          time of the busiest node over what it would be if all were; 1 is perfect\n"
        "  dispersion        standard deviation over mean of the nodes' times\n"
        "  steps             makespan over the same ideal, without communication, of nodes that divide\n"
        "                    themselves among their ready tasks (- above 256 tile rows)\n"
        "  per_row, per_col  most nodes that own tiles of one row or column\n"
        "  transfers         tiles sent between nodes (- above 256 tile rows)\n"
        "  seconds_to_make   what it took to make the distribution");
}

int run_dist_compare(const DistCompareOptions& options) {
    const auto rows = compare(options);
    if (!options.json) {
        print_table(rows);
        return success;
    }
    auto list = Json::array();
    for (const auto& row : rows) list.push_back(to_json(row));
    fmt::print("{}\n", list.dump(2));
    return success;
}

// --- moves ----------------------------------------------------------------------------------------------------------

struct MovesOptions {
    std::string from;
    std::string to;
    bool lower = false;
    bool json = false;
};

void add_moves_options(CLI::App& command, MovesOptions& options) {
    command.add_option("from", options.from, "Distribution before")->required();
    command.add_option("to", options.to, "Distribution after")->required();
    command.add_flag("--lower", options.lower, "Count the tiles on and below the diagonal only");
    add_json_option(command, options.json);
}

int run_moves(const MovesOptions& options) {
    const auto [moved, minimum] = count_moves(read_distribution(options.from), read_distribution(options.to),
                                              options.lower ? Stored::lower : Stored::full);
    if (options.json)
        fmt::print("{}\n", Json{{"moved", moved}, {"minimum", minimum}}.dump());
    else
        fmt::print("{} tiles move; at least {} must, for these numbers of tiles per node\n", moved, minimum);
    return success;
}

// --- show -----------------------------------------------------------------------------------------------------------

struct ShowOptions {
    std::string file;
    std::string output;
    std::string title;
    std::optional<Operation> operation;
    std::vector<double> powers;
    bool lower = false;
};

TerminalStyle terminal() {
    const bool coloured = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return {.colours = coloured ? TerminalStyle::Colours::true_colour : TerminalStyle::Colours::none,
            .columns = known ? size.ws_col : 100};
}

OwnerMap map_of(const ShowOptions& options) {
    OwnerMap map{.title = options.title.empty() ? options.file : options.title,
                 .distribution = read_distribution(options.file),
                 .stored = options.lower ? Stored::lower : Stored::full};
    const auto nodes = static_cast<std::size_t>(map.distribution.nodes());
    if (options.operation) {
        map.stored = stored_tiles(*options.operation);
        const Workload workload{.operation = *options.operation, .density = full_density(map.distribution.grid())};
        map.loads = node_loads(map.distribution, tile_weights(workload));
    } else {
        const auto counts = tile_counts(map.distribution, map.stored);
        map.loads.assign(counts.begin(), counts.end());
    }
    if (!options.powers.empty() && options.powers.size() != nodes)
        throw Error("--powers has {} numbers; {} has {} nodes", options.powers.size(), options.file, nodes);
    double load = 0, power = 0;
    for (std::size_t p = 0; p < nodes; ++p) {
        if (!options.powers.empty()) require_usable_power(p, options.powers[p]);
        load += map.loads[p];
        power += options.powers.empty() ? 1 : options.powers[p];
    }
    if (power == 0) throw Error("at least one node must have a power greater than 0");
    for (std::size_t p = 0; p < nodes; ++p)
        map.ideal.push_back(load * (options.powers.empty() ? 1 : options.powers[p]) / power);
    return map;
}

void add_show_options(CLI::App& command, ShowOptions& options) {
    command.add_option("file", options.file, "A distribution")->required();
    command.add_option("-o,--output", options.output, "SVG file to write; without it the terminal");
    command.add_option("--title", options.title, "Over the picture, instead of the file's name");
    add_choice(command, "--kernel", options.operation, operation_names,
               "Show the loads of this operation on dense tiles, instead of tile counts");
    comma_separated(command.add_option("--powers", options.powers, "Power of each node, for its share of the load"));
    command.add_flag("--lower", options.lower, "Only the tiles on and below the diagonal");
}

int run_show(const ShowOptions& options) {
    const OwnerMap map = map_of(options);
    if (options.output.empty())
        fmt::print("{}", print_owner_map(map, terminal()));
    else
        write_file(options.output, draw_owner_map(map));
    return success;
}

}  // namespace

Command dist_command() {
    return {
        .name = "dist",
        .summary = "Distributions of tiles over nodes: make, compare, move between, draw",
        .commands = {
            command("make", "Write a distribution as JSON", add_make_options, make_distribution_file),
            command("compare", "Families of distributions beside each other", add_dist_compare_options,
                    run_dist_compare),
            command("moves", "Tiles that change their owner between two distributions", add_moves_options, run_moves),
            command("show", "Who owns which tile, as a picture or in the terminal", add_show_options, run_show)}};
}

}  // namespace tesela::cli
