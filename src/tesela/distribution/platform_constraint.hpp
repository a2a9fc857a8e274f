#pragma once

#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/distribution/step_schedule.hpp"
#include "tesela/platform/platform.hpp"

namespace tesela {

/// Seconds of one call on the node's fastest worker for it; infinity where none can run it.
[[nodiscard]] double fastest_seconds(const NodeType& type, std::string_view kernel, const KernelWork& work);

/// Power of each node for the updates of a factorization in double precision: dgemm calls per second.
[[nodiscard]] std::vector<double> update_powers(const Platform& platform, Index tile);

/// How long each node takes for the operation's kernels in double precision: all its workers together, and its fastest
/// one alone. Throws Error where a node cannot run one of them.
[[nodiscard]] std::vector<NodeTimes> platform_times(const Platform& platform, Operation operation, Index tile);

/// The critical path of one step of Cholesky on each node (dpotrf, dtrsm and dgemm on the node's fastest worker for
/// each) and its power. `ratios` are what the ranks of tiles leave of the work of each kernel. Throws Error where a
/// node can run none of them.
[[nodiscard]] StepConstraint cholesky_constraint(const Platform& platform, Index tile,
                                                 const KernelCosts& ratios = {1, 1, 1, 1});

}  // namespace tesela
