#pragma once

#include "tesela/kernels/specimen.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace tesela::calibration {

/// Narrow calls on smaller tiles are not narrow.
inline constexpr Index smallest_tile_for_narrow = 16;

/// Bytes of the last-level cache of this machine, or a guess that is rather too large where it cannot be asked.
[[nodiscard]] std::size_t last_cache_bytes();

/// The tiles that one worker's calls of kernels work on, each call on others, so that they come from where they would
/// in a run: each has memory of its own, as an engine allocates it (one large block might have large pages). Their
/// elements are those of I + E with a tiny E, which factorisations, inverses and solves nearly keep: a tile can be used
/// many times, and gets its first values back before it is worn out.
class TileSupply {
public:
    struct Size {
        Index tile = 0;
        ElementType type = ElementType::f64;
        std::size_t bytes = 0;  ///< of the tiles that come from memory
    };
    explicit TileSupply(const Size& size);

    /// There is room for so many elements in an operand.
    [[nodiscard]] static Index most_elements(Specimen::Origin origin, Index tile);

    /// Gives all tiles their first values again.
    void reset();
    /// Tiles for one call; valid until the next.
    [[nodiscard]] std::span<const Tile> next(const std::vector<Specimen::Operand>& operands);

private:
    struct Free {
        void operator()(std::byte* memory) const noexcept { std::free(memory); }
    };

    [[nodiscard]] std::byte* tile_at(std::size_t number) const { return memory_[number].get(); }
    [[nodiscard]] std::byte* next_of(Specimen::Origin origin);
    void copy_first_to(std::size_t number);

    Index tile_;
    ElementType type_;
    std::size_t tile_bytes_;
    std::size_t walked_;        ///< tiles from memory; after them those of the panel, the pivot and one with vectors
    std::size_t at_;            ///< walked so far
    std::size_t reset_at_ = 0;  ///< of those, when all were new
    std::size_t panel_at_ = 0;
    std::size_t vector_at_ = 0;
    std::vector<std::unique_ptr<std::byte, Free>> memory_;
    std::array<Tile, 8> call_{};
};

}  // namespace tesela::calibration
