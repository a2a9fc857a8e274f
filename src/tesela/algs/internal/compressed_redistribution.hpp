#pragma once

#include "tesela/flow/exchange.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/kernels/compressed_segment.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tesela {

/// A redistribution between matrices of which one or both are compressed, as tasks (paper 002 §8.7.1). A tile that is
/// cut alike on both sides is sent and stored as it is. Others are put together from segments, which are rows of U and
/// rows of V, and compressed to the target's accuracy when they have all of them; the dense matrix is never there.
template <class T>
class CompressedRedistribution {
public:
    struct Options {
        Index batch = 8;  ///< pieces between two nodes that are under way at a time, at most; 0 means all
        std::int32_t priority = 0;
    };
    /// `exchange` is one that check_exchange has found no fault with, and outlives this.
    CompressedRedistribution(Stream& stream, const Exchange& exchange, Options options);

    void submit();

private:
    /// What one source tile gives to the tiles of one node, in numbers.
    struct Given {
        Index in_pieces = 0;  ///< rows and columns of its segments, or elements where it has all of them
        bool whole = false;   ///< it travels whole, since that is no more
    };
    using SourceAndNode = std::pair<TileIndex, std::int32_t>;

    void decide_what_travels();
    [[nodiscard]] bool shrinks_at_source(const Segment& segment) const;
    [[nodiscard]] bool travels_in_pieces(const Segment& segment) const;
    void fill(TileIndex target);
    [[nodiscard]] PlaceArguments arguments(const Segment& segment) const;
    [[nodiscard]] AfterSegment after_last(const Segment& segment, Index segments) const;
    [[nodiscard]] bool is_whole_tile(const Segment& segment) const;
    void place(const Segment& segment, const PlaceArguments& args);
    void place_piece(const Segment& segment, PlaceArguments args, Index segments);
    void put(const Task& task) { stream_.submit(Task(task).at(0, priority_)); }
    [[nodiscard]] Attached attach_piece(const Segment& segment, double accuracy);
    [[nodiscard]] double target_accuracy() const {
        return exchange_.to->compression() ? exchange_.to->compression()->accuracy : 0;
    }
    [[nodiscard]] TileRef place_before(std::vector<Attached>& arrived) const;
    void used(const Segment& segment);

    Stream& stream_;
    const Exchange& exchange_;
    Index batch_;
    /// Of the tasks of the tile that is being filled: one less from tile to tile, so that those that are begun are
    /// finished first, and few have segments but are not compressed.
    std::int32_t priority_;
    std::map<SourceAndNode, Given> given_;
    std::map<TileIndex, Index> uses_left_;
    /// By sender and receiver: what says that a piece has arrived.
    std::map<std::pair<Index, Index>, std::vector<Attached>> arrived_;
};

extern template class CompressedRedistribution<float>;
extern template class CompressedRedistribution<double>;

}  // namespace tesela
