#include "tesela/cli/dist_command.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/density_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/report/owner_map.hpp"
#include "tesela/sim/allocation_metrics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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

const std::map<std::string, Operation> operations{
    {"gemm", Operation::product}, {"lu", Operation::lu}, {"cholesky", Operation::cholesky}};

void add_kernel_option(CLI::App& command, std::string& kernel, const std::string& help) {
    command.add_option("--kernel", kernel, help)->check(CLI::IsMember(operations))->capture_default_str();
}

void on_call(CLI::App& command, int& exit_code, const std::function<void()>& action) {
    command.callback([&exit_code, action] {
        exit_code = run_guarded("tesela dist", [&] {
            action();
            return static_cast<int>(success);
        });
    });
}

/// What `make` and `compare` share.
struct ProblemOptions {
    Index tiles = 0;
    Index count = 0;
    double alpha = 2;
    std::string kernel = "cholesky";
    std::string density = "dense";
    std::uint64_t seed = 0;
    std::vector<double> powers;
    std::string platform;
    std::string nodes;
    Index tile = 960;
};

void add_problem_options(CLI::App& command, ProblemOptions& options) {
    command.add_option("--tiles", options.tiles, "Tile rows (and columns) of the matrix")->required();
    auto* count = command.add_option("--count", options.count, "Number of equal nodes");
    command
        .add_option("--alpha", options.alpha, "At most ceil(alpha*sqrt(P)) nodes per row and column (bce, rs, hybrid)")
        ->capture_default_str();
    add_kernel_option(command, options.kernel, "what the tiles weigh: the work on each in a gemm, lu or cholesky");
    command
        .add_option("--density", options.density,
                    "What the tiles hold: dense, or synthetic:DELTA (paper 001's low-rank generator)")
        ->capture_default_str();
    command.add_option("--seed", options.seed, "Of the density and of random families")->capture_default_str();
    auto* powers =
        command.add_option("--powers", options.powers, "Power of each node, instead of --count")->delimiter(',');
    auto* platform = command.add_option("--platform", options.platform, "A platform file, instead of --count");
    command.add_option("--nodes", options.nodes, "A choice from the platform, as 6che+6chi")->needs(platform);
    command.add_option("--tile", options.tile, "Tile size, for the platform's powers and for the bytes of transfers")
        ->capture_default_str();
    count->excludes(powers)->excludes(platform);
    powers->excludes(platform);
}

DistributionRequest request_of(const ProblemOptions& options) {
    DistributionRequest request{.workload = {.operation = operations.at(options.kernel),
                                             .density = parse_density(options.density, options.tiles, options.seed)},
                                .nodes = options.count,
                                .alpha = options.alpha,
                                .seed = options.seed,
                                .powers = options.powers};
    if (!options.platform.empty()) {
        const Platform platform = read_platform(options.platform, options.nodes);
        request.powers = update_powers(platform, options.tile);
        request.steps = cholesky_constraint(platform, options.tile);
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

void add_make(CLI::App& dist, int& exit_code) {
    auto options = std::make_shared<MakeOptions>();
    auto* command = dist.add_subcommand("make", "Write a distribution as JSON");
    command
        ->add_option("family", options->family,
                     "block_cyclic[:PxQ], bce, rs, hybrid, best, 1d, 1d1d, band[:W], sbc, random, …")
        ->required();
    add_problem_options(*command, options->problem);
    command->add_option("-o,--output", options->output, "File to write; - is standard output")->capture_default_str();
    on_call(*command, exit_code, [options] {
        const nlohmann::json json = make_family(options->family, request_of(options->problem));
        write_file(options->output, json.dump() + "\n");
    });
}

// --- compare --------------------------------------------------------------------------------------------------------

struct CompareOptions {
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
    Index max_nodes_per_row = 0;
    Index max_nodes_per_column = 0;
    std::optional<Transfers> transfers;
    std::optional<Makespans> makespans{};
    double seconds = 0;
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

ComparedFamily measure(const std::string& family, const DistributionRequest& request, const CompareOptions& options,
                       const std::optional<RecordedOperation>& recorded) {
    const auto start = std::chrono::steady_clock::now();
    const Distribution distribution = make_family(family, request);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const TileSet stored = stored_tiles(request.workload.operation);
    ComparedFamily row{
        .family = family,
        .load = summarise_loads(node_loads(distribution, tile_weights(request.workload)), request.powers),
        .step_imbalance = step_imbalance(distribution, request.workload),
        .max_nodes_per_row = std::ranges::max(nodes_per_row(distribution, stored)),
        .max_nodes_per_column = std::ranges::max(nodes_per_column(distribution, stored)),
        .transfers = std::nullopt,
        .seconds = seconds.count()};
    if (recorded) row.transfers = recorded->transfers(distribution);
    if (options.simulate) row.makespans = simulate(request, distribution, *recorded, options.network);
    return row;
}

std::vector<ComparedFamily> compare(const CompareOptions& options) {
    const DistributionRequest request = request_of(options.problem);
    std::optional<RecordedOperation> recorded;
    if (options.simulate && !request.powers.empty())
        throw Error("--simulate compares on equal nodes (--count); for others use tesela simulate --dist");
    if (options.simulate || options.problem.tiles <= most_recorded_tiles)
        recorded.emplace(
            request.workload.operation,
            OperationSize{.tiles = options.problem.tiles, .nodes = request.nodes, .tile = options.problem.tile});
    std::vector<ComparedFamily> rows;
    for (const auto& name : options.families.empty() ? families_for(request) : options.families)
        rows.push_back(measure(name, request, options, recorded));
    return rows;
}

Json to_json(const ComparedFamily& row) {
    Json json{{"family", row.family},
              {"max_load", row.load.max_over_ideal},
              {"dispersion", row.load.dispersion},
              {"step_imbalance", row.step_imbalance},
              {"max_nodes_per_row", row.max_nodes_per_row},
              {"max_nodes_per_column", row.max_nodes_per_column},
              {"transfers", nullptr},
              {"bytes", nullptr},
              {"seconds", row.seconds}};
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
    fmt::print("{:<18} {:>9} {:>10} {:>9} {:>8} {:>8} {:>10} {:>9}{}\n", "family", "max_load", "dispersion", "steps",
               "per_row", "per_col", "transfers", "seconds", simulated ? " dependencies communications" : "");
    for (const auto& row : rows) {
        fmt::print("{:<18} {:>9.4f} {:>10.4f} {:>9.4f} {:>8} {:>8} {:>10} {:>9.3f}", row.family,
                   row.load.max_over_ideal, row.load.dispersion, row.step_imbalance, row.max_nodes_per_row,
                   row.max_nodes_per_column, row.transfers ? fmt::format("{}", row.transfers->messages) : "-",
                   row.seconds);
        if (row.makespans)
            fmt::print(" {:>12.4f} {:>14.4f}", row.makespans->dependencies, row.makespans->communications);
        fmt::print("\n");
    }
}

void add_compare(CLI::App& dist, int& exit_code) {
    auto options = std::make_shared<CompareOptions>();
    auto* command = dist.add_subcommand("compare", "Families of distributions beside each other");
    add_problem_options(*command, options->problem);
    auto* simulated =
        command->add_flag("--simulate", options->simulate,
                          "Also the makespans of paper 001 over the ideal: with dependencies, and with communication");
    command
        ->add_option("--bandwidth", options->network.bandwidth,
                     "Bytes per second of a node's interface in the makespan with communication")
        ->needs(simulated)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        ->add_option("--flops", options->network.flops,
                     "Operations per second of a node in a product of full tiles (of --tile 960)")
        ->needs(simulated)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--families", options->families, "Only these, as block_cyclic:2x3,bce,rs")->delimiter(',');
    command->add_flag("--json", options->json, "A list of objects instead of a table");
    on_call(*command, exit_code, [options] {
        const auto rows = compare(*options);
        if (!options->json) return print_table(rows);
        auto list = Json::array();
        for (const auto& row : rows) list.push_back(to_json(row));
        fmt::print("{}\n", list.dump(2));
    });
}

// --- moves ----------------------------------------------------------------------------------------------------------

struct MovesOptions {
    std::string from;
    std::string to;
    bool lower = false;
    bool json = false;
};

void add_moves(CLI::App& dist, int& exit_code) {
    auto options = std::make_shared<MovesOptions>();
    auto* command = dist.add_subcommand("moves", "Tiles that change their owner between two distributions");
    command->add_option("from", options->from, "Distribution before")->required();
    command->add_option("to", options->to, "Distribution after")->required();
    command->add_flag("--lower", options->lower, "Count the tiles on and below the diagonal only");
    command->add_flag("--json", options->json, "An object instead of words");
    on_call(*command, exit_code, [options] {
        const auto [moved, minimum] = count_moves(read_distribution(options->from), read_distribution(options->to),
                                                  options->lower ? TileSet::lower : TileSet::all);
        if (options->json)
            fmt::print("{}\n", Json{{"moved", moved}, {"minimum", minimum}}.dump());
        else
            fmt::print("{} tiles move; {} would have to for these tile counts\n", moved, minimum);
    });
}

// --- show -----------------------------------------------------------------------------------------------------------

struct ShowOptions {
    std::string file;
    std::string output;
    std::string title;
    std::string kernel;
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
                 .stored = options.lower ? TileSet::lower : TileSet::all};
    const auto nodes = static_cast<std::size_t>(map.distribution.nodes());
    if (!options.kernel.empty()) {
        const Operation operation = operations.at(options.kernel);
        map.stored = stored_tiles(operation);
        const Workload workload{.operation = operation, .density = full_density(map.distribution.grid())};
        map.loads = node_loads(map.distribution, tile_weights(workload));
    } else {
        const auto counts = tile_counts(map.distribution, map.stored);
        map.loads.assign(counts.begin(), counts.end());
    }
    if (!options.powers.empty() && options.powers.size() != nodes)
        throw Error("--powers has {} numbers; {} has {} nodes", options.powers.size(), options.file, nodes);
    double load = 0, power = 0;
    for (std::size_t p = 0; p < nodes; ++p) {
        load += map.loads[p];
        power += options.powers.empty() ? 1 : options.powers[p];
    }
    for (std::size_t p = 0; p < nodes; ++p)
        map.ideal.push_back(load * (options.powers.empty() ? 1 : options.powers[p]) / power);
    return map;
}

void add_show(CLI::App& dist, int& exit_code) {
    auto options = std::make_shared<ShowOptions>();
    auto* command = dist.add_subcommand("show", "Who owns which tile, as a picture or in the terminal");
    command->add_option("file", options->file, "A distribution")->required();
    command->add_option("-o,--output", options->output, "SVG file to write; without it the terminal");
    command->add_option("--title", options->title, "Over the picture, instead of the file's name");
    add_kernel_option(*command, options->kernel, "loads of a dense gemm, lu or cholesky instead of tile counts");
    command->add_option("--powers", options->powers, "Power of each node, for its share of the load")->delimiter(',');
    command->add_flag("--lower", options->lower, "Only the tiles on and below the diagonal");
    on_call(*command, exit_code, [options] {
        const OwnerMap map = map_of(*options);
        if (options->output.empty())
            fmt::print("{}", print_owner_map(map, terminal()));
        else
            write_file(options->output, draw_owner_map(map));
    });
}

}  // namespace

void add_dist_command(CLI::App& app, int& exit_code) {
    auto* dist = app.add_subcommand("dist", "Distributions of tiles over nodes: make, compare, move between, draw");
    dist->require_subcommand(1);
    add_make(*dist, exit_code);
    add_compare(*dist, exit_code);
    add_moves(*dist, exit_code);
    add_show(*dist, exit_code);
}

}  // namespace tesela::cli
