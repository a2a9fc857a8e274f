#pragma once

#include "tesela/calibration/calibrate.hpp"
#include "tesela/kernels/kernel.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tesela::calibration {

/// Where an operand of a timed call comes from, as in a run: the diagonal tile that a whole column is solved with stays
/// in the cache, the tiles of a panel are read many times, all others come from memory; vectors are small.
enum class Origin : std::uint8_t { pivot, panel, memory, vector };

struct Operand {
    TileShape shape{};
    Origin origin = Origin::memory;
};

/// A call as the algorithms make it, for any tile size: what is timed under the kernel's name.
struct Specimen {
    const Kernel* kernel = nullptr;
    ElementType type = ElementType::f64;
    CallShape shape = CallShape::square;
    std::function<std::vector<Operand>(Index tile)> operands;
    /// Copied to where calls can read it.
    std::vector<std::byte> arguments;
};

/// Columns of a narrow call of gemm; one column would be a call of gemv.
inline constexpr Index narrow_gemm_columns = 4;

/// No larger tiles can be timed; narrow calls on smaller ones than the second are not narrow.
inline constexpr Index largest_tile = 8192;
inline constexpr Index smallest_tile_for_narrow = 16;

/// Every kernel that algorithms and applications submit, in both precisions.
[[nodiscard]] const std::vector<Specimen>& specimens();

/// What calls of the specimen do at a tile size.
[[nodiscard]] KernelCost cost_of(const Specimen& specimen, Index tile);

}  // namespace tesela::calibration
