#pragma once

#include "tesela/sim/internal/cluster.hpp"
#include "tesela/trace/busy_time.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace tesela::sim {

/// How long cores and cards were busy, as the trace of the run would tell it, to the nanosecond.
class ProcessorUse {
public:
    explicit ProcessorUse(const Cluster& cluster) : nodes_(cluster.nodes()) {
        for (std::size_t n = 0; n < nodes_.size(); ++n)
            for (const Place& place : cluster.places[cluster.type_of_node[n]])
                nodes_[n].count += place.is_gpu() ? 1 : place.slots + place.critical_slots;
    }

    /// A task that was submitted then starts on a worker in this place, or ends.
    void starts(std::size_t node, const Place& place, std::int32_t worker, double submitted, double now) {
        begin_ = std::min({begin_, trace::nanoseconds(submitted), trace::nanoseconds(now)});
        processor(node, place, worker).start(trace::nanoseconds(now));
    }
    void ends(std::size_t node, const Place& place, std::int32_t worker, double now) {
        end_ = std::max(end_, trace::nanoseconds(now));
        if (const auto busy = processor(node, place, worker).end(trace::nanoseconds(now)))
            nodes_[node].busy += busy->length();
    }

    /// Of a node, or of all.
    [[nodiscard]] double utilisation(std::size_t node) const {
        return trace::share_of_time(nodes_[node].busy, nodes_[node].count, length());
    }
    [[nodiscard]] double utilisation() const {
        trace::Time busy = 0;
        Index count = 0;
        for (const Node& node : nodes_) {
            busy += node.busy;
            count += node.count;
        }
        return trace::share_of_time(busy, count, length());
    }

private:
    struct Node {
        Index count = 0;
        trace::Time busy = 0;
        std::vector<trace::BusyProcessor> by_worker{};  // a card at its first worker
    };

    [[nodiscard]] trace::BusyProcessor& processor(std::size_t node, const Place& place, std::int32_t worker) {
        auto& processors = nodes_[node].by_worker;
        const auto number = static_cast<std::size_t>(place.is_gpu() ? place.first_worker : worker);
        if (processors.size() <= number) processors.resize(number + 1);
        return processors[number];
    }
    [[nodiscard]] trace::Time length() const { return std::max<trace::Time>(0, end_ - begin_); }

    std::vector<Node> nodes_;
    trace::Time begin_ = std::numeric_limits<trace::Time>::max();
    trace::Time end_ = 0;
};

}  // namespace tesela::sim
