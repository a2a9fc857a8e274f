#pragma once

#include "tesela/flow/recording.hpp"
#include "tesela/platform/platform.hpp"
#include "tesela/sim/rank_model.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela::plan {

/// The two phases that overlap in paper 000: what makes the data (generation, reading), and what computes with them.
enum class Part : std::uint8_t { first, second };

/// Where a task stands in the model.
struct PlannedStep {
    Part part = Part::second;
    Index step = 0;
};

/// Says where a recorded task stands; nothing for one that is too small to plan for.
using StepRule = std::function<std::optional<PlannedStep>(const Recording& recording, const RecordedItem& task)>;

/// Tasks that are alike: a kernel in a phase.
struct TaskType {
    std::string kernel;
    Part part = Part::second;
    KernelWork work{};       ///< of one of them: the mean, so that all together are what they are; the longest tile
    std::string resource{};  ///< of which a node has a limited number, as file readers; empty for none
    Index tasks = 0;
    double ratio = 1;  ///< what the ranks of their tiles leave of the work, the mean: 1 where all are stored whole

    /// So many tasks on tiles that are stored whole are the same work.
    [[nodiscard]] double amount() const { return ratio * static_cast<double>(tasks); }
};

/// N[s,t] of paper 000: how many tasks of each type there are in each step.
struct StepCounts {
    Index steps = 0;
    std::vector<TaskType> types;
    std::vector<Index> counts;  ///< step by step, types next to each other
    /// The same in tasks on tiles that are stored whole: one on tiles of low rank counts as the part of it that its
    /// time is (low_rank_time_ratio). Empty: as counts.
    std::vector<double> amounts{};

    [[nodiscard]] Index count(Index step, std::size_t type) const { return counts[place(step, type)]; }
    [[nodiscard]] double amount(Index step, std::size_t type) const {
        return amounts.empty() ? static_cast<double>(count(step, type)) : amounts[place(step, type)];
    }

private:
    [[nodiscard]] std::size_t place(Index step, std::size_t type) const {
        return static_cast<std::size_t>(step) * types.size() + type;
    }
};

/// Counts the tasks of a recorded stream, whose tiles have these ranks. Types are in the order of their first tasks.
/// Throws Error if the rule gives a negative step or knows none of the tasks.
[[nodiscard]] StepCounts count_steps(const Recording& recording, const StepRule& rule, const RankModel& ranks = {},
                                     const LogCurve& recompression = {});

/// The last step of the first phase in which a tile of each row is written: when a row of tiles is there.
[[nodiscard]] std::vector<Index> last_steps_of_rows(const Recording& recording, const StepRule& rule, Index rows);

/// Which phases of a stream, by their labels, are the first and the second part; others are left out.
struct PhaseNames {
    std::vector<std::string> first;
    std::vector<std::string> second;
};

/// A task that writes tile (i, j) of this matrix belongs to step ⌊(i + j)/2⌋: two anti-diagonals at a time, as
/// generation and Cholesky go (paper 000, section 4.3). Tasks that write others are left out.
[[nodiscard]] StepRule by_antidiagonals(const PhaseNames& phases, std::string matrix);

/// A task belongs to the step of the tile of matrix `read` that it reads or writes: (i·columns + j)/readers for tile
/// (i, j), as files are read by so many readers at a time, over all nodes, and what they release follows.
[[nodiscard]] StepRule by_reading_order(const PhaseNames& phases, std::string read, Index readers);

}  // namespace tesela::plan
