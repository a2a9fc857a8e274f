#include "paper004/simulated_cholesky.hpp"

#include "tesela/base/names.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/io/platform_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace tesela::bench {
namespace {

constexpr Names<MessageRanks, 2> message_names{{{MessageRanks::exact, "exact"}, {MessageRanks::largest, "largest"}}};
constexpr Names<Priorities, 3> priority_names{
    {{Priorities::critical_path, "critical_path"}, {Priorities::none, "none"}, {Priorities::chameleon, "chameleon"}}};

/// The datum that says where a task runs: the first that it writes.
std::size_t placing_datum(const Recording& recording, std::uint32_t item) {
    return static_cast<std::size_t>(placing_access(recording.accesses_of(recording.items[item]))->datum);
}

}  // namespace

Row columns_of_case(const SimulatedCase& of) {
    return {{"tiles", of.tiles},
            {"nodes", of.nodes},
            {"distribution", of.distribution},
            {"messages", name_in(message_names, of.messages)},
            {"lookahead", of.factor.lookahead},
            {"diagonal_tile", of.factor.diagonal_tile},
            {"priorities", name_in(priority_names, of.factor.priorities)}};
}

SimulatedCase case_of(const Row& row) {
    return {.tiles = row.at("tiles").get<Index>(),
            .nodes = row.at("nodes").get<Index>(),
            .distribution = row.at("distribution").get<std::string>(),
            .messages = parse_name(message_names, row.at("messages").get<std::string>(), "ranks of messages"),
            .factor = {.priorities = parse_name(priority_names, row.at("priorities").get<std::string>(), "priorities"),
                       .lookahead = row.at("lookahead").get<Index>(),
                       .diagonal_tile = row.at("diagonal_tile").get<Index>()}};
}

SimulationResult simulate(const SimulatedCase& of, const SampledRanks& ranks,
                          const std::vector<ScheduleObserver*>& observers) {
    RankModel model = ranks_from_maps({{"A", ranks.map()}});
    if (of.messages == MessageRanks::largest) model.sent_rank = ranks.largest();
    SimulatedEngine engine(
        read_platform("shaheen2", fmt::format("{}haswell", of.nodes)),
        {.scheduler = SimulatedScheduler::priority, .ranks = std::move(model), .observers = observers});
    {
        Stream s(engine, {.max_pending = std::numeric_limits<Index>::max()});
        const Tiling tiling = Tiling::square(of.tiles * PaperCase::tile, PaperCase::tile);
        run_switched_cholesky(
            s, tiling, make_distribution(of.distribution, tiling.grid(), of.nodes, Operation::cholesky), of.factor);
    }
    return engine.result();
}

void SolveWaits::begin(const SimulatedRun& run) {
    recording_ = run.recording;
    nodes_ = static_cast<std::size_t>(node_count(*run.platform));
}

void SolveWaits::grow(std::size_t datum) {
    if (datum < updated_.size()) return;
    updated_.resize(recording_->data.size(), 0);
    arrived_.resize(slot(recording_->data.size(), 0), 0);
}

void SolveWaits::task(const ScheduledTask& task) {
    const std::size_t datum = placing_datum(*recording_, task.item);
    grow(datum);
    const RecordedDatum& tile = recording_->data[datum];
    const bool solve = std::string_view(task.kernel->name) == "dtrsm" && tile.index.i != tile.index.j &&
                       recording_->matrices[static_cast<std::size_t>(tile.matrix)] == "A";
    if (solve)
        solves_.push_back({.datum = datum,
                           .diagonal = recording_->datum(tile.matrix, {tile.index.j, tile.index.j}),
                           .from_diagonal = tile.index.i - tile.index.j,
                           .node = task.node,
                           .start = task.start});
    else
        updated_[datum] = std::max(updated_[datum], task.end);
}

void SolveWaits::message(const ScheduledMessage& message) {
    const auto datum = static_cast<std::size_t>(message.datum);
    grow(datum);
    arrived_[slot(datum, message.to)] = message.arrival;
}

std::vector<SolveWaits::Wait> SolveWaits::waits() const {
    std::vector<Wait> result;
    for (const Solve& solve : solves_) {
        const double arrived = arrived_[slot(solve.diagonal, solve.node)];
        const double there = arrived > 0 ? arrived : updated_[solve.diagonal];
        result.push_back({solve.from_diagonal, solve.start - std::max(there, updated_[solve.datum])});
    }
    return result;
}

void StageOccupancy::begin(const SimulatedRun& run) {
    recording_ = run.recording;
    for (const NodeType& type : run.platform->node_types)
        for (const WorkerGroup& group : type.workers) cores_ += static_cast<double>(type.count * group.count);
}

void StageOccupancy::task(const ScheduledTask& task) {
    busy_.emplace_back(task.start, task.end);
    const RecordedItem& item = recording_->items[task.item];
    if (item.urgency != Urgency::critical) return;  // only what is done to a diagonal tile is
    const auto step = static_cast<std::size_t>(item.step);
    if (step >= panel_begins_.size()) panel_begins_.resize(step + 1, std::numeric_limits<double>::infinity());
    panel_begins_[step] = std::min(panel_begins_[step], task.start);
}

std::vector<double> StageOccupancy::stages(Index tiles) const {
    constexpr Index count = 4;
    double end = 0;
    for (const auto& [start, stop] : busy_) end = std::max(end, stop);
    std::vector<double> result;
    for (Index stage = 0; stage < count; ++stage) {
        const double from = stage == 0 ? 0 : panel_begins_[static_cast<std::size_t>(stage * tiles / count)];
        const double to =
            stage + 1 == count ? end : panel_begins_[static_cast<std::size_t>((stage + 1) * tiles / count)];
        double busy = 0;
        for (const auto& [start, stop] : busy_) busy += std::max(0.0, std::min(stop, to) - std::max(start, from));
        result.push_back(busy / (cores_ * (to - from)));
    }
    return result;
}

}  // namespace tesela::bench
