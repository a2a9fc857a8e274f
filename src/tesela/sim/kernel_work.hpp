#pragma once

#include "tesela/flow/recording.hpp"
#include "tesela/platform/platform.hpp"

namespace tesela {

/// What a recorded task amounts to, as durations of a platform are asked for.
[[nodiscard]] inline KernelWork kernel_work(const Recording& recording, const RecordedItem& task) {
    KernelWork work{.tile = 1, .flops = task.cost.flops, .bytes = task.cost.bytes};
    for (const RecordedAccess& access : recording.accesses_of(task)) {
        const RecordedDatum& datum = recording.data[static_cast<std::size_t>(access.datum)];
        if (!is_token(datum)) work.add_tile(datum.shape.rows, datum.shape.cols, writes(access.mode));
    }
    return work;
}

}  // namespace tesela
