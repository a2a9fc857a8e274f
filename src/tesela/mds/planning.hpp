#pragma once

#include "tesela/flow/stream.hpp"
#include "tesela/mds/streamed_matrix.hpp"
#include "tesela/plan/planner.hpp"

namespace tesela::mds {

/// The first phases of multidimensional scaling, up to the product with random numbers, to be planned or simulated.
struct PlannedScaling {
    Index points = 0;
    Index tile = 640;
    Index columns = 1000;  ///< r of the random matrix
    StreamingStep step = StreamingStep::priorities;
    int readers = StreamedReading{}.readers_per_node;  ///< at a time on a node
    /// Columns of tiles that are read at a time into panels, of which tiles are then taken; 0: tiles are read as they
    /// are, the only way that is planned for.
    Index panel_tiles = 0;
    Index max_pending = 0;  ///< tasks of the stream that may wait; 0: as a stream has it
};

/// Submits the phases under these owners, with reading that costs time and reads nothing, and waits for them: for
/// engines without data, which record or simulate.
void submit_scaling(Stream& stream, const PlannedScaling& scaling, const plan::PhaseDistributions& owners);

/// Multidimensional scaling as an application of the planner: reading first, Gram matrix and product second, in steps
/// of as many tiles as all nodes of the platform read at a time. Throws Error where no node has readers, or panels are
/// read.
[[nodiscard]] plan::Application planned_scaling(const PlannedScaling& scaling, const Platform& platform);

}  // namespace tesela::mds
