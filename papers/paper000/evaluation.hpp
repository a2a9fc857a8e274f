#pragma once

#include "tesela/geo/overlap.hpp"
#include "tesela/mds/streamed_matrix.hpp"
#include "tesela/plan/planner.hpp"
#include "tesela/platform/platform.hpp"
#include "tesela/sim/simulated_engine.hpp"

namespace tesela::bench {

/// One likelihood evaluation, simulated as StarPU would have run it in paper 000.
struct SimulatedEvaluation {
    Platform platform;
    Index tiles = 0;
    geo::Overlap overlap = geo::Overlap::sync;
    std::vector<ScheduleObserver*> observers{};
};

[[nodiscard]] SimulationResult simulate_evaluation(const SimulatedEvaluation& evaluation);

/// One with all steps, to be planned.
[[nodiscard]] plan::Application planned_evaluation(Index tiles);

/// The first phases of multidimensional scaling, up to the product with random numbers, simulated in the same way:
/// tiles of 640 (section 5.1) that are taken from panels of fifteen, whole rows of them on one node.
struct SimulatedScaling {
    Platform platform;
    Index tiles = 0;
    Index columns = 0;  ///< of the random matrix
    StreamingStep step = StreamingStep::sync;
    std::vector<ScheduleObserver*> observers{};
};

[[nodiscard]] SimulationResult simulate_scaling(const SimulatedScaling& scaling);

/// What memory costs on nodes with CUDA, by who gets it.
///
/// Pinned memory: cudaMallocHost takes 2.3 ms up to 1 MB and 61 ms for 512 MB (M. Boyer, University of Virginia,
/// "Memory Management Overhead", https://www.cs.virginia.edu/~mwb7w/cuda_support/memory_management_overhead.html).
/// GPU memory: cudaMalloc takes 0.05 ms up to 512 KB (the same page) and 0.52 to 0.89 ms for 1 to 16 MB
/// (https://github.com/rtj1/cuda-mempool); 0.7 ms for a tile of 7.4 MB is between these. Other GPUs and drivers than
/// the paper's: an order of magnitude.
[[nodiscard]] AllocationCosts costs_of_memory(MemoryPolicy policy);

}  // namespace tesela::bench
