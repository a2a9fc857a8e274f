#pragma once

#include "tesela/kernels/tile.hpp"

#include <new>
#include <vector>

namespace tesela {

/// A tile of doubles that owns its memory and may be stored either way: for kernels that are called without an engine.
class OwnedTile final : public TileRoom {
public:
    /// Of rank 0, until a kernel writes it.
    OwnedTile(Index rows, Index cols, double accuracy) : TileRoom(accuracy), shape_{rows, cols, 0}, elements_(1) {}

    /// As a kernel takes it, until it is written.
    [[nodiscard]] Tile tile() { return {elements_.data(), shape_, shape_.rows, this}; }
    [[nodiscard]] const TileShape& shape() const { return shape_; }

    void* replace(Index rank, Index singles) noexcept override try {
        TileShape wanted = shape_;
        wanted.rank = rank;
        wanted.singles = singles;
        elements_.resize(stored_bytes(wanted, sizeof(double)) / sizeof(double) + 1);  // never null, also with rank 0
        shape_ = wanted;
        return elements_.data();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    using TileRoom::replace;

private:
    TileShape shape_;
    std::vector<double> elements_;
};

}  // namespace tesela
