#include "tesela/sim/simulate_recording.hpp"

#include "tesela/base/error.hpp"
#include "tesela/sim/internal/simulation.hpp"

#include <utility>

namespace tesela {
namespace {

/// A recording on a platform that it may not have been made for.
class Replay {
public:
    Replay(const Recording& recording, const Platform& platform, const SimulationOptions& options)
        : recording_(recording),
          simulation_(platform, options, recording) {}

    SimulationResult run(const std::map<std::string, Distribution>& distributions) {
        simulation_.replace_owners(distributions);
        check_owners(distributions);
        check_nodes();
        for (const RecordedStream& stream : recording_.streams) simulation_.check_workers(stream.workers);
        for (const WorkerSet& workers : recording_.worker_sets) simulation_.check_workers(workers);
        if (!recording_.worker_sets.empty()) simulation_.check_workers_may_change();
        simulation_.know_streams();
        for (std::uint32_t wait = 0; wait < recording_.waits.size(); ++wait) simulation_.run_to(wait);
        simulation_.run_to_end();
        return simulation_.result();
    }

private:
    void check_owners(const std::map<std::string, Distribution>& distributions) const {
        for (const std::int32_t owner : owners_at_start(recording_, distributions)) check_node(owner, "tiles");
        if (distributions.empty()) return;
        for (const RecordedItem& item : recording_.items)
            if (item.reductions == Reductions::lowered)
                throw Error(
                    "the recorded task {} adds to a tile from where it runs (reduce): what is added where depends on "
                    "who owns the tiles, so the stream must be submitted again for other distributions",
                    item.kernel->name);
    }

    /// Nodes that the algorithm named.
    void check_nodes() const {
        for (const RecordedItem& item : recording_.items) {
            if (item.kind == RecordedItem::Kind::move) check_node(item.node, "tiles that move");
            if (item.kind == RecordedItem::Kind::task && item.placement == Placement::named)
                check_node(item.node, "tasks");
        }
        for (const RecordedReaders& readers : recording_.shares)
            for (const std::int32_t node : readers.nodes) check_node(node, "readers");
    }

    void check_node(std::int32_t node, const char* what) const {
        if (std::cmp_less(node, simulation_.cluster().nodes())) return;
        throw Error("the recording has {} on node {}; the platform has {} nodes, counted from 0", what, node,
                    simulation_.cluster().nodes());
    }

    const Recording& recording_;
    sim::Simulation simulation_;
};

}  // namespace

SimulationResult simulate_recording(const Recording& recording, const Platform& platform,
                                    const SimulationOptions& options,
                                    const std::map<std::string, Distribution>& distributions) {
    return Replay(recording, platform, options).run(distributions);
}

}  // namespace tesela
