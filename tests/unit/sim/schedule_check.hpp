#pragma once

// What every schedule must satisfy, checked from the recorded stream, the platform and the options alone.

#include "support.hpp"
#include "tesela/base/random.hpp"
#include "tesela/sim/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tesela::testing {

/// The first rule that a schedule breaks, in words; empty if it keeps them all. It knows no exchanges.
class ScheduleCheck {
public:
    explicit ScheduleCheck(const Simulated& simulated) : s_(simulated), on_node_(nodes()) {
        for (const NodeType& type : s_.platform.node_types)
            workers_.insert(workers_.end(), static_cast<std::size_t>(type.count),
                            simulated_workers(type, s_.options.critical));
    }

    std::string broken() {
        for (const auto rule :
             {&ScheduleCheck::every_task_once, &ScheduleCheck::workers_do_one_thing, &ScheduleCheck::cores_take_turns,
              &ScheduleCheck::critical_workers_do_what_is_critical, &ScheduleCheck::tasks_take_their_time,
              &ScheduleCheck::gpus_keep_their_rate, &ScheduleCheck::waits_are_for_all, &ScheduleCheck::data_are_there,
              &ScheduleCheck::commuting_tasks_take_turns, &ScheduleCheck::limits_are_kept,
              &ScheduleCheck::the_most_urgent_goes_first, &ScheduleCheck::nobody_idles_beside_work,
              &ScheduleCheck::links_keep_their_capacity, &ScheduleCheck::memories_keep_their_size,
              &ScheduleCheck::what_runs_is_in_memory, &ScheduleCheck::full_nodes_are_named,
              &ScheduleCheck::not_below_the_bounds, &ScheduleCheck::as_many_transfers_as_counted})
            if (std::string problem = (this->*rule)(); !problem.empty()) return problem;
        return {};
    }

private:
    // --- tasks and workers

    std::string every_task_once() {
        if (!s_.recording.exchanges.empty()) return "the check knows no exchanges";
        task_of_.assign(s_.recording.items.size(), nullptr);
        for (const ScheduledTask& task : s_.schedule->tasks) {
            if (task_of_[task.item] != nullptr) return fmt::format("item {} ran twice", task.item);
            task_of_[task.item] = &task;
            const RecordedItem& item = item_of(task);
            if (task.node != item.node) return fmt::format("item {} ran on node {}", task.item, task.node);
            if (task.worker < 0 || std::cmp_greater_equal(task.worker, workers_of(task.node).size()))
                return fmt::format("item {} ran on worker {}, which there is not", task.item, task.worker);
            if (!(task.submitted <= task.ready && task.ready <= taken(task) + rounding && task.start <= task.end))
                return fmt::format("item {} has no order in time", task.item);
            if (task.end > s_.result.makespan) return "a task ends after the makespan";
            on_node_[static_cast<std::size_t>(task.node)].push_back(&task);
        }
        for (std::size_t item = 0; item < task_of_.size(); ++item)
            if (s_.recording.items[item].kind == RecordedItem::Kind::task && task_of_[item] == nullptr)
                return fmt::format("item {} did not run", item);
        return {};
    }

    std::string workers_do_one_thing() {
        for (const auto& [worker, tasks] : by_worker())
            for (std::size_t k = 1; k < tasks.size(); ++k)
                if (taken(*tasks[k]) < tasks[k - 1]->end - rounding)
                    return fmt::format("worker {} of node {} runs items {} and {} at once", worker.second, worker.first,
                                       tasks[k - 1]->item, tasks[k]->item);
        return {};
    }

    /// Cores of a node take their tasks some time apart, where the platform says so.
    std::string cores_take_turns() {
        for (std::int32_t node = 0; std::cmp_less(node, on_node_.size()); ++node) {
            std::vector<double> turns;
            for (const ScheduledTask* task : on_node_[static_cast<std::size_t>(node)])
                if (group_of(*task).processor == Processor::cpu) turns.push_back(taken(*task));
            std::ranges::sort(turns);
            for (std::size_t k = 1; k < turns.size(); ++k)
                if (turns[k] - turns[k - 1] < type_of(node).runtime.turn - rounding)
                    return fmt::format("two cores of node {} take tasks at once", node);
        }
        return {};
    }

    std::string critical_workers_do_what_is_critical() {
        for (const ScheduledTask& task : s_.schedule->tasks)
            if (is_critical(task.node, task.worker) && item_of(task).urgency != Urgency::critical)
                return fmt::format("item {} is not critical, but runs on the worker for what is", task.item);
        return {};
    }

    /// Seconds of the platform times exp(noise·z - noise²/2): on a core exactly, unless messages take time of it; a GPU
    /// may have other kernels beside.
    std::string tasks_take_their_time() {
        for (const ScheduledTask& task : s_.schedule->tasks) {
            const WorkerGroup& group = group_of(task);
            const auto seconds = seconds_on(item_of(task), group);
            if (!seconds) return fmt::format("item {} ran where its kernel cannot", task.item);
            const double expected = *seconds * noise_of(task.item) * slowdown_of(task);
            const double took = task.end - task.start;
            const double error = 1e-9 * expected + 1e-14 * s_.result.makespan;  // times are sums
            const bool exact = group.processor == Processor::cpu && !cores_lose_time(task.node);
            if (took < expected - error || (exact && took > expected + error))
                return fmt::format("item {} takes {} s instead of {}", task.item, took, expected);
        }
        return {};
    }

    [[nodiscard]] bool cores_lose_time(std::int32_t node) const {
        const RuntimeCosts& runtime = type_of(node).runtime;
        return runtime.message > 0 || runtime.message_bandwidth > 0;
    }

    /// Kernels that run on a GPU at the same time share what one of them alone would have.
    std::string gpus_keep_their_rate() {
        std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Amount>> on_gpu;
        for (const ScheduledTask& task : s_.schedule->tasks)
            if (const std::int32_t memory = memory_of(task); memory != main_memory)
                on_gpu[{task.node, memory}].push_back(
                    {task.start, task.end, *seconds_on(item_of(task), group_of(task)) * noise_of(task.item)});
        for (auto& [gpu, kernels] : on_gpu)
            if (above(kernels, 1)) return fmt::format("GPU {} of node {} is above its rate", gpu.second, gpu.first);
        return {};
    }

    /// No node submits what comes after a wait before all nodes have done what comes before.
    std::string waits_are_for_all() {
        for (const RecordedWait& wait : s_.recording.waits) {
            double last = 0;
            for (const ScheduledTask& task : s_.schedule->tasks)
                if (task.item < wait.items) last = std::max(last, task.end);
            for (const ScheduledTask& task : s_.schedule->tasks)
                if (task.item >= wait.items && task.submitted < last)
                    return fmt::format("item {} did not wait for all before item {}", task.item, wait.items);
        }
        return {};
    }

    // --- data

    /// Who made the value that a read would see: one task, or several that commute on one node; who has read it since,
    /// and what they had to wait for themselves.
    struct Value {
        std::vector<std::size_t> writers;
        std::vector<std::size_t> readers;
        std::vector<std::size_t> before;
        bool commuting = false;
    };

    /// The value that a task reads was written on its node before, or came in messages, the first of which was sent
    /// after the write; nothing is overwritten that is still read or sent.
    std::string data_are_there() {
        index_messages();
        std::map<std::int32_t, Value> values;
        for (std::size_t n = 0; n < s_.recording.items.size(); ++n) {
            const RecordedItem& item = s_.recording.items[n];
            if (item.kind != RecordedItem::Kind::task) continue;
            for (const RecordedAccess& access : s_.recording.accesses_of(item))
                if (std::string problem = follow(n, access, values[access.datum]); !problem.empty()) return problem;
        }
        return {};
    }

    std::string follow(std::size_t n, const RecordedAccess& access, Value& value) {
        const ScheduledTask& task = *task_of_[n];
        const bool joins = commutes(access.mode) && value.commuting && value.readers.empty() &&
                           task_of_[value.writers.front()]->node == task.node;
        const std::vector<std::size_t>& made_by = joins ? value.before : value.writers;
        if (reads(access.mode) && !arrived(access.datum, made_by, task))
            return fmt::format("item {} starts before datum {} is there", n, access.datum);
        if (!writes(access.mode)) {
            value.readers.push_back(n);
            return {};
        }
        if (!joins) value = {.writers = {}, .readers = {}, .before = joined(value), .commuting = commutes(access.mode)};
        value.writers.push_back(n);
        for (const std::size_t other : value.before)
            if (other != n && task_of_[other]->node == task.node && task.start < task_of_[other]->end)
                return fmt::format("item {} overwrites what item {} still uses", n, other);
        for (const ScheduledMessage* message : sent_from_[{access.datum, task.node}])
            if (message->item < n && task.start < message->sent)
                return fmt::format("item {} overwrites datum {} while it is sent", n, access.datum);
        return {};
    }

    static bool commutes(AccessMode mode) { return mode == AccessMode::commute || mode == AccessMode::disjoint; }
    static std::vector<std::size_t> joined(const Value& value) {
        std::vector<std::size_t> all = value.writers;
        all.insert(all.end(), value.readers.begin(), value.readers.end());
        return all;
    }

    void index_messages() {
        for (const ScheduledMessage& message : s_.schedule->messages) {
            sent_to_[{message.datum, message.to}].push_back(&message);
            sent_from_[{message.datum, message.from}].push_back(&message);
        }
    }

    /// Of those that made the value, all that write it; readers among what a commuting task waits for do not.
    bool arrived(std::int32_t datum, const std::vector<std::size_t>& made_by, const ScheduledTask& reader) {
        Span span{s_.recording.data[static_cast<std::size_t>(datum)].owner, 0, reader.start};
        for (const std::size_t writer : made_by) {
            if (!writes_to(writer, datum)) continue;
            span.home = task_of_[writer]->node;
            span.written = std::max(span.written, task_of_[writer]->end);
        }
        return is_there(datum, reader.node, span);
    }
    [[nodiscard]] bool writes_to(std::size_t n, std::int32_t datum) const {
        return std::ranges::any_of(s_.recording.accesses_of(s_.recording.items[n]), [&](const RecordedAccess& access) {
            return access.datum == datum && writes(access.mode);
        });
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
        return std::ranges::any_of(sent_to_[{datum, node}], [&](const ScheduledMessage* m) {
            return m->start >= span.written && m->arrival <= span.needed &&
                   is_there(datum, m->from, {span.home, span.written, m->start});
        });
    }

    // --- what goes on at the same time on a node

    /// A time between two changes on a node: who runs, and who is ready and has no worker yet.
    struct Moment {
        std::int32_t node = 0;
        double time = 0;
        std::vector<const ScheduledTask*> running;
        std::vector<const ScheduledTask*> waiting;
    };

    /// The first problem that a rule finds at any moment of any node.
    template <class Rule>
    std::string at_every_moment(const Rule& rule) {
        for (std::int32_t node = 0; std::cmp_less(node, on_node_.size()); ++node) {
            std::set<double> changes;
            for (const ScheduledTask* task : on_node_[static_cast<std::size_t>(node)])
                changes.insert({task->ready, taken(*task), task->end});
            for (auto change = changes.begin(); change != changes.end() && std::next(change) != changes.end(); ++change)
                if (*std::next(change) - *change > rounding)
                    if (std::string problem = rule(moment(node, (*change + *std::next(change)) / 2)); !problem.empty())
                        return fmt::format("{} at {} on node {}", problem, *change, node);
        }
        return {};
    }
    Moment moment(std::int32_t node, double time) const {
        Moment result{.node = node, .time = time, .running = {}, .waiting = {}};
        for (const ScheduledTask* task : on_node_[static_cast<std::size_t>(node)]) {
            if (taken(*task) <= time && time < task->end) result.running.push_back(task);
            if (task->ready <= time && time < taken(*task)) result.waiting.push_back(task);
        }
        return result;
    }

    std::string commuting_tasks_take_turns() {
        return at_every_moment([&](const Moment& now) -> std::string {
            std::map<std::int32_t, const ScheduledTask*> holders;
            for (const ScheduledTask* task : now.running)
                for (const std::int32_t datum : commuting_data(*task))
                    if (const auto [holder, first] = holders.try_emplace(datum, task); !first)
                        return fmt::format("items {} and {} commute on datum {} at the same time", holder->second->item,
                                           task->item, datum);
            return {};
        });
    }

    std::string limits_are_kept() {
        return at_every_moment([&](const Moment& now) -> std::string {
            std::map<std::string, Index> used;
            for (const ScheduledTask* task : now.running)
                if (const auto limit = limit_of(*task); limit && ++used[limit->name] > limit->at_most)
                    return fmt::format("more than {} tasks that need {} run", limit->at_most, limit->name);
            return {};
        });
    }

    /// A worker takes the first of what was ready: by priority, then by the order of the stream. Tasks that may have
    /// waited for something else are left out, and nodes where workers decide before it is their turn.
    std::string the_most_urgent_goes_first() {
        for (std::int32_t node = 0; std::cmp_less(node, on_node_.size()); ++node) {
            if (!has_one_queue(node) || type_of(node).runtime.turn > 0) continue;
            const auto& tasks = on_node_[static_cast<std::size_t>(node)];
            for (const ScheduledTask* task : tasks)
                for (const ScheduledTask* other : tasks)
                    if (other->ready < taken(*task) - rounding && taken(*other) > taken(*task) + rounding &&
                        goes_before(*other, *task) && !limit_of(*other) && commuting_data(*other).empty() &&
                        may_use(*other, node, task->worker))
                        return fmt::format("item {} was taken before item {}, which was ready and more urgent",
                                           task->item, other->item);
        }
        return {};
    }
    [[nodiscard]] bool goes_before(const ScheduledTask& a, const ScheduledTask& b) const {
        return std::pair{-item_of(a).priority, a.item} < std::pair{-item_of(b).priority, b.item};
    }

    /// Where only cores are, a task that is ready and has no worker waits for its turn on a tile, for a resource, or
    /// for another core that takes a task.
    std::string nobody_idles_beside_work() {
        return at_every_moment([&](const Moment& now) -> std::string {
            if (!has_one_queue(now.node) || another_takes(now)) return {};
            const auto workers = static_cast<std::int32_t>(workers_of(now.node).size());
            for (std::int32_t worker = 0; worker < workers; ++worker) {
                if (std::ranges::any_of(now.running, [&](const auto* task) { return task->worker == worker; }))
                    continue;
                for (const ScheduledTask* task : now.waiting)
                    if (may_use(*task, now.node, worker) && !waits_for_others(*task, worker, now))
                        return fmt::format("item {} waits beside worker {}, which is idle", task->item, worker);
            }
            return {};
        });
    }
    [[nodiscard]] bool another_takes(const Moment& now) const {
        const double turn = type_of(now.node).runtime.turn;
        return std::ranges::any_of(on_node_[static_cast<std::size_t>(now.node)], [&](const ScheduledTask* task) {
            return taken(*task) <= now.time && now.time < taken(*task) + turn + rounding;
        });
    }
    /// Whether it may wait for what others hold that run, or cannot run on this idle worker.
    [[nodiscard]] bool waits_for_others(const ScheduledTask& task, std::int32_t idle, const Moment& now) const {
        std::vector<const ScheduledTask*> holders = now.running;
        std::ranges::copy_if(now.waiting, std::back_inserter(holders),
                             [&](const ScheduledTask* other) { return !may_use(*other, now.node, idle); });
        if (const auto limit = limit_of(task)) {
            const auto uses_it = [&](const ScheduledTask* other) {
                const auto of_other = limit_of(*other);
                return of_other && of_other->name == limit->name;
            };
            if (std::ranges::count_if(holders, uses_it) >= limit->at_most) return true;
        }
        // One whose turn it is keeps the tile while it waits for a resource.
        std::ranges::copy_if(now.waiting, std::back_inserter(holders),
                             [&](const ScheduledTask* other) { return other != &task && limit_of(*other); });
        return std::ranges::any_of(holders, [&](const ScheduledTask* other) { return share_a_turn(task, *other); });
    }
    [[nodiscard]] bool share_a_turn(const ScheduledTask& a, const ScheduledTask& b) const {
        const std::vector<std::int32_t> of_b = commuting_data(b);
        return std::ranges::any_of(commuting_data(a),
                                   [&](std::int32_t datum) { return std::ranges::find(of_b, datum) != of_b.end(); });
    }

    /// Cores of one kind take from one list, if their streams may use them all.
    [[nodiscard]] bool has_one_queue(std::int32_t node) const {
        const bool all_workers = s_.recording.worker_sets.empty() &&
                                 std::ranges::all_of(s_.recording.streams, [](const RecordedStream& stream) {
                                     return stream.workers.empty();
                                 });
        const auto& groups = type_of(node).workers;
        return all_workers && groups.size() == 1 && groups.front().processor == Processor::cpu;
    }
    [[nodiscard]] bool may_use(const ScheduledTask& task, std::int32_t node, std::int32_t worker) const {
        return !is_critical(node, worker) || item_of(task).urgency == Urgency::critical;
    }

    /// What it names, or its kernel where the node type names that: as low as either says.
    [[nodiscard]] std::optional<ResourceLimit> limit_of(const ScheduledTask& task) const {
        const RecordedItem& item = item_of(task);
        const auto& of_node = type_of(task.node).limits;
        const auto named = [&](const std::string& name) -> std::optional<int> {
            const auto found = of_node.find(name);
            if (found == of_node.end()) return {};
            return static_cast<int>(found->second);
        };
        if (item.resource == 0) {
            const auto limit = named(item.kernel->name);
            return limit ? std::optional(ResourceLimit{item.kernel->name, *limit}) : std::nullopt;
        }
        const ResourceLimit& own = s_.recording.resources[item.resource - std::size_t{1}];
        return ResourceLimit{own.name, std::min(own.at_most, named(own.name).value_or(own.at_most))};
    }

    [[nodiscard]] std::vector<std::int32_t> commuting_data(const ScheduledTask& task) const {
        std::vector<std::int32_t> data;
        for (const RecordedAccess& access : s_.recording.accesses_of(item_of(task)))
            if (access.mode == AccessMode::commute) data.push_back(access.datum);
        return data;
    }

    // --- links and memories

    /// So much was done from start to end.
    struct Amount {
        double start = 0;
        double end = 0;
        double amount = 0;
    };
    /// Whether in some interval more was done than a rate allows: what lies in it altogether does not fit.
    static bool above(std::vector<Amount>& amounts, double rate) {
        std::ranges::sort(amounts, {}, &Amount::end);
        for (const Amount& first : amounts) {
            double sum = 0;
            for (const Amount& one : amounts) {
                if (one.start < first.start) continue;
                sum += one.amount;
                if (sum > rate * (one.end - first.start) * (1 + 1e-9)) return true;
            }
        }
        return false;
    }

    std::string links_keep_their_capacity() {
        const NetworkLinks network(s_.platform);
        std::map<std::uint32_t, std::vector<Amount>> on_link;
        for (const ScheduledMessage& m : s_.schedule->messages)
            for (const std::uint32_t l : network.route(m.from, m.to)) on_link[l].push_back({m.start, m.sent, m.bytes});
        for (auto& [l, messages] : on_link)
            if (above(messages, network.links()[l].bandwidth)) return fmt::format("link {} is above its capacity", l);
        return {};
    }

    std::string memories_keep_their_size() {
        std::map<std::pair<std::int32_t, std::int32_t>, double> used;
        std::vector<double> peak(on_node_.size(), 0);
        for (const ScheduledMemory& change : s_.schedule->memory_changes) {
            double& now = used[{change.node, change.memory}];
            now += change.bytes;
            if (now < -1e-6) return "more memory given back than taken";
            if (change.memory == main_memory) {
                double& most = peak[static_cast<std::size_t>(change.node)];
                most = std::max(most, now);
            } else if (now > gpu_with(change.node, change.memory).memory) {
                return fmt::format("GPU {} of node {} holds more than it can", change.memory, change.node);
            }
        }
        for (std::size_t node = 0; node < peak.size(); ++node)
            if (std::abs(peak[node] - s_.result.memory_peak[node]) > 1) return "the peak of memory is wrong";
        return {};
    }

    /// The memory where tasks run holds the tiles of them all.
    std::string what_runs_is_in_memory() {
        std::map<std::pair<std::int32_t, std::int32_t>, std::vector<ScheduledMemory>> changes;
        for (const ScheduledMemory& change : s_.schedule->memory_changes)
            changes[{change.node, change.memory}].push_back(change);
        for (auto& [where, list] : changes)
            for (std::size_t k = 1; k < list.size(); ++k) list[k].bytes += list[k - 1].bytes;  // what is held from then
        return at_every_moment([&](const Moment& now) -> std::string {
            std::map<std::int32_t, std::set<std::int32_t>> needed;
            for (const ScheduledTask* task : now.running)
                if (task->start <= now.time)
                    for (const RecordedAccess& access : s_.recording.accesses_of(item_of(*task)))
                        needed[memory_of(*task)].insert(access.datum);
            for (const auto& [memory, data] : needed) {
                double bytes = 0;
                for (const std::int32_t datum : data)
                    bytes += static_cast<double>(s_.recording.data[static_cast<std::size_t>(datum)].bytes);
                if (held(changes[{now.node, memory}], now.time) < bytes - 1)
                    return fmt::format("memory {} does not hold the tiles of what runs", memory);
            }
            return {};
        });
    }
    static double held(const std::vector<ScheduledMemory>& totals, double time) {
        const auto later = std::ranges::upper_bound(totals, time, {}, &ScheduledMemory::time);
        return later == totals.begin() ? 0 : std::prev(later)->bytes;
    }

    /// Main memory takes whatever comes; who has too little is said.
    std::string full_nodes_are_named() {
        std::size_t full = 0;
        for (std::int32_t node = 0; std::cmp_less(node, on_node_.size()); ++node) {
            if (s_.result.memory_peak[static_cast<std::size_t>(node)] <= type_of(node).memory) continue;
            ++full;
            const std::string begin = fmt::format("node {} (", node);
            if (std::ranges::none_of(s_.result.warnings, [&](const auto& text) { return text.starts_with(begin); }))
                return fmt::format("no warning that node {} has too little memory", node);
        }
        return full == s_.result.warnings.size() ? "" : "a warning of memory that suffices";
    }

    // --- what the simulator says of all together

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

    // --- looking things up

    static constexpr std::int32_t main_memory = 0;
    /// Times that differ by less are the same.
    static constexpr double rounding = 1e-12;

    [[nodiscard]] const RecordedItem& item_of(const ScheduledTask& task) const { return s_.recording.items[task.item]; }
    [[nodiscard]] std::size_t nodes() const { return static_cast<std::size_t>(node_count(s_.platform)); }
    [[nodiscard]] const NodeType& type_of(std::int32_t node) const { return node_type(s_.platform, NodeId{node}); }
    [[nodiscard]] const std::vector<SimulatedWorker>& workers_of(std::int32_t node) const {
        return workers_[static_cast<std::size_t>(node)];
    }
    [[nodiscard]] bool is_critical(std::int32_t node, std::int32_t worker) const {
        return s_.options.critical != CriticalWorker::none && std::cmp_equal(worker + 1, workers_of(node).size());
    }
    [[nodiscard]] const SimulatedWorker& worker_of(const ScheduledTask& task) const {
        return workers_of(task.node)[static_cast<std::size_t>(task.worker)];
    }
    [[nodiscard]] const WorkerGroup& group_of(const ScheduledTask& task) const {
        return type_of(task.node).workers[worker_of(task).group];
    }
    /// When it was its worker's turn to take it: a core needs a while before the kernel starts.
    [[nodiscard]] double taken(const ScheduledTask& task) const {
        if (group_of(task).processor == Processor::gpu) return task.start;
        return task.start - slowdown_of(task) * type_of(task.node).runtime.task;
    }
    /// A critical task has half of its core if the node submits when it starts, and all of it otherwise. Messages are
    /// submitted too, which a schedule does not show: where no task is left to submit, either is right.
    [[nodiscard]] double slowdown_of(const ScheduledTask& task) const {
        if (!is_critical(task.node, task.worker)) return 1;
        if (submits_after(task)) return 2;
        const auto alone = seconds_on(item_of(task), group_of(task));
        return alone && task.end - task.start > 1.5 * *alone * noise_of(task.item) ? 2 : 1;
    }
    /// Whether its node submits a task, before the next wait, after this one has started.
    [[nodiscard]] bool submits_after(const ScheduledTask& task) const {
        const auto wait_of = [&](const ScheduledTask& one) {
            return std::ranges::count_if(s_.recording.waits,
                                         [&](const RecordedWait& wait) { return wait.items <= one.item; });
        };
        return std::ranges::any_of(s_.schedule->tasks, [&](const ScheduledTask& other) {
            return other.node == task.node && other.submitted > task.start && wait_of(other) == wait_of(task);
        });
    }
    [[nodiscard]] std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const ScheduledTask*>> by_worker() const {
        std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const ScheduledTask*>> result;
        for (const ScheduledTask& task : s_.schedule->tasks) result[{task.node, task.worker}].push_back(&task);
        for (auto& [worker, tasks] : result) std::ranges::sort(tasks, {}, &ScheduledTask::start);
        return result;
    }

    /// GPUs of a node are numbered from 1, group by group.
    [[nodiscard]] std::int32_t memory_of(const ScheduledTask& task) const {
        const SimulatedWorker& worker = worker_of(task);
        return worker.processor == Processor::cpu ? main_memory : static_cast<std::int32_t>(worker.card + 1);
    }
    [[nodiscard]] const WorkerGroup& gpu_with(std::int32_t node, std::int32_t memory) const {
        Index before = 0;
        const auto& groups = type_of(node).workers;
        return *std::ranges::find_if(groups, [&](const WorkerGroup& group) {
            if (group.processor == Processor::gpu) before += group.count;
            return group.processor == Processor::gpu && memory <= before;
        });
    }

    [[nodiscard]] std::optional<double> seconds_on(const RecordedItem& item, const WorkerGroup& group) const {
        KernelWork work{.tile = 1, .flops = item.cost.flops, .bytes = item.cost.bytes};
        for (const RecordedAccess& access : s_.recording.accesses_of(item)) {
            const TileShape& shape = s_.recording.data[static_cast<std::size_t>(access.datum)].shape;
            work.add_tile(shape.rows, shape.cols, writes(access.mode));
        }
        return kernel_seconds(group, item.kernel->name, work);
    }
    [[nodiscard]] double noise_of(std::uint32_t item) const {
        const double noise = s_.options.noise;
        return std::exp(noise * Random(s_.options.seed).normal({item, 0}) - noise * noise / 2);
    }

    const Simulated& s_;
    std::vector<const ScheduledTask*> task_of_;               // by item
    std::vector<std::vector<const ScheduledTask*>> on_node_;  // by node
    std::vector<std::vector<SimulatedWorker>> workers_;       // by node
    using Place = std::pair<std::int32_t, std::int32_t>;      // datum, node
    std::map<Place, std::vector<const ScheduledMessage*>> sent_to_;
    std::map<Place, std::vector<const ScheduledMessage*>> sent_from_;
};

}  // namespace tesela::testing
