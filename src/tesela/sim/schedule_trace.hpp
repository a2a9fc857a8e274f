#pragma once

#include "tesela/sim/schedule.hpp"
#include "tesela/trace/modules.hpp"

#include <memory>

namespace tesela {

/// Writes a simulated run as a trace, in the schema of a real one: a file per node (PATH, PATH.1, …), times counted
/// from the beginning of the simulation.
class ScheduleTrace final : public ScheduleObserver {
public:
    /// Opens the files. Throws Error if one cannot be written.
    ScheduleTrace(const trace::Options& options, const Platform& platform,
                  CriticalWorker critical = CriticalWorker::none);
    ~ScheduleTrace() override;
    ScheduleTrace(const ScheduleTrace&) = delete;
    ScheduleTrace& operator=(const ScheduleTrace&) = delete;

    void begin(const SimulatedRun& run) override;
    void task(const ScheduledTask& task) override;
    void message(const ScheduledMessage& message) override;
    void memory(const ScheduledMemory& change) override;
    void wait(const ScheduledWait& wait) override;

    /// Ends the files. Throws Error if one is incomplete.
    void close();

private:
    class Files;
    std::unique_ptr<Files> files_;
};

}  // namespace tesela
