#include "tesela/starpu/internal/step_numbers.hpp"

#include "tesela/base/digest.hpp"
#include "tesela/starpu/internal/attachment.hpp"

namespace tesela::starpu {

std::uint64_t number_of(StepKind kind, const TileRef& tile, Index node) {
    Digest digest;
    digest.add(static_cast<std::uint64_t>(kind));
    digest.add(attachment_of(tile).datum(tile.index));
    digest.add(static_cast<std::uint64_t>(node));
    return digest.value();
}

std::uint64_t number_of(const Task& task) {
    Digest digest;
    digest.add(static_cast<std::uint64_t>(StepKind::task));
    digest.add(static_cast<std::uint64_t>(task.node));
    for (const Access& access : task.used())
        digest.add(attachment_of(access.tile).datum(access.tile.index) * 8 + static_cast<std::uint64_t>(access.mode));
    return digest.value();
}

std::uint64_t number_of(const Attachment& matrix) {
    Digest digest;
    for (const Index cut : matrix.tiling().row_cuts()) digest.add(static_cast<std::uint64_t>(cut));
    for (const Index cut : matrix.tiling().col_cuts()) digest.add(static_cast<std::uint64_t>(cut));
    for (const std::int32_t owner : matrix.distribution().owners()) digest.add(static_cast<std::uint64_t>(owner));
    return digest.value();
}

}  // namespace tesela::starpu
