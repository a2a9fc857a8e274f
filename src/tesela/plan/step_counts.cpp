#include "tesela/plan/step_counts.hpp"

#include "tesela/base/error.hpp"
#include "tesela/sim/kernel_work.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tesela::plan {
namespace {

struct Counted {
    std::size_t type;
    Index step;
    double ratio;
};

bool is_among(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

std::optional<Part> part_of(const Recording& recording, const RecordedItem& task, const PhaseNames& phases) {
    const std::string& phase = recording.phases[static_cast<std::size_t>(task.phase)];
    if (is_among(phases.first, phase)) return Part::first;
    if (is_among(phases.second, phase)) return Part::second;
    return std::nullopt;
}

const RecordedDatum* first_written(const Recording& recording, const RecordedItem& task) {
    for (const RecordedAccess& access : recording.accesses_of(task))
        if (writes(access.mode)) return &recording.data[static_cast<std::size_t>(access.datum)];
    return nullptr;
}

const RecordedDatum* used_of(const Recording& recording, const RecordedItem& task, const std::string& matrix) {
    for (const RecordedAccess& access : recording.accesses_of(task)) {
        const RecordedDatum& datum = recording.data[static_cast<std::size_t>(access.datum)];
        if (recording.matrices[static_cast<std::size_t>(datum.matrix)] == matrix) return &datum;
    }
    return nullptr;
}

/// The mean of so many, this one included: of equal ones exactly what they are.
void add_to_mean(KernelWork& mean, const KernelWork& work, Index count) {
    const auto all = static_cast<double>(count);
    mean.tile = std::max(mean.tile, work.tile);
    mean.flops += (work.flops - mean.flops) / all;
    mean.bytes += (work.bytes - mean.bytes) / all;
    mean.elements += (work.elements - mean.elements) / all;
}

/// Types by kernel and part.
class Types {
public:
    std::size_t number_of(const Recording& recording, const RecordedItem& task, Part part, double ratio) {
        const auto [found, is_new] = numbers_.try_emplace({task.kernel, part}, types_.size());
        const KernelWork work = kernel_work(recording, task);
        if (is_new)
            types_.push_back({.kernel = task.kernel->name,
                              .part = part,
                              .resource = task.resource == 0 ? "" : recording.resources[task.resource - 1U].name});
        TaskType& type = types_[found->second];
        add_to_mean(type.work, work, ++type.tasks);
        type.ratio += (ratio - type.ratio) / static_cast<double>(type.tasks);
        return found->second;
    }
    [[nodiscard]] std::vector<TaskType> take() { return std::move(types_); }

private:
    std::map<std::pair<const Kernel*, Part>, std::size_t> numbers_;
    std::vector<TaskType> types_;
};

}  // namespace

StepCounts count_steps(const Recording& recording, const StepRule& rule, const RankModel& ranks,
                       const LogCurve& recompression) {
    Types types;
    std::vector<Counted> counted;
    StepCounts result;
    for (const RecordedItem& item : recording.items) {
        if (item.kind != RecordedItem::Kind::task) continue;
        const auto where = rule(recording, item);
        if (!where) continue;
        if (where->step < 0) throw Error("a task {} was given the step {}", item.kernel->name, where->step);
        const double ratio = time_ratio(recording, item, ranks, recompression);
        counted.push_back({types.number_of(recording, item, where->part, ratio), where->step, ratio});
        result.steps = std::max(result.steps, where->step + 1);
    }
    if (counted.empty()) throw Error("the rule of steps knows none of the {} tasks", recording.task_count());
    result.types = types.take();
    result.counts.assign(static_cast<std::size_t>(result.steps) * result.types.size(), 0);
    result.amounts.assign(result.counts.size(), 0);
    for (const auto& [type, step, ratio] : counted) {
        const std::size_t place = static_cast<std::size_t>(step) * result.types.size() + type;
        ++result.counts[place];
        result.amounts[place] += ratio;
    }
    return result;
}

std::vector<Index> last_steps_of_rows(const Recording& recording, const StepRule& rule, Index rows) {
    std::vector<Index> last(static_cast<std::size_t>(rows), 0);
    for (const RecordedItem& item : recording.items) {
        if (item.kind != RecordedItem::Kind::task) continue;
        const auto where = rule(recording, item);
        if (!where || where->part != Part::first) continue;
        const RecordedDatum* tile = first_written(recording, item);
        if (tile == nullptr || tile->index.i >= rows) continue;
        Index& step = last[static_cast<std::size_t>(tile->index.i)];
        step = std::max(step, where->step);
    }
    return last;
}

StepRule by_antidiagonals(const PhaseNames& phases, std::string matrix) {
    return [phases, matrix = std::move(matrix)](const Recording& recording,
                                                const RecordedItem& task) -> std::optional<PlannedStep> {
        const auto part = part_of(recording, task, phases);
        const RecordedDatum* tile = part ? first_written(recording, task) : nullptr;
        if (tile == nullptr || recording.matrices[static_cast<std::size_t>(tile->matrix)] != matrix)
            return std::nullopt;
        return PlannedStep{*part, (tile->index.i + tile->index.j) / 2};
    };
}

StepRule by_reading_order(const PhaseNames& phases, std::string read, Index readers) {
    if (readers < 1) throw Error("there must be at least 1 reader; there are {}", readers);
    return [phases, read = std::move(read), readers](const Recording& recording,
                                                     const RecordedItem& task) -> std::optional<PlannedStep> {
        const auto part = part_of(recording, task, phases);
        const RecordedDatum* tile = part ? used_of(recording, task, read) : nullptr;
        if (tile == nullptr) return std::nullopt;
        const Index columns = recording.grids[static_cast<std::size_t>(tile->matrix)].tiles.cols;
        return PlannedStep{*part, (tile->index.i * columns + tile->index.j) / readers};
    };
}

}  // namespace tesela::plan
