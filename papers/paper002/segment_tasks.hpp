#pragma once

#include "tesela/flow/matrix.hpp"

namespace tesela::bench {

/// The optimisations of paper 002, §6.2, as switches of a redistribution that is made of tasks.
struct SegmentTasksOptions {
    /// Messages between two nodes under way at a time, at most; 0 means all.
    Index batch = 8;
    /// The paper's `batch` (§6.2.1): source tile columns whose messages are under way at a time. A node sends those of
    /// the next so many columns when all that it sent of these have arrived; 0 means all.
    Index batch_columns = 0;
    /// Segments smaller than this travel together with others between the same two nodes; larger ones are split.
    Index message_bytes = Index{1} << 20U;
    /// Segments of one target tile land at the same time (§6.2.1).
    bool isolate_segments = true;
    /// Only the bytes of a segment travel, and not its whole source tile (§6.2.2).
    bool dynamic_volume = true;
};

/// The redistribution of the paper's figure 4, step by step: a task for each segment packs it where the source is and
/// unpacks it where the target is, and all engines see them one by one. `redistribute` is the same by the engine in
/// bulk. Throws Error for what `redistribute` refuses.
void redistribute_by_tasks(Stream& stream, const MatrixView<double>& from, const MatrixView<double>& to,
                           const SegmentTasksOptions& options = {});

}  // namespace tesela::bench
