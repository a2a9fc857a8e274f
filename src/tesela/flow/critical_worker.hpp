#pragma once

#include "tesela/base/index.hpp"

#include <cstdint>

namespace tesela {

/// A node with fewer cores than this has none to spare for submission and critical tasks: it would lose one of so many,
/// and gain less. On simulated nodes without GPUs it breaks even here (docs/geo.md).
inline constexpr Index least_cores_to_share_one = 64;

/// Whether a node leaves one core to submission, with one more worker on it that takes critical tasks only (paper 000's
/// oversubscription). `automatic`: where it has enough cores, whatever other nodes do.
enum class CriticalWorker : std::uint8_t { none, shared_core, automatic };

/// Whether a node of so many cores has it: the one rule for nodes that run and nodes that are simulated.
[[nodiscard]] constexpr bool has_critical_worker(CriticalWorker wanted, Index cores) {
    if (wanted != CriticalWorker::automatic) return wanted == CriticalWorker::shared_core;
    return cores >= least_cores_to_share_one;
}

}  // namespace tesela
