#include "tesela/kernels/compressed_segment.hpp"

#include "tesela/kernels/internal/low_rank_tiles.hpp"
#include "tesela/kernels/low_rank_cost.hpp"
#include "tesela/kernels/tile_values.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tesela {
namespace {

using low_rank::Factors;

using low_rank::block;
using low_rank::Elements;
using low_rank::room_for;

template <class T>
Tile tile_of(Elements<T>& elements, Index rows, Index cols) {
    return {elements.data(), {rows, cols}, rows};
}

/// U and V of a segment of a tile that is stored so, as it stands in the target: rows of U and of V.
template <class T>
struct CutFactors {
    low_rank::TileFactors<T> whole;
    blas::Block<T> u, v;

    CutFactors(const Tile& from, const SegmentArguments& args) : whole(from), u(whole.u), v(whole.v) {
        u.data += args.from_i;
        v.data += args.from_j;
        if (args.op == Op::transpose) std::swap(u, v);  // (U·Vᵀ)ᵀ = V·Uᵀ
        u.rows = args.rows;
        v.rows = args.cols;
    }
    [[nodiscard]] Index rank() const { return u.cols; }
    /// All elements, into a block of the segment's size.
    void expand(blas::Block<T> out) const { blas::gemm({.op_b = Op::transpose, .alpha = 1, .beta = 0}, u, v, out); }
};

bool fills(const SegmentArguments& args, const TileShape& tile) {
    return args.rows == tile.rows && args.cols == tile.cols && args.shape().full();
}

/// The same segment where it is all of a tile of its own: of its source, or of its target.
SegmentArguments from_piece(SegmentArguments args) {
    args.from_i = args.from_j = 0;
    args.op = Op::none;
    return args;
}
SegmentArguments into_piece(SegmentArguments args) {
    args.to_i = args.to_j = 0;
    return args;
}

/// Writes a segment into a tile that has all its elements.
template <class T>
void write_elements(const Tile& from, const Tile& to, const SegmentArguments& args) {
    if (from.is_dense()) return copy_segment(from, to, args);
    const CutFactors<T> cut(from, args);
    if (args.shape().full()) return cut.expand(blas::Block<T>(to).part({args.to_i, args.to_j}, {args.rows, args.cols}));
    Elements<T> all = room_for<T>(args.rows, args.cols);
    cut.expand(block(all, args.rows, args.cols));
    copy_segment(tile_of(all, args.rows, args.cols), to, from_piece(args));
}

/// All elements of a segment of a tile that has all its own, with 0 beside a triangle.
template <class T>
Elements<T> elements_of(const Tile& from, const SegmentArguments& args) {
    Elements<T> all = room_for<T>(args.rows, args.cols);
    copy_segment(from, tile_of(all, args.rows, args.cols), into_piece(args));
    return all;
}

/// Stores elements as they are in a tile that may be stored either way.
template <class T>
KernelResult store_elements(const Tile& tile, const Elements<T>& all) {
    auto* const memory = static_cast<T*>(tile.room->replace(dense_rank));
    if (memory == nullptr) return {Failure::out_of_memory};
    std::ranges::copy(all, memory);
    return {};
}

/// Appends rows [first, first + rows) of columns that are `height` long and 0 elsewhere.
template <class T>
void append_padded(Elements<T>& factor, blas::Block<T> columns, Index first, Index height) {
    for (Index k = 0; k < columns.cols; ++k) {
        const std::size_t begin = factor.size();
        factor.resize(begin + static_cast<std::size_t>(height));
        std::copy_n(&columns(0, k), columns.rows, factor.begin() + static_cast<std::ptrdiff_t>(begin) + first);
    }
}

/// Adds a segment to a block that is 0 there: its factors side by side with those that are there.
template <class T>
void add_segment(Factors<T>& sum, const CutFactors<T>& cut, const SegmentArguments& args) {
    append_padded(sum.u, cut.u, args.to_i, sum.rows);
    append_padded(sum.v, cut.v, args.to_j, sum.cols);
    sum.rank += cut.rank();
}

/// Above this rank QR of the factors costs more than their product and the compression of that: measured for squares of
/// 200 to 1200, where both take as long at a third of the order.
Index crowded_rank(const TileShape& shape) { return std::max<Index>(1, std::min(shape.rows, shape.cols) / 3); }

template <class T>
void compress(Factors<T>& f, double accuracy) {
    if (f.rank <= crowded_rank({f.rows, f.cols})) return low_rank::recompress(f, accuracy);
    Elements<T> all = room_for<T>(f.rows, f.cols);
    const blas::Block<T> product = block(all, f.rows, f.cols);
    blas::gemm({.op_b = Op::transpose, .alpha = 1, .beta = 0}, block(f.u, f.rows, f.rank), block(f.v, f.cols, f.rank),
               product);
    f = low_rank::compress<T>({product.data, product.rows, product.cols, product.ld}, accuracy);
}

/// A segment that is a whole tile, stored as it is.
template <class T>
KernelResult store_as_it_is(const Tile& from, const Tile& to, const SegmentArguments& args) {
    if (from.is_dense()) return store_elements(to, elements_of<T>(from, args));
    Factors<T> same{.rows = to.rows(), .cols = to.cols()};
    add_segment(same, CutFactors<T>(from, args), into_piece(args));
    const bool may_be_single = to.room->precision() == FactorPrecision::as_needed;
    return low_rank::store_columns(to, same, may_be_single ? from.shape.singles : 0);
}

/// To what a tile is compressed after its last segment: nothing was lost before that if it is all of the tile.
double final_accuracy(const PlaceArguments& args, const Tile& tile) {
    const double accuracy = tile.room->accuracy();
    const double for_rounding = accuracy - low_rank::truncation(*tile.room);
    return (fills(args.segment, tile.shape) ? accuracy : finished_accuracy(accuracy)) - for_rounding;
}

/// U·Vᵀ into a tile that is stored so too and is 0 where the segment goes.
template <class T>
KernelResult place_beside(const Tile& from, const Tile& to, const PlaceArguments& args) {
    Factors<T> sum = args.before == BeforeSegment::nothing ? Factors<T>{.rows = to.rows(), .cols = to.cols()}
                                                           : low_rank::factors_of<T>(to);
    add_segment(sum, CutFactors<T>(from, args.segment), args.segment);
    // Until the last segment is there, nothing is rounded.
    if (args.after != AfterSegment::compress && sum.rank < useless_rank(to.shape))
        return low_rank::store_columns(to, sum, 0);
    if (args.after == AfterSegment::compress) compress(sum, final_accuracy(args, to));
    return low_rank::store(to, sum);
}

/// By way of all elements of the tile.
template <class T>
KernelResult place_elements(const Tile& from, const Tile& to, const PlaceArguments& args) {
    const bool has_value = args.before != BeforeSegment::nothing;
    const bool last = args.after == AfterSegment::compress;
    if (has_value && to.is_dense() && !last) {
        write_elements<T>(from, to, args.segment);
        return {};
    }
    Elements<T> all = room_for<T>(to.rows(), to.cols());
    if (has_value) copy_values(to, element_type<T>, all.data());
    write_elements<T>(from, tile_of(all, to.rows(), to.cols()), args.segment);
    if (!last) return store_elements(to, all);
    const auto value = low_rank::compress<T>({all.data(), to.rows(), to.cols(), to.rows()}, final_accuracy(args, to),
                                             useless_rank(to.shape));
    return value ? low_rank::store(to, *value) : store_elements(to, all);
}

template <class T>
KernelResult place(const Tile& from, const Tile& to, const PlaceArguments& args) {
    if (to.room == nullptr) {
        if (args.before == BeforeSegment::nothing && !fills(args.segment, to.shape))
            for (Index j = 0; j < to.cols(); ++j) std::fill_n(to.as<T>() + j * to.ld, to.rows(), T{0});
        write_elements<T>(from, to, args.segment);
        return {};
    }
    if (args.after == AfterSegment::as_it_is) return store_as_it_is<T>(from, to, args.segment);
    const bool is_full = to.is_dense() && args.before != BeforeSegment::nothing;
    const bool has_zeros = args.before != BeforeSegment::values && args.segment.shape().full();
    return has_zeros && !is_full && !from.is_dense() ? place_beside<T>(from, to, args)
                                                     : place_elements<T>(from, to, args);
}

template <class T>
KernelResult cut(const Tile& from, const Tile& piece, const SegmentArguments& args) {
    if (piece.room == nullptr) {
        write_elements<T>(from, piece, into_piece(args));
        return {};
    }
    if (from.is_dense()) {
        Elements<T> all = elements_of<T>(from, args);
        return low_rank::store(piece, block(all, args.rows, args.cols));
    }
    Factors<T> factors{.rows = args.rows, .cols = args.cols};
    add_segment(factors, CutFactors<T>(from, args), into_piece(args));
    return low_rank::store(piece, factors);
}

template <class T>
KernelResult run_cut(const KernelCall& call) noexcept {
    return low_rank::guarded([&] { return cut<T>(call.tiles[0], call.tiles[1], call.args<SegmentArguments>()); });
}

template <class T>
KernelResult run_place(const KernelCall& call) noexcept {
    return low_rank::guarded([&] { return place<T>(call.tiles[0], call.tiles[1], call.args<PlaceArguments>()); });
}

/// Bytes of a segment of a tile of this rank.
template <class T>
double bytes_of(const SegmentArguments& args, Index rank) {
    return static_cast<double>(stored_bytes({args.rows, args.cols, rank}, sizeof(T)));
}

template <class T>
KernelCost cost_cut(std::span<const TileShape> shapes, const void* arguments) noexcept {
    return {0, 2 * bytes_of<T>(*static_cast<const SegmentArguments*>(arguments), shapes[0].rank)};
}

/// Of the segment, and of the tile that it goes into. To compress that is QR of both factors, the singular values of a
/// small core, and products: as in a product that is added (004 III-B).
template <class T>
KernelCost cost_place(std::span<const TileShape> shapes, const void* arguments) noexcept {
    const auto& args = *static_cast<const PlaceArguments*>(arguments);
    KernelCost cost{0, 2 * bytes_of<T>(args.segment, shapes[0].rank)};
    if (shapes[1].rank == dense_rank || args.after == AfterSegment::as_it_is) return cost;
    cost.flops = low_rank_product_flops(static_cast<double>(std::max(shapes[1].rows, shapes[1].cols)),
                                        static_cast<double>(shapes[1].rank));
    cost.bytes += 2 * static_cast<double>(stored_bytes(shapes[1], sizeof(T)));
    return cost;
}

}  // namespace

template <class T>
const KernelOf<SegmentArguments, const T, T> CompressedSegments<T>::cut{"cut_segment", cost_cut<T>, run_cut<T>,
                                                                        TileUse{.compressed = TileUse::every}};
template <class T>
const KernelOf<PlaceArguments, const T, T> CompressedSegments<T>::place{"place_segment", cost_place<T>, run_place<T>,
                                                                        TileUse{.compressed = TileUse::every}};

template struct CompressedSegments<float>;
template struct CompressedSegments<double>;

}  // namespace tesela
