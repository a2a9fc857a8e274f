#pragma once

#include "tesela/flow/stream.hpp"
#include "tesela/geo/model.hpp"
#include "tesela/geo/overlap.hpp"
#include "tesela/plan/planner.hpp"

#include <string>

namespace tesela::geo {

/// A likelihood evaluation to be planned.
struct PlannedEvaluation {
    Index points = 0;
    Index tile = 960;
    OverlapChoice overlap = Overlap::order;
    Trend trend = Trend::constant;
    Index max_pending = 0;  ///< tasks of the stream that may wait; 0: as a stream has it
};

/// The matrix that an evaluation is planned for, by its name in the stream.
inline constexpr const char* planned_matrix = "Sigma";

/// Submits an evaluation of any points under these owners, and waits for it: for engines without data, which record or
/// simulate.
void submit_evaluation(Stream& stream, const PlannedEvaluation& evaluation, const plan::PhaseDistributions& owners);

/// An evaluation as an application of the planner: generation first, Cholesky second, by anti-diagonals of the
/// covariance matrix.
[[nodiscard]] plan::Application planned_evaluation(const PlannedEvaluation& evaluation);

/// How an evaluation on such nodes is simulated so that it is as the engine runs it: by priority on cores, by the
/// earliest end where there are GPUs.
[[nodiscard]] SimulationOptions as_run(const PlannedEvaluation& evaluation, const Platform& platform);

/// The step that an evaluation has on such nodes, and where nodes of different types differ in it, of each type:
/// "order (che), oversubscribe (chi)".
[[nodiscard]] std::string describe_overlap(OverlapChoice choice, const Platform& platform);

}  // namespace tesela::geo
