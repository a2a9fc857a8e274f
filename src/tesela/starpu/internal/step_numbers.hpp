#pragma once

#include "tesela/flow/attachment.hpp"
#include "tesela/flow/task.hpp"

#include <cstdint>

namespace tesela::starpu {

enum class StepKind : std::uint8_t { task = 1, move, share, exchange, retire, fetch, discard };

/// What a step of a stream is, as a number that is the same on every node (see StarpuStream::trail): its kind and the
/// tiles and node that it is about.
[[nodiscard]] std::uint64_t number_of(StepKind kind, const TileRef& tile, Index node = 0);
[[nodiscard]] std::uint64_t number_of(const Task& task);
/// What a matrix is that comes: its cuts and owners.
[[nodiscard]] std::uint64_t number_of(const Attachment& matrix);

}  // namespace tesela::starpu
