#include "tesela/pictures/trace_picture.hpp"

#include "tesela/base/error.hpp"
#include "tesela/trace/analysis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace tesela {
namespace {

constexpr std::size_t most_parts = 7;  // beyond these colours repeat
constexpr double nanosecond = 1e-9;

const std::string& member_of(const trace::Trace& trace, const trace::TaskRow& task, PictureBy by) {
    return by == PictureBy::phase ? trace::name_of(trace.phases, task.phase)
                                  : trace::name_of(trace.kernels, task.kernel);
}

/// Those that take most time, in the order in which they begin.
std::vector<PicturePart> longest_parts(const std::vector<TitledTrace>& runs, PictureBy by) {
    struct Use {
        double seconds = 0;
        trace::Time first = std::numeric_limits<trace::Time>::max();
    };
    std::map<std::string, Use> uses;
    for (const TitledTrace& run : runs)
        for (const trace::TaskRow& task : run.trace.tasks) {
            if (!task.ran() || task.worker < 0) continue;
            Use& use = uses[member_of(run.trace, task, by)];
            use.seconds += nanosecond * static_cast<double>(task.duration());
            use.first = std::min(use.first, task.start);
        }
    std::vector<std::pair<std::string, Use>> sorted(uses.begin(), uses.end());
    std::ranges::stable_sort(sorted, std::greater{}, [](const auto& entry) { return entry.second.seconds; });
    if (sorted.size() > most_parts) sorted.resize(most_parts);
    std::ranges::stable_sort(sorted, std::less{}, [](const auto& entry) { return entry.second.first; });
    std::vector<PicturePart> parts;
    for (const auto& [member, use] : sorted) parts.push_back({member.empty() ? "no phase" : member, {member}});
    return parts;
}

/// The number of the part that a phase or kernel belongs to; what is in none has the last.
class Parts {
public:
    Parts(const std::vector<PicturePart>& parts, std::string rest) : rest_(parts.size()), rest_name_(std::move(rest)) {
        for (std::size_t part = 0; part < parts.size(); ++part) {
            names_.push_back(parts[part].name);
            for (const std::string& member : parts[part].members) number_[member] = part;
        }
    }

    [[nodiscard]] std::size_t of(const std::string& member) {
        const auto found = number_.find(member);
        if (found != number_.end()) return found->second;
        if (names_.size() == rest_) names_.push_back(rest_name_);
        return rest_;
    }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

private:
    std::size_t rest_;
    std::string rest_name_;
    std::vector<std::string> names_;
    std::map<std::string, std::size_t> number_;
};

/// Cores of each node, then its accelerators.
std::vector<PicturedWorkers> workers_of(const trace::Trace& trace, std::vector<std::size_t>& group_of) {
    using Kind = PicturedWorkers::Kind;
    const auto kind_of = [](const trace::WorkerRow& worker) {
        return worker.kind == "cpu" ? Kind::cores : Kind::accelerators;
    };
    std::map<std::pair<std::int32_t, Kind>, std::size_t> groups;
    for (const trace::WorkerRow& worker : trace.workers) groups[{worker.node, kind_of(worker)}] = 0;
    std::vector<PicturedWorkers> all;
    for (auto& [key, number] : groups) {
        number = all.size();
        all.push_back({.node = key.first, .kind = key.second, .count = 0});
    }
    for (const trace::WorkerRow& worker : trace.workers) {
        group_of.push_back(groups.at({worker.node, kind_of(worker)}));
        all[group_of.back()].count += worker.capacity;
    }
    return all;
}

std::vector<std::vector<PicturedLevel>> memory_of(const trace::Trace& trace, trace::Time begin) {
    std::vector<std::vector<PicturedLevel>> nodes(trace.nodes.size());
    for (const trace::MemoryRow& change : trace.memory) {
        if (change.memory != 0 || std::cmp_greater_equal(change.node, nodes.size())) continue;
        auto& levels = nodes[static_cast<std::size_t>(change.node)];
        const double before = levels.empty() ? 0 : levels.back().bytes;
        levels.push_back({std::max(0.0, nanosecond * static_cast<double>(change.time - begin)),
                          before + static_cast<double>(change.bytes)});
    }
    return nodes;
}

PicturedRun run_of(const TitledTrace& traced, const TracePicture& wanted, Parts& parts) {
    const trace::Trace& trace = traced.trace;
    const trace::Interval interval = trace::run_interval(trace);
    const auto since = [&](trace::Time time) { return nanosecond * static_cast<double>(time - interval.begin); };
    std::vector<std::size_t> group_of;
    PicturedRun run{.title = traced.title,
                    .makespan = nanosecond * static_cast<double>(interval.length()),
                    .workers = workers_of(trace, group_of),
                    .memory = memory_of(trace, interval.begin)};
    std::map<std::pair<std::size_t, std::int32_t>, PicturedSpan> steps;
    for (const trace::TaskRow& task : trace.tasks) {
        if (!task.ran() || task.worker < 0) continue;
        const PicturedSpan span{since(task.start), since(task.end)};
        const std::size_t part = parts.of(member_of(trace, task, wanted.by));
        run.workers[group_of[static_cast<std::size_t>(task.worker)]].work.push_back({span, part});
        if (task.step < 0 || std::ranges::find(wanted.steps_of, parts.names()[part]) == wanted.steps_of.end()) continue;
        const auto [step, is_new] = steps.try_emplace({part, task.step}, span);
        if (is_new) continue;
        step->second.start = std::min(step->second.start, span.start);
        step->second.end = std::max(step->second.end, span.end);
    }
    for (const auto& [key, span] : steps) run.steps.push_back({key.first, key.second, span});
    return run;
}

}  // namespace

RunsPicture picture_of(const std::vector<TitledTrace>& runs, const TracePicture& wanted) {
    Parts parts(wanted.parts.empty() ? longest_parts(runs, wanted.by) : wanted.parts, wanted.rest);
    RunsPicture picture{.title = wanted.title, .parts = {}, .steps_label = wanted.steps_label, .runs = {}};
    for (const TitledTrace& run : runs) picture.runs.push_back(run_of(run, wanted, parts));
    picture.parts = parts.names();
    for (const std::string& name : wanted.steps_of)
        if (std::ranges::find(picture.parts, name) == picture.parts.end())
            throw Error("steps of \"{}\" cannot be drawn; the picture has {}", name, fmt::join(picture.parts, ", "));
    return picture;
}

}  // namespace tesela
