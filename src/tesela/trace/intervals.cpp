#include "tesela/trace/intervals.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace tesela::trace {
namespace {

/// A kernel starts or ends.
struct Moment {
    enum class What : std::uint8_t { start, end };  // at equal times starts come first
    Time time = 0;
    What what = What::start;
    auto operator<=>(const Moment&) const = default;
};

std::vector<Interval> busy_intervals(std::vector<Moment> moments) {
    std::ranges::sort(moments);
    std::vector<Interval> intervals;
    BusyProcessor processor;
    for (const Moment& moment : moments) {
        if (moment.what == Moment::What::start)
            processor.start(moment.time);
        else if (const auto busy = processor.end(moment.time))
            intervals.push_back(*busy);
    }
    return intervals;
}

/// Which processor each worker is on, numbered by their first workers.
std::vector<std::size_t> number_processors(const std::vector<WorkerRow>& workers) {
    std::map<std::tuple<std::int32_t, std::string, std::int32_t>, std::size_t> cards;
    std::vector<std::size_t> number;
    std::size_t count = 0;
    for (const WorkerRow& worker : workers) {
        if (worker.card < 0) {
            number.push_back(count++);
            continue;
        }
        const auto [card, is_new] = cards.try_emplace({worker.node, worker.kind, worker.card}, count);
        if (is_new) ++count;
        number.push_back(card->second);
    }
    return number;
}

}  // namespace

double seconds_or_nan(Time time) {
    return time == unknown_time ? std::numeric_limits<double>::quiet_NaN() : seconds(time);
}

Interval run_interval(const Trace& trace) {
    Interval run{std::numeric_limits<Time>::max(), 0};
    for (const TaskRow& task : trace.tasks) {
        for (const Time time : {task.created, task.start})
            if (time != unknown_time) run.begin = std::min(run.begin, time);
        run.end = std::max({run.end, task.start, task.end});
    }
    return run.begin < run.end ? run : Interval{};
}

std::vector<Processor> processors_of(const Trace& trace) {
    const std::vector<std::size_t> number = number_processors(trace.workers);
    std::vector<Processor> processors;
    for (std::size_t w = 0; w < number.size(); ++w)
        if (number[w] == processors.size()) processors.push_back({.first_worker = w});
    std::vector<std::vector<Moment>> moments(processors.size());
    for (const TaskRow& task : trace.tasks) {
        if (!task.ran() || task.worker < 0) continue;
        auto& of_processor = moments[number[static_cast<std::size_t>(task.worker)]];
        of_processor.push_back({task.start, Moment::What::start});
        of_processor.push_back(
            {std::max(task.start, task.end), Moment::What::end});  // damaged times may be in any order
    }
    for (std::size_t p = 0; p < processors.size(); ++p) processors[p].busy = busy_intervals(std::move(moments[p]));
    return processors;
}

Time covered(const std::vector<Interval>& intervals, const Interval& window) {
    Time sum = 0;
    for (const Interval& interval : intervals)
        sum += std::max<Time>(0, std::min(interval.end, window.end) - std::max(interval.begin, window.begin));
    return sum;
}

}  // namespace tesela::trace
