#pragma once

#include "tesela/base/index.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tesela::bench {

/// A run of this program's command `fault` on several nodes of this machine.
struct FaultRun {
    std::string fault;
    std::uint64_t seed = 1;
    Index nodes = 4;
};

/// How it ended.
struct FaultEnd {
    Index node = -1;  ///< that failed; less than 0 where the fault was not reached
    Index step = -1;
    double seconds = 0;  ///< from the fault to the end of mpirun, or until it was given up
    int exit_code = -1;  ///< of mpirun; less than 0 where it had to be ended
    Index processes_left = 0;

    [[nodiscard]] bool was_reached() const { return node >= 0; }
};

/// mpirun in the background, with a folder of its own, while it lives.
class FaultJob {
public:
    /// Throws Error if mpirun cannot be started.
    explicit FaultJob(const FaultRun& run);
    ~FaultJob();
    FaultJob(const FaultJob&) = delete;
    FaultJob& operator=(const FaultJob&) = delete;
    FaultJob(FaultJob&&) = delete;
    FaultJob& operator=(FaultJob&&) = delete;

    /// Waits for its end, at most so many seconds after the fault, and ends what is left of it.
    [[nodiscard]] FaultEnd wait(double seconds_after_fault);

private:
    [[nodiscard]] bool has_ended();
    void read_stamp(FaultEnd& end);
    /// Its processes, whoever is their parent.
    [[nodiscard]] std::vector<pid_t> processes() const;
    Index end_processes();

    std::filesystem::path folder_;
    std::string mark_;  ///< in the environment of all its processes
    pid_t mpirun_ = -1;
    int exit_code_ = -1;
    bool ended_ = false;
    double struck_ = 0;  ///< when the fault happened
};

}  // namespace tesela::bench
