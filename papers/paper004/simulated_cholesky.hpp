#pragma once

#include "harness/table.hpp"
#include "paper004/sampled_ranks.hpp"
#include "paper004/switched_cholesky.hpp"

#include "tesela/sim/simulated_engine.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// Whether messages have the ranks of their tiles or the largest of all.
enum class MessageRanks { exact, largest };

/// A Cholesky factorisation of paper 004's case on nodes of Shaheen II, with its four switches.
struct SimulatedCase {
    Index tiles = 100;
    Index nodes = 16;
    std::string distribution = "block_cyclic";
    MessageRanks messages = MessageRanks::largest;
    SwitchedFactor factor{};
};

/// The columns that say what a row is of, and back.
[[nodiscard]] Row columns_of_case(const SimulatedCase& of);
[[nodiscard]] SimulatedCase case_of(const Row& row);

/// Every node submits without waiting for its tasks, and a core takes the most urgent task of its node.
[[nodiscard]] SimulationResult simulate(const SimulatedCase& of, const SampledRanks& ranks,
                                        const std::vector<ScheduleObserver*>& observers = {});

/// Seconds from when the tiles of a solve are on its node, updated, until it starts, by its distance from the diagonal.
class SolveWaits final : public ScheduleObserver {
public:
    void begin(const SimulatedRun& run) override;
    void task(const ScheduledTask& task) override;
    void message(const ScheduledMessage& message) override;

    struct Wait {
        Index from_diagonal = 0;
        double seconds = 0;
    };
    [[nodiscard]] std::vector<Wait> waits() const;

private:
    struct Solve {
        std::size_t datum = 0;
        std::size_t diagonal = 0;  // datum
        Index from_diagonal = 0;
        std::int32_t node = 0;
        double start = 0;
    };
    [[nodiscard]] std::size_t slot(std::size_t datum, std::int32_t node) const {
        return datum * nodes_ + static_cast<std::size_t>(node);
    }
    void grow(std::size_t datum);

    const Recording* recording_ = nullptr;  // while the run is told of
    std::size_t nodes_ = 1;
    std::vector<Solve> solves_;
    std::vector<double> updated_;  // by datum: when the last task but a solve that writes it has ended
    std::vector<double> arrived_;  // by slot
};

/// How busy the cores are in four stages of a factorisation, each a quarter of its panels.
class StageOccupancy final : public ScheduleObserver {
public:
    void begin(const SimulatedRun& run) override;
    void task(const ScheduledTask& task) override;
    /// Of a matrix with so many tile rows.
    [[nodiscard]] std::vector<double> stages(Index tiles) const;

private:
    const Recording* recording_ = nullptr;  // while the run is told of
    double cores_ = 0;
    std::vector<std::pair<double, double>> busy_;
    std::vector<double> panel_begins_;  // by step: when the tasks of its diagonal tile begin
};

}  // namespace tesela::bench
