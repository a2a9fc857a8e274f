#include "tesela/starpu/internal/tile_names.hpp"

#include "tesela/starpu/internal/attachment.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tesela::starpu {
namespace {

constexpr const char* gone_matrix = "a matrix that is gone";

const char* plural(ElementType type) {
    switch (type) {
        case ElementType::f64: return "doubles";
        case ElementType::f32: return "floats";
        case ElementType::none: break;
    }
    return "tokens";
}

}  // namespace

void TileNames::add(const StarpuAttachment& matrix) {
    const Tiling& tiling = matrix.tiling();
    if (tiling.grid().count() == 0) return;
    Named named{matrix.name(), tiling.size(), tiling.grid(), matrix.type(), matrix.stored()};
    const std::lock_guard lock(mutex_);
    named_.insert_or_assign(matrix.datum({0, 0}), std::move(named));
}

void TileNames::gone(const StarpuAttachment& matrix) {
    if (matrix.tiling().grid().count() == 0) return;
    const std::lock_guard lock(mutex_);
    gone_.push_back(matrix.datum({0, 0}));
    if (gone_.size() <= most_gone) return;
    named_.erase(gone_.front());
    gone_.pop_front();
}

/// Under `mutex_`.
const std::pair<const std::uint64_t, TileNames::Named>* TileNames::find(std::uint64_t datum) const {
    const auto behind = named_.upper_bound(datum);
    if (behind == named_.begin()) return nullptr;
    const auto& found = *std::prev(behind);
    return datum - found.first < static_cast<std::uint64_t>(found.second.tiles.count()) ? &found : nullptr;
}

std::string TileNames::tile(std::uint64_t datum) const {
    const std::lock_guard lock(mutex_);
    const auto* found = find(datum);
    if (found == nullptr) return fmt::format("a tile of {}", gone_matrix);
    const auto& [first, named] = *found;
    const auto position = static_cast<Index>(datum - first);
    return fmt::format("{}({}, {})", named.name, position / named.tiles.cols, position % named.tiles.cols);
}

std::string TileNames::matrix(std::uint64_t datum) const {
    const std::lock_guard lock(mutex_);
    const auto* found = find(datum);
    return found == nullptr ? gone_matrix : found->second.name;
}

std::string TileNames::description(std::uint64_t datum) const {
    const std::lock_guard lock(mutex_);
    const auto* found = find(datum);
    if (found == nullptr) return gone_matrix;
    const Named& named = found->second;
    return fmt::format("{} of {} x {} {} in {} x {} tiles{}", named.name, named.size.i, named.size.j,
                       plural(named.type), named.tiles.rows, named.tiles.cols,
                       named.stored == Stored::lower ? ", its lower triangle only" : "");
}

}  // namespace tesela::starpu
