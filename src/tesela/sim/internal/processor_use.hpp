#pragma once

#include "tesela/sim/internal/cluster.hpp"
#include "tesela/trace/busy_time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

    struct WorkerOf {
        std::size_t node = 0;
        const Place& place;
        std::int32_t number = 0;
    };
    /// A task that was submitted then starts on a worker, or ends.
    void starts(const WorkerOf& worker, double submitted, double now) {
        begin_ = std::min({begin_, trace::nanoseconds(submitted), trace::nanoseconds(now)});
        processor(worker).start(trace::nanoseconds(now));
    }
    void ends(const WorkerOf& worker, double now) {
        end_ = std::max(end_, trace::nanoseconds(now));
        if (const auto busy = processor(worker).end(trace::nanoseconds(now)))
            nodes_[worker.node].busy += busy->length();
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

    [[nodiscard]] trace::BusyProcessor& processor(const WorkerOf& worker) {
        auto& processors = nodes_[worker.node].by_worker;
        const auto number = static_cast<std::size_t>(worker.place.is_gpu() ? worker.place.first_worker : worker.number);
        if (processors.size() <= number) processors.resize(number + 1);
        return processors[number];
    }
    [[nodiscard]] trace::Time length() const { return std::max<trace::Time>(0, end_ - begin_); }

    std::vector<Node> nodes_;
    trace::Time begin_ = std::numeric_limits<trace::Time>::max();
    trace::Time end_ = 0;
};

}  // namespace tesela::sim
