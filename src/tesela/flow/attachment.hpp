#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/tiling.hpp"
#include "tesela/kernels/tile.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

/// Memory of the caller for one tile.
struct TileMemory {
    void* data = nullptr;
    Index ld = 0;
};

/// When tiles of the engine's own memory get it: each when a task first writes it, or all that live on a node when the
/// matrix is attached, pages included, so that no task waits for the system.
enum class Allocation : std::uint8_t { when_written, at_once };

/// Tiles of a matrix that may be stored as U·Vᵀ: of tile low-rank matrices.
struct Compression {
    /// What a tile may differ from the one that it stands for, in the Frobenius norm.
    double accuracy = 0;
    /// Tiles (i, j) with |i - j| below this are stored with all their elements. A factorisation needs those of the
    /// diagonal so; 0 leaves none out.
    Index dense_band = 1;
    /// With `as_needed`, columns of U and V whose rounding to single precision keeps within the accuracy are stored so.
    FactorPrecision precision = FactorPrecision::full;
};

/// All an engine must know to hold a matrix.
struct MatrixSpec {
    std::string name = "A";
    Tiling tiling;
    Distribution distribution;
    ElementType type = ElementType::f64;
    Stored stored = Stored::full;
    /// Where this node's tiles live, if the caller brings the memory; otherwise the engine allocates a tile when it is
    /// first written. Asked only for tiles that this node owns at the start.
    std::function<TileMemory(TileIndex)> memory;
    /// Of tiles for which the caller brings no memory.
    Allocation allocation = Allocation::when_written;
    /// None: all tiles are stored with all their elements. With it the caller brings no memory.
    std::optional<Compression> compression{};
};

class Attachment;
class Engine;

/// Ends an attachment, after what is still to be added to its tiles.
struct Detach {
    void operator()(Attachment* attachment) const noexcept;
};
/// An attachment as who attached it holds it.
using Attached = std::unique_ptr<Attachment, Detach>;

/// A matrix as an engine holds it. Engines derive from it and keep their own record of each tile.
class Attachment {
public:
    /// Throws Error where tiling, distribution and storage do not fit each other.
    explicit Attachment(MatrixSpec spec);
    virtual ~Attachment() = default;
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
    Attachment(Attachment&&) = delete;
    Attachment& operator=(Attachment&&) = delete;

    [[nodiscard]] const std::string& name() const { return spec_.name; }
    [[nodiscard]] const Tiling& tiling() const { return spec_.tiling; }
    [[nodiscard]] ElementType type() const { return spec_.type; }
    [[nodiscard]] Stored stored() const { return spec_.stored; }
    /// Who owns the tiles at this point of the stream (`move` changes it).
    [[nodiscard]] const Distribution& distribution() const { return spec_.distribution; }
    [[nodiscard]] NodeId owner(TileIndex tile) const { return spec_.distribution.owner(tile); }
    /// Also to a node that had no part in the distribution.
    void set_owner(TileIndex tile, NodeId node);
    [[nodiscard]] TileShape shape(TileIndex tile) const {
        return {spec_.tiling.rows(tile.i), spec_.tiling.cols(tile.j)};
    }
    [[nodiscard]] Allocation allocation() const { return spec_.allocation; }
    [[nodiscard]] const std::optional<Compression>& compression() const { return spec_.compression; }
    /// Whether a tile may be stored as U·Vᵀ; its rank is known where its value is.
    [[nodiscard]] bool compressible(TileIndex tile) const;
    /// Of all its elements.
    [[nodiscard]] std::size_t bytes(TileIndex tile) const;
    /// What is kept free for it from the start: nothing for a tile whose rank nobody knows yet.
    [[nodiscard]] std::size_t certain_bytes(TileIndex tile) const { return compressible(tile) ? 0 : bytes(tile); }
    /// As it travels, or at most if it is compressible: a token, which has no bytes, as one.
    [[nodiscard]] std::size_t message_bytes(TileIndex tile) const { return std::max<std::size_t>(1, bytes(tile)); }
    /// Whether the caller brought the memory, and with it the first values.
    [[nodiscard]] bool has_callers_memory() const { return static_cast<bool>(spec_.memory); }
    [[nodiscard]] bool has(TileIndex tile) const { return spec_.stored == Stored::full || tile.i >= tile.j; }
    /// What is kept free for the tiles that each of so many nodes owns.
    [[nodiscard]] std::vector<double> bytes_per_node(Index nodes) const;
    /// Position of a tile in arrays kept per tile.
    [[nodiscard]] std::size_t position(TileIndex tile) const {
        return static_cast<std::size_t>(tile.i * spec_.tiling.grid().cols + tile.j);
    }

    /// Whether some task before this point of the stream wrote the tile, or the caller brought its memory.
    [[nodiscard]] bool written(TileIndex tile) const { return written_in(tile) != never; }
    /// When: between which two waits of its stream (StreamState::era).
    [[nodiscard]] std::uint64_t written_in(TileIndex tile) const { return written_[position(tile)]; }
    void set_written(TileIndex tile, std::uint64_t era = at_first) { written_[position(tile)] = era; }
    void set_discarded(TileIndex tile) { written_[position(tile)] = never; }
    static constexpr std::uint64_t never = 0;
    static constexpr std::uint64_t at_first = 1;

    /// Whose it is.
    const Engine* engine = nullptr;

    /// What other nodes have summed up for a tile (see AccessMode::reduce) and is still to be added to it.
    struct PartialSum {
        NodeId node;
        Attached sum;
    };
    std::map<TileIndex, std::vector<PartialSum>> partial_sums;
    /// Adds them; set by the stream that has made some.
    std::function<void(Attachment&)> add_partial_sums;

protected:
    [[nodiscard]] const MatrixSpec& spec() const { return spec_; }

private:
    MatrixSpec spec_;
    std::vector<std::uint64_t> written_;
};

}  // namespace tesela
