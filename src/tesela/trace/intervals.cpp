#include "tesela/trace/intervals.hpp"

#include <algorithm>
#include <limits>

namespace tesela::trace {

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

std::vector<std::vector<Interval>> busy_intervals(const Trace& trace) {
    std::vector<std::vector<Interval>> busy(trace.workers.size());
    for (const TaskRow& task : trace.tasks)
        if (task.ran() && task.worker >= 0)
            busy[static_cast<std::size_t>(task.worker)].push_back({task.start, task.end});
    for (auto& list : busy) {
        std::sort(list.begin(), list.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
        for (std::size_t k = 1; k < list.size(); ++k) {
            list[k].begin = std::max(list[k].begin, list[k - 1].end);
            list[k].end = std::max(list[k].end, list[k].begin);
        }
    }
    return busy;
}

Time covered(const std::vector<Interval>& intervals, const Interval& window) {
    Time sum = 0;
    for (const Interval& interval : intervals)
        sum += std::max<Time>(0, std::min(interval.end, window.end) - std::max(interval.begin, window.begin));
    return sum;
}

}  // namespace tesela::trace
