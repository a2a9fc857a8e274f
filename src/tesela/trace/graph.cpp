#include "tesela/trace/graph.hpp"

#include "tesela/base/error.hpp"
#include "tesela/trace/intervals.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace tesela::trace {
namespace {

using Rows = std::vector<std::uint32_t>;

}  // namespace

Touch touch_of(Use use) {
    if (use == Use::read) return Touch::read;
    return use == Use::commute || use == Use::disjoint ? Touch::commute : Touch::write;
}

std::vector<std::uint32_t> submission_order(const Trace& trace) {
    if (trace.tasks.size() > std::numeric_limits<std::uint32_t>::max())
        throw Error("the trace has {} tasks; at most 2^32 can be analysed", trace.tasks.size());
    Rows order(trace.tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    if (trace.tasks.empty() || stream_of(trace.tasks.front().id) == stream_of(trace.tasks.back().id)) return order;
    // Within a stream rows are in order already; a row may not come before an earlier one of its stream.
    std::vector<Time> when(trace.tasks.size());
    for (std::size_t v = 0; v < when.size(); ++v) {
        when[v] = trace.tasks[v].created;
        if (v > 0 && stream_of(trace.tasks[v].id) == stream_of(trace.tasks[v - 1].id))
            when[v] = std::max(when[v], when[v - 1]);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return when[a] < when[b]; });
    return order;
}

Graph dependency_graph(const Trace& trace) {
    const Rows order = submission_order(trace);
    std::vector<std::size_t> begin(order.size());
    std::vector<std::size_t> count(order.size());
    Rows found;
    std::unordered_map<std::uint64_t, LastTouch> last;
    Rows needs;
    for (const std::uint32_t v : order) {
        needs.clear();
        for (const std::uint64_t access : trace.accesses_of(trace.tasks[v]))
            if (use_of(access) <= Use::disjoint) last[datum_of(access)].touch(touch_of(use_of(access)), v, needs);
        tidy_dependencies(v, needs);
        begin[v] = found.size();
        count[v] = needs.size();
        found.insert(found.end(), needs.begin(), needs.end());
    }
    Graph graph;
    graph.first.reserve(order.size() + 1);
    graph.predecessors.reserve(found.size());
    for (std::size_t v = 0; v < order.size(); ++v) {
        graph.predecessors.insert(graph.predecessors.end(), found.begin() + static_cast<std::ptrdiff_t>(begin[v]),
                                  found.begin() + static_cast<std::ptrdiff_t>(begin[v] + count[v]));
        graph.first.push_back(graph.predecessors.size());
    }
    return graph;
}

}  // namespace tesela::trace
