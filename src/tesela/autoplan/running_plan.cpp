#include "tesela/autoplan/running_plan.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/units.hpp"
#include "tesela/base/version.hpp"
#include "tesela/calibration/measured_platform.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/plan/decide_together.hpp"
#include "tesela/trace/app_events.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <numeric>
#include <system_error>
#include <utility>

namespace tesela::autoplan {
namespace {

using Json = nlohmann::json;
using calibration::MeasuredNode;

/// Slowdowns that are further apart than this make a look at the plan worth while.
constexpr double noticeable = 1.25;
/// And further apart than this at once.
constexpr double obvious = 1.6;
/// Seconds of evaluations that a look should be at, unless they are very short.
constexpr double shortest_look = 0.5;
/// Of the time that is still expected, planning again takes at most this share.
constexpr double planning_share = 0.05;
/// A plan takes at least so many simulations.
constexpr double fewest_simulations = 6;
/// What new owners cost once, in evaluations: the first one asks for memory and touches it.
constexpr double cost_of_change = 0.5;
/// Less than this gained is within what the simulator can tell.
constexpr double least_gain = 0.05;
/// Evaluations that take more than this share longer than with the owners before are worse for it.
constexpr double noticed_loss = 0.03;

/// Nodes that are alike side by side, as a platform numbers them, and the way back.
struct Numbered {
    Platform platform;
    std::vector<Index> node_of;  ///< the platform's number of each of the engine's nodes
    std::vector<Index> here_of;  ///< and of each of the platform's nodes the engine's

    [[nodiscard]] plan::PhaseDistributions from_platform(const plan::PhaseDistributions& owners) const {
        return renumbered(owners, here_of);
    }
    [[nodiscard]] plan::PhaseDistributions to_platform(const plan::PhaseDistributions& owners) const {
        return renumbered(owners, node_of);
    }

private:
    [[nodiscard]] static plan::PhaseDistributions renumbered(const plan::PhaseDistributions& owners,
                                                             const std::vector<Index>& numbers) {
        const auto all = static_cast<Index>(numbers.size());
        return {.first = plan::on_nodes(owners.first, numbers, all),
                .second = plan::on_nodes(owners.second, numbers, all)};
    }
};

Numbered numbered(const std::vector<MeasuredNode>& nodes) {
    const calibration::NodeTypes types = group_alike(nodes);
    Numbered result{.platform = {.name = "these nodes", .node_types = types.types, .subnets = {}},
                    .node_of = std::vector<Index>(nodes.size()),
                    .here_of = {}};
    for (std::size_t type = 0; type < types.types.size(); ++type)
        for (std::size_t node = 0; node < nodes.size(); ++node) {
            if (types.type_of[node] != type) continue;
            result.node_of[node] = static_cast<Index>(result.here_of.size());
            result.here_of.push_back(static_cast<Index>(node));
        }
    return result;
}

/// Those that the application uses.
std::vector<Specimen> used_by(const plan::Application& application, Index nodes, std::vector<Specimen> specimens) {
    const Recording recording = recorded(application, nodes);
    std::erase_if(specimens, [&](const Specimen& specimen) {
        return std::ranges::none_of(recording.items, [&](const RecordedItem& item) {
            return item.kernel != nullptr && std::string_view(item.kernel->name) == specimen.kernel->name;
        });
    });
    return specimens;
}

double makespan_of(const plan::Planned& planned, const char* strategy) {
    const auto found = std::ranges::find(planned.strategies, strategy, &plan::Strategy::name);
    return found == planned.strategies.end() ? 0 : found->simulated.makespan;
}

/// A product of tiles.
KernelWork product_of(Index tile) {
    const auto side = static_cast<double>(tile);
    return {.tile = tile, .flops = 2 * side * side * side};
}

/// "2 x node_a (26.1 GFLOP/s each in products), 2 x …"
std::string describe(const Platform& platform, Index tile) {
    const KernelWork product = product_of(tile);
    std::vector<std::string> types;
    for (const NodeType& type : platform.node_types)
        types.push_back(fmt::format("{} x {} ({}{} in products)", type.count, type.name,
                                    format_flops(node_power(type, "dgemm", product) * product.flops),
                                    type.count > 1 ? " each" : ""));
    return fmt::format("{}", fmt::join(types, ", "));
}

std::string describe(const plan::SpeedExtremes& extremes) {
    const auto& [slowest, fastest] = extremes;
    return fmt::format("{} on node {} takes {:.2f} times what was counted on, {} on node {} {:.2f} times",
                       slowest.kernel, slowest.node, slowest.slowdown, fastest.kernel, fastest.node, fastest.slowdown);
}

Json to_json(const std::vector<plan::KernelSpeed>& speeds) {
    Json json = Json::array();
    for (const plan::KernelSpeed& speed : speeds) json.push_back({speed.kernel, speed.slowdown, speed.share});
    return json;
}

std::vector<plan::KernelSpeed> speeds_from(const Json& json) {
    std::vector<plan::KernelSpeed> speeds;
    for (const Json& one : json)
        speeds.push_back({one[0].get<std::string>(), one[1].get<double>(), one[2].get<double>()});
    return speeds;
}

Json owners_json(const plan::PhaseDistributions& owners) { return {Json(owners.first), Json(owners.second)}; }

plan::PhaseDistributions owners_from(const Json& json) {
    return {.first = json[0].get<Distribution>(), .second = json[1].get<Distribution>()};
}

/// All that is needed to know whether nodes are those that were measured before.
std::string key_of(const NodeDescription& node, Index tile) {
    return fmt::format("{} {} of {} cores, quota {:.3f}, {} accelerators, {} nodes there, {} {}, tiles of {}, {}",
                       node.host, node.workers, node.cores, node.quota, node.accelerators, node.nodes_here, node.blas,
                       node.blas_core, tile, version);
}

// --- measurements that are kept --------------------------------------------------------------------------------------

constexpr const char* cache_format = "tesela-nodes";

/// Empty where none can be: nobody may ever write to the other end of a pipe.
std::string cache_file(const std::string& folder, const std::vector<std::string>& keys) {
    if (folder.empty()) return {};
    const std::size_t digest = std::hash<std::string>{}(fmt::format("{}", fmt::join(keys, "\n")));
    const auto file = std::filesystem::path(folder) / "nodes" / fmt::format("{:016x}.json", digest);
    std::error_code unseen;
    const bool other = std::filesystem::exists(file, unseen) && !std::filesystem::is_regular_file(file, unseen);
    return other ? "" : file.string();
}

Json to_json(const std::vector<MeasuredNode>& nodes) {
    Json list = Json::array();
    for (const MeasuredNode& node : nodes)
        list.push_back(Json(Platform{
            .name = node.type.name, .node_types = {node.type}, .subnets = {}, .description = node.description}));
    return list;
}

std::vector<MeasuredNode> nodes_from(const Json& list) {
    std::vector<MeasuredNode> nodes;
    for (const Json& one : list) {
        const auto platform = one.get<Platform>();
        nodes.push_back({platform.description, platform.node_types.at(0)});
    }
    return nodes;
}

bool has_all(const NodeType& type, const std::vector<std::string>& kernels) {
    return std::ranges::all_of(kernels, [&](const std::string& name) {
        return !type.workers.empty() && std::ranges::find(type.workers.front().kernels, name, &KernelTime::kernel) !=
                                            type.workers.front().kernels.end();
    });
}

/// What was measured of nodes with these keys, for these kernels; nothing where there is no such file, or one of
/// something else.
std::vector<MeasuredNode> read_cache(const std::string& file, const std::vector<std::string>& keys,
                                     const std::vector<std::string>& kernels) {
    std::error_code unseen;
    if (file.empty() || !std::filesystem::exists(file, unseen)) return {};
    try {
        const Json json = read_json_file(file);
        if (json.at("format") != cache_format || json.at("nodes_are") != Json(keys)) return {};
        std::vector<MeasuredNode> nodes = nodes_from(json.at("nodes"));
        return nodes.size() == keys.size() &&
                       std::ranges::all_of(nodes, [&](const MeasuredNode& node) { return has_all(node.type, kernels); })
                   ? nodes
                   : std::vector<MeasuredNode>{};
    } catch (const std::exception&) {
        return {};  // measured again, and written anew
    }
}

/// Whether it could be written; without it the nodes are measured again next time.
bool write_cache(const std::string& file, const std::vector<std::string>& keys,
                 const std::vector<MeasuredNode>& nodes) {
    if (file.empty()) return false;
    try {
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        write_json_file(file, Json{{"format", cache_format}, {"nodes_are", keys}, {"nodes", to_json(nodes)}});
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace

/// What the first node has decided: owners by the engine's numbers, or none where they stay.
struct RunningPlan::Decision {
    std::optional<plan::PhaseDistributions> owners{};
    double seconds = 0;  ///< expected of an evaluation
    std::vector<std::string> lines{};

    [[nodiscard]] Json json() const {
        Json json{{"seconds", seconds}, {"lines", lines}};
        if (owners) json["owners"] = owners_json(*owners);
        return json;
    }
    static Decision from(const Json& json) {
        Decision decision{.seconds = json.at("seconds").get<double>(),
                          .lines = json.at("lines").get<std::vector<std::string>>()};
        if (!json.contains("owners")) return decision;
        decision.owners = owners_from(json.at("owners"));
        return decision;
    }
};

RunningPlan::RunningPlan(StarpuEngine& engine, RunningPlanOptions options)
    : engine_(engine),
      options_(std::move(options)) {
    find_nodes();
    Decision first = Decision::from(plan::decide_together(engine_, [&] { return first_decision().json(); }));
    owners_ = std::move(first.owners);
    expected_seconds_ = first.seconds;
    lines_ = std::move(first.lines);
    seen_ = engine_.kernel_uses();
    tell(Outcome::as_planned, expected_seconds_, lines_);
}

/// From the cache of the first node if it has them all, or by measuring.
void RunningPlan::find_nodes() {
    if (!options_.nodes.empty()) {
        if (static_cast<Index>(options_.nodes.size()) != engine_.node_count())
            throw Error("{} nodes are described, and there are {}", options_.nodes.size(), engine_.node_count());
        nodes_ = options_.nodes;
        where_from_ = "as described";
        return;
    }
    const std::vector<std::string> keys = engine_.gather(key_of(engine_.description(), tile()));
    const bool first = engine_.is_first();
    const std::string file = cache_file(options_.cache_folder, keys);
    const std::vector<Specimen> used = used_by(application(), engine_.node_count(), options_.specimens);
    const Json mine = first ? to_json(read_cache(file, keys, kernel_names(used))) : Json::array();
    nodes_ = nodes_from(Json::parse(engine_.gather(mine.dump()).front()));
    if (!nodes_.empty()) {
        where_from_ = fmt::format("as measured before ({}; without it they are measured again)", file);
        return;
    }
    const auto start = Clock::now();
    measure(used);
    where_from_ = fmt::format("measured in {}", format_seconds(seconds_since(start)));
    if (first && write_cache(file, keys, nodes_)) where_from_ += fmt::format(", kept in {}", file);
}

void RunningPlan::measure(const std::vector<Specimen>& used) {
    calibration::CalibrationOptions timing{.specimens = used,
                                           .tiles = {tile()},
                                           .loads = {calibration::Load::busy},
                                           .seconds = 0.04,
                                           // Less than a last cache may have: what that hides, corrections show.
                                           .walked_bytes = Index{engine_.worker_count()} << 26U};
    timing.progress = options_.measuring;
    const auto measured = measure_platform(engine_, timing, calibration::Load::busy);
    for (const std::size_t type : measured.type_of) {
        nodes_.push_back({measured.platform.node_types[type].name, measured.platform.node_types[type]});
        nodes_.back().type.count = 1;
    }
}

plan::Planned RunningPlan::plan_for(const Platform& platform, double budget) const {
    const plan::PlanOptions with{
        .budget_seconds = budget, .simulation = options_.program.as_run(platform), .progress = options_.planning};
    return make_plan(application(), platform, with);
}

std::vector<RunningPlan::Proposal> RunningPlan::proposals() {
    const Json all = plan::decide_together(engine_, [&] {
        const Numbered nodes = numbered(nodes_);
        Json list = Json::array();
        for (const plan::Strategy& strategy : plan_for(nodes.platform, options_.budget_seconds).strategies)
            list.push_back(
                {strategy.name, owners_json(nodes.from_platform(strategy.distributions)), strategy.simulated.makespan});
        return list;
    });
    std::vector<Proposal> proposals;
    for (const Json& one : all)
        proposals.push_back({one[0].get<std::string>(), owners_from(one[1]), one[2].get<double>()});
    return proposals;
}

RunningPlan::Decision RunningPlan::first_decision() const {
    const Numbered nodes = numbered(nodes_);
    const plan::Planned planned = plan_for(nodes.platform, options_.budget_seconds);
    const plan::Strategy& chosen = planned.chosen();
    const GridSize tiles = application().matrix.tiles;
    Decision decision{.owners = nodes.from_platform(chosen.distributions), .seconds = chosen.simulated.makespan};
    decision.lines = {
        fmt::format("{}, {}", describe(nodes.platform, tile()), where_from_),
        fmt::format("{} in {}; {} of {} tiles move from their generation to the factorisation", planned.why,
                    format_seconds(planned.seconds), chosen.moved, tiles.rows * (tiles.rows + 1) / 2),
        fmt::format("an evaluation should take {}; block-cyclic {} on all nodes, {} on the fast ones",
                    format_seconds(chosen.simulated.makespan), format_seconds(makespan_of(planned, "bc_all")),
                    format_seconds(makespan_of(planned, "bc_fast")))};
    return decision;
}

double RunningPlan::predicted(const plan::PhaseDistributions& owners) const {
    const Numbered nodes = numbered(nodes_);
    SimulatedEngine engine(nodes.platform, options_.program.as_run(nodes.platform));
    application().submit(engine, nodes.to_platform(owners));
    return engine.result().makespan;
}

std::vector<Index> RunningPlan::fastest_first() const {
    std::vector<Index> order(nodes_.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, std::greater<>{}, [&](Index node) {
        return node_power(nodes_[static_cast<std::size_t>(node)].type, "dgemm", product_of(tile()));
    });
    return order;
}

/// With nodes as they are now known: what the owners that there are would take, and others.
RunningPlan::Decision RunningPlan::next_decision(Index left) const {
    const auto start = Clock::now();
    const double now = predicted(*owners_);
    const auto evaluations = static_cast<double>(left);
    const double budget = std::min(options_.budget_seconds, planning_share * evaluations * now);
    Decision decision{.seconds = now};
    const std::string expected = fmt::format("an evaluation should take {}", format_seconds(now));
    if (fewest_simulations * seconds_since(start) > budget) {
        decision.lines = {fmt::format("{}: too short to plan again for", expected)};
        return decision;
    }
    const Numbered nodes = numbered(nodes_);
    const plan::Planned planned = plan_for(nodes.platform, budget);
    const double then = planned.chosen().simulated.makespan;
    const std::string would = fmt::format("{}, with other owners {}", expected, format_seconds(then));
    if (then > (1 - least_gain) * now || (now - then) * evaluations < cost_of_change * now) {
        decision.lines = {fmt::format("{}: tiles stay where they are", would)};
        return decision;
    }
    decision.owners = nodes.from_platform(planned.chosen().distributions);
    decision.seconds = then;
    const Index moved = count_moves(owners_->second, decision.owners->second, application().matrix.stored()).moved;
    decision.lines.push_back(
        fmt::format("{}: {} tiles change hands, for about {} evaluations ({})", would, moved, left, planned.why));
    return decision;
}

RunningPlan::Outcome RunningPlan::correct(const Progress& progress) {
    evaluations_ = progress.evaluations;
    if (engine_.node_count() == 1) return Outcome::as_planned;
    // The first after a change touches new memory.
    if (evaluations_ <= looked_at_ + 1) {
        seen_ = engine_.kernel_uses();
        return Outcome::as_planned;
    }
    taken_.push_back(engine_.max(progress.seconds));
    const auto enough = static_cast<std::size_t>(patience_);
    const double together = std::accumulate(taken_.begin(), taken_.end(), 0.0);
    if (taken_.size() < enough || (taken_.size() < 4 * enough && together < shortest_look)) return Outcome::as_planned;
    const Look seen = look();
    if (was_better_before(seen)) return revert(progress, seen);
    before_.reset();
    // What is seen once may be noise, unless it is much.
    const double apart = plan::speed_extremes(seen.nodes).ratio();
    const bool again = std::exchange(doubted_, apart > noticeable);
    if (apart < noticeable || (apart < obvious && !again)) return Outcome::as_planned;
    doubted_ = false;
    return plan_again(progress, seen);
}

RunningPlan::Look RunningPlan::look() {
    const std::vector<KernelUse> now = engine_.kernel_uses();
    const auto me = static_cast<std::size_t>(engine_.this_node().number());
    const auto mine = plan::kernel_speeds(nodes_[me].type, tile(), seen_, now);
    Look look{.seconds = median(std::exchange(taken_, {}))};
    for (const std::string& text : engine_.gather(to_json(mine).dump()))
        look.nodes.push_back(speeds_from(Json::parse(text)));
    seen_ = now;
    looked_at_ = evaluations_ - 1;
    return look;
}

bool RunningPlan::was_better_before(const Look& look) const {
    return before_ && look.seconds > (1 + noticed_loss) * before_->seconds;
}

/// The simulator was wrong about what is better: it is asked less often from now on.
RunningPlan::Outcome RunningPlan::revert(const Progress& progress, const Look& look) {
    patience_ *= 2;
    const double before = std::exchange(expected_seconds_, before_->seconds);
    tell(Outcome::reverted, before,
         {fmt::format("evaluations take {} with the new owners, and took {} with those before: back to these",
                      format_seconds(look.seconds), format_seconds(before_->seconds))});
    give(progress, std::exchange(before_, std::nullopt)->owners);
    return Outcome::reverted;
}

RunningPlan::Outcome RunningPlan::plan_again(const Progress& progress, const Look& look) {
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        nodes_[node].type = corrected(nodes_[node].type, look.nodes[node]);
    const Index left =
        std::max(options_.program.usual_evaluations - evaluations_, options_.program.usual_evaluations / 6);
    const Decision decision =
        Decision::from(plan::decide_together(engine_, [&] { return next_decision(left).json(); }));
    const Outcome outcome = decision.owners ? Outcome::changed : Outcome::kept;
    const double before = std::exchange(expected_seconds_, decision.seconds);
    tell(outcome, before,
         {fmt::format("{}; {}", describe(plan::speed_extremes(look.nodes)), fmt::join(decision.lines, "; "))});
    if (!decision.owners) return outcome;
    before_ = {.owners = *owners_, .seconds = look.seconds};
    give(progress, *decision.owners);
    return outcome;
}

void RunningPlan::give(const Progress& progress, plan::PhaseDistributions owners) {
    progress.give(owners);
    owners_ = std::move(owners);
    looked_at_ = evaluations_;
}

void RunningPlan::tell(Outcome outcome, double before, const std::vector<std::string>& lines) const {
    const std::string when = evaluations_ > 0 ? fmt::format("after {} evaluations: ", evaluations_) : "";
    if (options_.tell && engine_.is_first())
        for (const std::string& line : lines) options_.tell(when + line);
    static const trace::EventType event = trace::register_event("plan", {{"evaluations"},
                                                                         {"outcome"},
                                                                         {"expected_before", trace::FieldType::real},
                                                                         {"expected_now", trace::FieldType::real}});
    trace::emit(event, {evaluations_, static_cast<int>(outcome), before, expected_seconds_});
}

}  // namespace tesela::autoplan
