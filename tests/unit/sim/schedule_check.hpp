#pragma once

// What every schedule must satisfy, checked from the recorded stream alone.

#include "support.hpp"
#include "tesela/sim/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tesela::testing {

/// The first rule that a schedule breaks, in words; empty if it keeps them all.
class ScheduleCheck {
public:
    explicit ScheduleCheck(const Simulated& simulated) : s_(simulated) {}

    std::string broken() {
        for (const auto rule :
             {&ScheduleCheck::every_task_once, &ScheduleCheck::workers_do_one_thing, &ScheduleCheck::data_are_there,
              &ScheduleCheck::links_keep_their_capacity, &ScheduleCheck::memories_keep_their_size,
              &ScheduleCheck::not_below_the_bounds, &ScheduleCheck::as_many_transfers_as_counted})
            if (std::string problem = (this->*rule)(); !problem.empty()) return problem;
        return {};
    }

private:
    std::string every_task_once() {
        task_of_.assign(s_.recording.items.size(), nullptr);
        for (const ScheduledTask& task : s_.schedule->tasks) {
            if (task_of_[task.item] != nullptr) return fmt::format("item {} ran twice", task.item);
            task_of_[task.item] = &task;
            const RecordedItem& item = s_.recording.items[task.item];
            if (task.node != item.node) return fmt::format("item {} ran on node {}", task.item, task.node);
            if (!(task.submitted <= task.ready && task.ready <= task.start && task.start <= task.end))
                return fmt::format("item {} has no order in time", task.item);
            if (task.end > s_.result.makespan) return "a task ends after the makespan";
        }
        for (std::size_t item = 0; item < task_of_.size(); ++item)
            if (s_.recording.items[item].kind == RecordedItem::Kind::task && task_of_[item] == nullptr)
                return fmt::format("item {} did not run", item);
        return {};
    }

    std::string workers_do_one_thing() {
        std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const ScheduledTask*>> by_worker;
        for (const ScheduledTask& task : s_.schedule->tasks) {
            const auto workers = simulated_workers(node_type(s_.platform, NodeId{task.node}), CriticalSlot::none);
            if (task.worker < 0 || task.worker >= static_cast<std::int32_t>(workers.size())) return "unknown worker";
            by_worker[{task.node, task.worker}].push_back(&task);
            const WorkerGroup& group =
                node_type(s_.platform, NodeId{task.node}).workers[workers[static_cast<std::size_t>(task.worker)].group];
            const RecordedItem& item = s_.recording.items[task.item];
            const auto seconds = kernel_seconds(group, item.kernel->name, {.tile = tile_size});
            if (!seconds || task.end - task.start < *seconds * (1 - 1e-9)) return "a task is too short";
        }
        for (auto& [worker, tasks] : by_worker) {
            std::ranges::sort(tasks, {}, &ScheduledTask::start);
            for (std::size_t k = 1; k < tasks.size(); ++k)
                if (tasks[k]->start < tasks[k - 1]->end) return "a worker runs two tasks at once";
        }
        return {};
    }

    /// The value that a task reads was written on its node before, or came in a message that was sent after the write.
    std::string data_are_there() {
        struct Value {
            std::optional<std::size_t> writer;
            std::vector<std::size_t> readers;
        };
        std::map<std::int32_t, Value> values;
        for (std::size_t n = 0; n < s_.recording.items.size(); ++n) {
            const RecordedItem& item = s_.recording.items[n];
            if (item.kind != RecordedItem::Kind::task) continue;
            for (const RecordedAccess& access : s_.recording.accesses_of(item)) {
                Value& value = values[access.datum];
                if (reads(access.mode) && !arrived(access.datum, value.writer, *task_of_[n]))
                    return fmt::format("item {} starts before datum {} is there", n, access.datum);
                if (!writes(access.mode)) {
                    value.readers.push_back(n);
                    continue;
                }
                for (const std::size_t reader : value.readers)
                    if (reader != n && task_of_[reader]->node == item.node &&
                        task_of_[n]->start < task_of_[reader]->end)
                        return fmt::format("item {} overwrites what item {} still reads", n, reader);
                value = {.writer = n, .readers = {}};
            }
        }
        return {};
    }

    bool arrived(std::int32_t datum, std::optional<std::size_t> writer, const ScheduledTask& reader) {
        const std::int32_t home =
            writer ? task_of_[*writer]->node : s_.recording.data[static_cast<std::size_t>(datum)].owner;
        const double written = writer ? task_of_[*writer]->end : 0;
        return is_there(datum, reader.node, {home, written, reader.start});
    }

    /// Where and when a value was written, and when it is needed.
    struct Span {
        std::int32_t home;
        double written;
        double needed;
    };
    /// A node may have it from another that had it.
    bool is_there(std::int32_t datum, std::int32_t node, const Span& span) {
        if (node == span.home) return span.written <= span.needed;
        return std::ranges::any_of(s_.schedule->messages, [&](const ScheduledMessage& m) {
            return m.datum == datum && m.to == node && m.start >= span.written && m.arrival <= span.needed &&
                   is_there(datum, m.from, {span.home, span.written, m.start});
        });
    }

    /// No interval carries more than the link can: the messages that lie in it altogether fit.
    std::string links_keep_their_capacity() {
        const NetworkLinks network(s_.platform);
        std::map<std::uint32_t, std::vector<const ScheduledMessage*>> on_link;
        for (const ScheduledMessage& m : s_.schedule->messages)
            for (const std::uint32_t l : network.route(m.from, m.to)) on_link[l].push_back(&m);
        for (auto& [l, messages] : on_link) {
            std::ranges::sort(messages, {}, &ScheduledMessage::sent);
            for (const ScheduledMessage* first : messages) {
                double bytes = 0;
                for (const ScheduledMessage* m : messages) {
                    if (m->start < first->start) continue;
                    bytes += m->bytes;
                    if (bytes > network.links()[l].bandwidth * (m->sent - first->start) * (1 + 1e-9))
                        return fmt::format("link {} is above its capacity", l);
                }
            }
        }
        return {};
    }

    std::string memories_keep_their_size() {
        std::map<std::pair<std::int32_t, std::int32_t>, double> used;
        std::vector<double> peak(static_cast<std::size_t>(node_count(s_.platform)), 0);
        for (const ScheduledMemory& change : s_.schedule->memory_changes) {
            double& now = used[{change.node, change.memory}];
            now += change.bytes;
            if (now < -1e-6) return "more memory given back than taken";
            if (change.memory == 0) {
                double& most = peak[static_cast<std::size_t>(change.node)];
                most = std::max(most, now);
                continue;
            }
            for (const WorkerGroup& group : node_type(s_.platform, NodeId{change.node}).workers)
                if (group.processor == Processor::gpu && now > group.memory) return "a GPU holds more than it can";
        }
        for (std::size_t node = 0; node < peak.size(); ++node)
            if (std::abs(peak[node] - s_.result.memory_peak[node]) > 1) return "the peak of memory is wrong";
        return {};
    }

    std::string not_below_the_bounds() {
        const SimulationResult& r = s_.result;
        if (r.makespan < r.area_bound * (1 - 1e-9)) return "shorter than the area bound";
        if (r.makespan < r.critical_path * (1 - 1e-9)) return "shorter than the critical path";
        if (r.lower_bound < std::max(r.area_bound, r.critical_path) * (1 - 1e-9)) return "the lower bound is too low";
        return {};
    }

    std::string as_many_transfers_as_counted() {
        const Transfers counted = count_transfers(s_.recording);
        if (counted.messages != s_.result.transfers ||
            counted.messages != static_cast<Index>(s_.schedule->messages.size()))
            return fmt::format("{} messages instead of {}", s_.result.transfers, counted.messages);
        if (std::abs(counted.bytes - s_.result.bytes) > 1) return "the bytes sent are wrong";
        return {};
    }

    const Simulated& s_;
    std::vector<const ScheduledTask*> task_of_;
};

}  // namespace tesela::testing
