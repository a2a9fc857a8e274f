#pragma once

#include "tesela/base/index.hpp"

namespace tesela::calibration {

/// Four times the last-level cache, and at most 1 GiB, since a virtual machine may be told of more cache than it gets:
/// copies of so many bytes come from memory.
[[nodiscard]] Index bytes_beyond_caches();

/// Bytes copied per second from memory to memory by all threads together: each copies its part of `bytes` to another
/// place, several times, at the same time as the others; the best of the passes. What the memory itself moves is
/// twice as much, since every byte is read and written. Throws Error unless
/// both are at least 1.
[[nodiscard]] double measure_copy_bandwidth(Index bytes, int threads);

}  // namespace tesela::calibration
