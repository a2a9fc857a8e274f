#pragma once

#include "tesela/sim/schedule.hpp"

#include <map>
#include <string>
#include <vector>

namespace tesela::bench {

/// What a worker does, as the colours of paper 000's figures: covariances; Cholesky; determinant, solve and products.
enum class Part : std::uint8_t { generation, factorisation, rest };
inline constexpr std::size_t parts = 3;

/// Collects of a simulated evaluation what figure 8 of paper 000 shows.
class RunPicture final : public ScheduleObserver {
public:
    explicit RunPicture(std::string title) : title_(std::move(title)) {}

    void begin(const SimulatedRun& run) override;
    void task(const ScheduledTask& task) override;
    void memory(const ScheduledMemory& change) override;

    /// From the first start to the last end.
    struct Span {
        double start = 0;
        double end = 0;
    };
    struct Work {
        Span span;
        Part part = Part::generation;
    };
    /// Bytes in main memory from some time on.
    struct Level {
        double time = 0;
        double bytes = 0;
    };

    [[nodiscard]] const std::string& title() const { return title_; }
    [[nodiscard]] double makespan() const { return makespan_; }
    /// Of Cholesky, by step.
    [[nodiscard]] const std::map<std::int32_t, Span>& iterations() const { return iterations_; }
    /// Of the cores and of the GPUs of each node.
    [[nodiscard]] const std::vector<Work>& work(std::int32_t node, Processor processor) const;
    [[nodiscard]] const std::map<std::int32_t, std::vector<Level>>& memory_of_nodes() const { return memory_; }
    /// Workers of a node that a group's work is divided by.
    [[nodiscard]] double workers(std::int32_t node, Processor processor) const;
    [[nodiscard]] std::int32_t nodes() const;

private:
    std::string title_;
    SimulatedRun run_{};
    Platform platform_;                               // the run's own ends with it
    std::vector<std::vector<Processor>> processors_;  // of the workers of each node
    double makespan_ = 0;
    std::map<std::int32_t, Span> iterations_;
    std::map<std::pair<std::int32_t, Processor>, std::vector<Work>> work_;
    std::map<std::int32_t, std::vector<Level>> memory_;
};

/// Runs beside each other on one scale of time: iterations of Cholesky, what cores and GPUs of each node do, and main
/// memory in use.
[[nodiscard]] std::string draw_runs(const std::string& title, const std::vector<const RunPicture*>& runs);

}  // namespace tesela::bench
