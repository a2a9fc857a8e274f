#pragma once

#include "tesela/base/index.hpp"
#include "tesela/kernels/specimen.hpp"
#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tesela::calibration {

/// Whether one worker calls a kernel while the others are idle, or all call it at the same time and share the memory's
/// bandwidth and the processor's power, as in a run.
enum class Load : std::uint8_t { alone, busy };

/// How long calls of one kind took: the best, the mean, which is what they add up to in a run, and the one that nine of
/// ten stayed below. They are timed in rounds, of which the middle one counts; `drift` is by how much, as a share, the
/// mean of the second best round was above that of the best.
struct Spread {
    double best = 0;
    double mean = 0;
    double slow = 0;
    Index calls = 0;
    int rounds = 0;
    double drift = 0;
};

/// Rounds agree well enough that no more are needed.
inline constexpr double steady_drift = 0.03;

/// What was timed for one kernel, one tile size and one shape of its calls.
struct KernelSample {
    std::string kernel;
    Index tile = 0;
    CallShape shape = CallShape::square;
    KernelCost cost{};
    Spread alone{};
    Spread busy{};  ///< the same as alone where there is one worker only, or one load was asked for

    [[nodiscard]] const Spread& under(Load load) const { return load == Load::alone ? alone : busy; }
};

struct CalibrationOptions {
    std::vector<Specimen> specimens{};  ///< what is timed; those of one kernel together are its durations
    std::vector<Index> tiles{64, 128, 192, 256, 320, 384, 512, 640, 768, 960};
    int workers = 1;
    /// Under which loads; what is not asked for is as the other.
    std::vector<Load> loads{Load::alone, Load::busy};
    /// For each kernel, tile size and load, in two rounds of at least seven calls; more rounds follow while the two
    /// best differ by more than steady_drift, at most so many in all.
    double seconds = 0.1;
    int most_rounds = 6;
    /// What the threads that stand for the workers are bound to, as the system numbers processors; where there are too
    /// few, as many threads as usable cores are bound to one each, and fewer to none.
    std::vector<int> cores{};
    /// Bytes that the tiles of all workers take together; 0: bytes_beyond_caches(), so that what a call needs was
    /// driven out of the caches since its last use.
    Index walked_bytes = 0;
    /// Told before each measurement: how many of them are done, of how many, and what comes next.
    std::function<void(Index done, Index of, const std::string& next)> progress{};
};

/// Calls of all kernels that the library's algorithms submit, in both precisions, and of the work of redistributions.
/// Applications have lists of their own.
[[nodiscard]] std::vector<Specimen> specimens();

/// Throws Error for a specimen that cannot be timed, or for tile sizes, workers or seconds that make no sense.
void check(const CalibrationOptions& options);

/// Times CPU kernels by calling them directly from threads of its own: nothing but the kernel is timed, and tiles
/// come from where they would in a run (memory, or a cache for the operands that many tasks share). An engine is
/// paused or absent meanwhile. A call that loses its core to another process counts with the processor time it had.
/// Throws as check() does.
[[nodiscard]] std::vector<KernelSample> time_kernels(const CalibrationOptions& options);

/// The durations of a worker under this load, for a platform.
[[nodiscard]] std::vector<KernelTime> kernel_times(const std::vector<KernelSample>& samples, Load load);

/// A node that has measured itself; nodes with equal descriptions are of one type if they are equally fast.
struct MeasuredNode {
    std::string description;
    NodeType type;
};

/// One type for nodes that are alike, with their number and the median of each duration and bandwidth; types in the
/// order of their first nodes, and `type_of` gives each node's. Names that two types share get a letter.
struct NodeTypes {
    std::vector<NodeType> types;
    std::vector<std::size_t> type_of;
};
[[nodiscard]] NodeTypes group_alike(const std::vector<MeasuredNode>& nodes);

}  // namespace tesela::calibration
