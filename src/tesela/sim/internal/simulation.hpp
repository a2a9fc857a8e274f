#pragma once

#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/copies.hpp"
#include "tesela/sim/internal/durations.hpp"
#include "tesela/sim/internal/executor.hpp"
#include "tesela/sim/internal/resource_numbers.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tesela::sim {

/// A recorded stream on a described cluster, from wait to wait. The recording may grow meanwhile.
class Simulation {
public:
    /// Throws Error for a platform that check_platform refuses or options that make no sense. The recording outlives
    /// this.
    Simulation(Platform platform, SimulationOptions options, const Recording& recording);

    /// Other owners for some matrices than those that were recorded; before anything is run.
    void replace_owners(const std::map<std::string, Distribution>& distributions);
    /// Takes in the streams that were opened since.
    void know_streams();
    /// Simulates up to the wait of this number: those before it come first.
    void run_to(std::uint32_t wait) { run(recording_.waits[wait], wait); }
    /// Simulates what comes after the last wait.
    void run_to_end();
    /// Leaves out what has been recorded since.
    void skip();

    [[nodiscard]] const Platform& platform() const { return platform_; }
    [[nodiscard]] const Cluster& cluster() const { return cluster_; }
    [[nodiscard]] const SimulationOptions& options() const { return options_; }
    [[nodiscard]] SimulationResult result() const;
    /// Throws Error for numbers that exist on no node, or a node that would have no worker left.
    void check_workers(const WorkerSet& workers) const;
    /// Throws Error where the workers of streams cannot change while they run.
    void check_workers_may_change() const;

private:
    void run(const RecordedWait& until, std::uint32_t number);
    void know_items();
    void know_data();
    void know_exchanges(const SectionItems& items, std::vector<SimulatedExchange> of_section);
    void know_positions(std::uint32_t end);
    [[nodiscard]] std::uint32_t tasks_of(const RecordedItem& item, std::uint32_t number) const;
    [[nodiscard]] double factor_of(std::uint32_t item, std::uint32_t part) const;

    Platform platform_;
    SimulationOptions options_;
    const Recording& recording_;
    Cluster cluster_;
    Durations durations_;
    ResourceNumbers resources_;
    Copies copies_;
    Executor executor_;
    // What is known of the recording so far.
    std::vector<SimulatedStream> streams_;
    std::vector<Index> limits_;  // per stream
    std::vector<std::uint16_t> stream_of_item_;
    std::vector<std::uint32_t> position_of_item_;
    std::vector<std::uint32_t> submitted_;  // tasks and fetches, per stream
    std::vector<std::int32_t> owners_;      // at the beginning, per datum
    std::vector<Index> ranks_;
    std::vector<double> bytes_;
    std::vector<double> message_bytes_;
    std::vector<SimulatedExchange> exchanges_;
    std::uint32_t simulated_ = 0;  // items
    SimulationResult result_;
};

}  // namespace tesela::sim
