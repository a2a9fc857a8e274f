#include "tesela/kernels/internal/low_rank_tiles.hpp"

#include "tesela/kernels/tile_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tesela::low_rank {
namespace {

/// U·Vᵀ of a tile or what it is of itself, seen through op.
template <class T>
struct Operand {
    blas::Block<T> u;  ///< or all elements, stored as they are: see `op`
    blas::Block<T> v;
    Op op;
    bool dense;
    std::optional<TileFactors<T>> factors{};

    Operand(const Tile& tile, Op how) : u(tile), v(tile), op(how), dense(tile.is_dense()) {
        if (dense) return;
        factors.emplace(tile);
        u = factors->u;
        v = factors->v;
        if (how == Op::transpose) std::swap(u, v);  // (U·Vᵀ)ᵀ = V·Uᵀ
    }
    [[nodiscard]] Index rank() const { return u.cols; }
};

/// x·yᵀ, of which one may be a factor of an operand and needs no copy.
template <class T>
struct Product {
    blas::Block<T> x, y;
    Elements<T> made;  ///< what one of them was computed into
};

/// op(A)·op(B), one of them of low rank: the short sides meet in the middle.
template <class T>
Product<T> product(const Operand<T>& a, const Operand<T>& b) {
    constexpr GemmArguments plain{.alpha = 1, .beta = 0};
    if (a.dense) {  // (op(A)·U)·Vᵀ
        const Index rows = a.op == Op::none ? a.u.rows : a.u.cols;
        Product<T> p{b.u, b.v, room_for<T>(rows, b.rank())};
        p.x = block(p.made, rows, b.rank());
        GemmArguments args = plain;
        args.op_a = a.op;
        blas::gemm(args, a.u, b.u, p.x);
        return p;
    }
    if (b.dense) {  // U·(op(B)ᵀ·V)ᵀ
        const Index cols = b.op == Op::none ? b.u.cols : b.u.rows;
        Product<T> p{a.u, a.v, room_for<T>(cols, a.rank())};
        p.y = block(p.made, cols, a.rank());
        GemmArguments args = plain;
        args.op_a = flip(b.op);
        blas::gemm(args, b.u, a.v, p.y);
        return p;
    }
    Elements<T> core = room_for<T>(a.rank(), b.rank());  // VaᵀUb
    const blas::Block<T> middle = block(core, a.rank(), b.rank());
    GemmArguments inner = plain;
    inner.op_a = Op::transpose;
    blas::gemm(inner, a.v, b.u, middle);
    if (a.rank() <= b.rank()) {  // Ua·(Vb·coreᵀ)ᵀ
        Product<T> p{a.u, b.v, room_for<T>(b.v.rows, a.rank())};
        p.y = block(p.made, b.v.rows, a.rank());
        GemmArguments outer = plain;
        outer.op_b = Op::transpose;
        blas::gemm(outer, b.v, middle, p.y);
        return p;
    }
    Product<T> p{a.u, b.v, room_for<T>(a.u.rows, b.rank())};  // (Ua·core)·Vbᵀ
    p.x = block(p.made, a.u.rows, b.rank());
    blas::gemm(plain, a.u, middle, p.x);
    return p;
}

template <class T>
void scale_block(double factor, blas::Block<T> a) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) a(i, j) = factor == 0 ? T{0} : static_cast<T>(factor) * a(i, j);
}

/// [beta·U, alpha·x], or the other factors with 1 and 1.
template <class T>
Elements<T> side_by_side(double first_factor, blas::Block<T> first, double second_factor, blas::Block<T> second) {
    Elements<T> all(static_cast<std::size_t>((first.cols + second.cols) * first.rows));
    auto out = all.begin();
    const auto append = [&](double factor, blas::Block<T> from) {
        for (Index j = 0; j < from.cols; ++j)
            out = std::transform(&from(0, j), &from(0, j) + from.rows, out,
                                 [&](T value) { return static_cast<T>(factor) * value; });
    };
    append(first_factor, first);
    append(second_factor, second);
    return all;
}

/// Whether columns of a tile are rounded when it is written.
template <class T>
bool may_round(const Tile& tile) {
    return std::is_same_v<T, double> && tile.room != nullptr && tile.room->precision() == FactorPrecision::as_needed;
}
/// How much of the accuracy is for rounding, where columns may be rounded.
constexpr double share_of_rounding = 0.1;

/// Columns in the order in which they are stored: those that are rounded last.
struct ColumnOrder {
    std::vector<Index> columns;
    Index singles;

    /// As they are.
    explicit ColumnOrder(Index rank, Index in_single_precision = 0)
        : columns(static_cast<std::size_t>(rank)),
          singles(in_single_precision) {
        std::iota(columns.begin(), columns.end(), Index{0});
    }
};

/// Rounding u and v to single precision changes u·vᵀ by at most 2⁻²³·‖u‖·‖v‖, up to a part in 2²⁵ of that; those of all
/// columns together by no more than the sum.
template <class T>
ColumnOrder order_columns(const Tile& tile, const Factors<T>& value, double weight) {
    ColumnOrder order(value.rank);
    if (!may_round<T>(tile)) return order;
    constexpr double rounding = 1.0 / (1 << 23);
    const double allowed = share_of_rounding * tile.room->accuracy();
    std::vector<double> errors(order.columns.size());
    const auto squares = [](const Elements<T>& of, Index rows, Index column) {
        const auto first = of.begin() + column * rows;
        return static_cast<double>(std::inner_product(first, first + rows, first, T{0}));
    };
    for (const Index c : order.columns)
        errors[static_cast<std::size_t>(c)] =
            rounding * weight * std::sqrt(squares(value.u, value.rows, c) * squares(value.v, value.cols, c));
    std::ranges::stable_sort(order.columns, std::greater{},
                             [&](Index c) { return errors[static_cast<std::size_t>(c)]; });
    double sum = 0;
    for (auto c = order.columns.rbegin(); c != order.columns.rend(); ++c) {
        sum += errors[static_cast<std::size_t>(*c)];
        if (!(sum <= allowed)) break;
        ++order.singles;
    }
    return order;
}

/// Some columns of a factor, one after the other; also to single precision.
template <class T, class To>
To* write_columns(const Elements<T>& from, Index rows, std::span<const Index> columns, To* to) {
    for (const Index c : columns)
        to = std::transform(from.begin() + c * rows, from.begin() + (c + 1) * rows, to,
                            [](T value) { return static_cast<To>(value); });
    return to;
}

template <class T>
KernelResult write_ordered(const Tile& tile, const Factors<T>& value, const ColumnOrder& order) {
    auto* const factors = static_cast<T*>(tile.room->replace(value.rank, order.singles));
    if (factors == nullptr) return {Failure::out_of_memory};
    const std::span<const Index> all(order.columns);
    const auto whole = all.first(all.size() - static_cast<std::size_t>(order.singles));
    const auto singles = all.last(static_cast<std::size_t>(order.singles));
    T* const behind = write_columns(value.v, value.cols, whole, write_columns(value.u, value.rows, whole, factors));
    std::vector<float> narrow(static_cast<std::size_t>((value.rows + value.cols) * order.singles));
    write_columns(value.v, value.cols, singles, write_columns(value.u, value.rows, singles, narrow.data()));
    if (!narrow.empty()) std::memcpy(behind, narrow.data(), narrow.size() * sizeof(float));
    return {};
}

/// C := alpha·x·yᵀ + beta·C.
template <class T>
KernelResult add_product(const GemmArguments& args, blas::Block<T> x, blas::Block<T> y, const Tile& c) {
    if (c.is_dense()) {
        if (x.cols == 0)
            scale_block(args.beta, blas::Block<T>(c));
        else
            blas::gemm({.op_b = Op::transpose, .alpha = args.alpha, .beta = args.beta}, x, y, blas::Block<T>(c));
        return {};
    }
    Factors<T> sum{.rows = c.rows(), .cols = c.cols(), .rank = x.cols};
    if (args.beta == 0) {
        const blas::Block<T> none(c.as<T>(), c.rows(), 0, c.rows());
        const blas::Block<T> nothing(c.as<T>(), c.cols(), 0, c.cols());
        sum.u = side_by_side(0, none, args.alpha, x);
        sum.v = side_by_side(0, nothing, 1, y);
    } else {
        const TileFactors<T> before(c);
        sum.rank += c.shape.rank;
        sum.u = side_by_side(args.beta, before.u, args.alpha, x);
        sum.v = side_by_side(1, before.v, 1, y);
    }
    recompress(sum, truncation(*c.room));
    return store(c, sum);
}

/// A solve or a product with a triangular A, from one side: of all of B, or of its factor on that side, since
/// U·Vᵀ·op(A)⁻¹ = U·(op(A)⁻ᵀ·V)ᵀ.
template <class T, class Work>
KernelResult act_on_factor(TriangularArguments args, const Tile& a, const Tile& b, double weight, Work work) {
    if (!a.is_dense()) return fail("a triangular tile must have all its elements");
    if (b.is_dense()) {
        work(args, blas::Block<T>(a), blas::Block<T>(b));
        return {};
    }
    if (b.shape.rank == 0) return {};
    const bool left = args.side == Side::left;
    args.side = Side::left;
    if (!left) args.op = flip(args.op);
    if (!may_round<T>(b)) {
        const TileFactors<T> factors(b);
        work(args, blas::Block<T>(a), left ? factors.u : factors.v);
        return {};
    }
    Factors<T> factors = factors_of<T>(b);
    work(args, blas::Block<T>(a),
         left ? block(factors.u, b.rows(), factors.rank) : block(factors.v, b.cols(), factors.rank));
    return store(b, factors, weight);
}

/// Of the triangle that a solve uses.
template <class T>
double frobenius_norm(const TriangularArguments& args, const Tile& a) {
    const blas::Block<T> all(a);
    double squares = 0;
    for (Index j = 0; j < all.cols; ++j) {
        const Index begin = args.triangle == Triangle::lower ? j : 0;
        const Index end = args.triangle == Triangle::lower ? all.rows : std::min(j + 1, all.rows);
        for (Index i = begin; i < end; ++i) {
            const double value = i == j && args.diagonal == Diagonal::unit ? 1 : static_cast<double>(all(i, j));
            squares += value * value;
        }
    }
    return std::sqrt(squares);
}

/// With all its elements, as they are.
template <class T>
KernelResult store_whole(const Tile& tile, blas::Block<T> value) {
    auto* const all = static_cast<T*>(tile.room->replace(dense_rank));
    if (all == nullptr) return {Failure::out_of_memory};
    for (Index j = 0; j < value.cols; ++j) std::copy_n(&value(0, j), value.rows, all + j * value.rows);
    return {};
}
template <class T>
KernelResult store_whole(const Tile& tile, const TileSource<T>& value) {
    auto* const all = static_cast<T*>(tile.room->replace(dense_rank));
    if (all == nullptr) return {Failure::out_of_memory};
    value.columns(0, tile.cols(), all);
    return {};
}

/// The elements of a tile, of one's own.
template <class T>
Elements<T> elements_of(const Tile& tile) {
    Elements<T> all = room_for<T>(tile.rows(), tile.cols());
    copy_values(tile, element_type<T>, all.data());
    return all;
}

}  // namespace

template <class T>
Factors<T> factors_of(const Tile& tile) {
    const TileFactors<T> from(tile);
    Factors<T> result{.rows = tile.rows(), .cols = tile.cols(), .rank = tile.shape.rank};
    result.u.assign(from.u.data, from.u.data + from.u.rows * from.u.cols);
    result.v.assign(from.v.data, from.v.data + from.v.rows * from.v.cols);
    return result;
}

double truncation(const TileRoom& room) {
    return room.accuracy() * (room.precision() == FactorPrecision::as_needed ? 1 - share_of_rounding : 1);
}

bool concerns(std::span<const Tile> tiles) {
    return std::ranges::any_of(tiles, [](const Tile& tile) { return !tile.is_dense() || tile.room != nullptr; });
}

template <class T>
KernelResult store_columns(const Tile& tile, const Factors<T>& value, Index singles) {
    return write_ordered(tile, value, ColumnOrder(value.rank, singles));
}

template <class T>
KernelResult store(const Tile& tile, const Factors<T>& value, double weight) {
    if (value.rank >= useless_rank(tile.shape)) {
        auto* const all = static_cast<T*>(tile.room->replace(dense_rank));
        if (all == nullptr) return {Failure::out_of_memory};
        Factors<T> copy = value;
        blas::gemm({.op_b = Op::transpose, .alpha = 1, .beta = 0}, block(copy.u, value.rows, value.rank),
                   block(copy.v, value.cols, value.rank), blas::Block<T>(all, value.rows, value.cols, value.rows));
        return {};
    }
    return write_ordered(tile, value, order_columns(tile, value, weight));
}

template <class T>
KernelResult store(const Tile& tile, blas::Block<T> value) {
    const auto factors =
        compress<T>({value.data, value.rows, value.cols, value.ld}, truncation(*tile.room), useless_rank(tile.shape));
    return factors ? store(tile, *factors) : store_whole(tile, value);
}

template <class T>
KernelResult store(const Tile& tile, const TileSource<T>& value) {
    // Crosses are up to twice the rank that is left of them: with more than this the whole tile is as soon looked at.
    const CrossLimits limits{.crosses = std::min(tile.rows(), tile.cols()) / 3,
                             .useless_rank = useless_rank(tile.shape)};
    const double accuracy = truncation(*tile.room);
    const auto elements = static_cast<double>(tile.rows()) * static_cast<double>(tile.cols());
    if (value.bound() * std::sqrt(elements) <= accuracy)
        return store(tile, Factors<T>{.rows = tile.rows(), .cols = tile.cols()});
    const CrossApproximation<T> crosses = cross_approximate(value, accuracy, limits);
    if (crosses.factors && is_accurate(*crosses.factors, value, accuracy)) return store(tile, *crosses.factors);
    if (crosses.outlook == RankOutlook::useless) return store_whole(tile, value);
    Elements<T> all = room_for<T>(tile.rows(), tile.cols());
    value.columns(0, tile.cols(), all.data());
    return store(tile, block(all, tile.rows(), tile.cols()));
}

template <class T>
KernelResult trsm(const TriangularArguments& args, const Tile& a, const Tile& b) {
    // What rounding does to the solution it does ‖A‖ times to what the solution stands for.
    const double weight = may_round<T>(b) && a.is_dense() ? frobenius_norm<T>(args, a) : 1;
    return act_on_factor<T>(args, a, b, weight, [](const auto&... work) { blas::trsm(work...); });
}

template <class T>
KernelResult trmm(const TriangularArguments& args, const Tile& a, const Tile& b) {
    return act_on_factor<T>(args, a, b, 1, [](const auto&... work) { blas::trmm(work...); });
}

template <class T>
KernelResult syrk(const SyrkArguments& args, const Tile& a, const Tile& c) {
    if (!c.is_dense()) return fail("a symmetric tile must have all its elements");
    const blas::Block<T> result(c);
    if (a.is_dense()) {
        blas::syrk(args, blas::Block<T>(a), result);
        return {};
    }
    const Operand<T> op(a, args.op);
    const Index rank = op.rank();
    // U·(VᵀV)·Uᵀ = U·W·Uᵀ, one triangle: by halves, so that little is computed twice.
    Elements<T> core = room_for<T>(rank, rank);
    const blas::Block<T> w = block(core, rank, rank);
    if (rank > 0) blas::gemm({.op_a = Op::transpose, .alpha = 1, .beta = 0}, op.v, op.v, w);
    Elements<T> made = room_for<T>(op.u.rows, rank);
    const blas::Block<T> uw = block(made, op.u.rows, rank);
    if (rank > 0) blas::gemm({.alpha = args.alpha, .beta = 0}, op.u, w, uw);
    constexpr Index leaf = 128;
    const auto triangle = [&](const auto& self, Index first, Index count) -> void {
        const auto part = [&](blas::Block<T> of, Index from, Index rows) { return of.part({from, 0}, {rows, rank}); };
        if (count <= leaf || rank == 0) {
            const blas::Block<T> square = result.part({first, first}, {count, count});
            if (rank == 0) return scale_block(args.beta, square);
            return blas::gemm({.op_b = Op::transpose, .alpha = 1, .beta = args.beta}, part(uw, first, count),
                              part(op.u, first, count), square);
        }
        const Index half = count / 2;
        const Index rest = count - half;
        self(self, first, half);
        const bool lower = args.triangle == Triangle::lower;
        const Index row = lower ? first + half : first;
        const Index col = lower ? first : first + half;
        const Index rows = lower ? rest : half;
        const Index cols = lower ? half : rest;
        blas::gemm({.op_b = Op::transpose, .alpha = 1, .beta = args.beta}, part(uw, row, rows), part(op.u, col, cols),
                   result.part({row, col}, {rows, cols}));
        self(self, first + half, rest);
    };
    triangle(triangle, 0, result.rows);
    return {};
}

template <class T>
KernelResult gemm(const GemmArguments& args, std::span<const Tile> abc) {
    const Operand<T> a(abc[0], args.op_a);
    const Operand<T> b(abc[1], args.op_b);
    const Tile& c = abc[2];
    if (!a.dense || !b.dense) {
        const Product<T> p = product(a, b);
        return add_product(args, p.x, p.y, c);
    }
    if (c.is_dense()) {
        blas::gemm(args, a.u, b.u, blas::Block<T>(c));
        return {};
    }
    Elements<T> all = elements_of<T>(c);
    const blas::Block<T> result = block(all, c.rows(), c.cols());
    blas::gemm(args, a.u, b.u, result);
    return store(c, result);
}

template <class T>
KernelResult geadd(const GeaddArguments& args, const Tile& a, const Tile& b) {
    if (!a.is_dense()) {
        Operand<T> from(a, Op::none);
        return add_product({.alpha = args.alpha, .beta = args.beta}, from.u, from.v, b);
    }
    Elements<T> sum = elements_of<T>(b);
    const blas::Block<T> result = block(sum, b.rows(), b.cols());
    scale_block(args.beta, result);
    const blas::Block<T> from(a);
    for (Index j = 0; j < result.cols; ++j)
        for (Index i = 0; i < result.rows; ++i) result(i, j) += static_cast<T>(args.alpha) * from(i, j);
    return store(b, result);
}

template <class T>
KernelResult laset(const LasetArguments& args, const Tile& a) {
    if (args.diagonal == 0 && args.off_diagonal == 0)
        return store(a, Factors<T>{.rows = a.rows(), .cols = a.cols(), .rank = 0});
    Elements<T> all = room_for<T>(a.rows(), a.cols());
    const blas::Block<T> value = block(all, a.rows(), a.cols());
    for (Index j = 0; j < value.cols; ++j)
        for (Index i = 0; i < value.rows; ++i) value(i, j) = static_cast<T>(i == j ? args.diagonal : args.off_diagonal);
    return store(a, value);
}

template <class T>
KernelResult scale(double factor, const Tile& a) {
    if (a.is_dense()) {
        scale_block(factor, blas::Block<T>(a));
        return {};
    }
    if (a.shape.singles == 0) {
        scale_block(factor, TileFactors<T>(a).u);
        return {};
    }
    Factors<T> factors = factors_of<T>(a);
    scale_block(factor, block(factors.u, a.rows(), factors.rank));
    return store(a, factors);
}

#define TESELA_LOW_RANK_TILES(T)                                                         \
    template Factors<T> factors_of(const Tile&);                                         \
    template KernelResult store_columns(const Tile&, const Factors<T>&, Index);          \
    template KernelResult store(const Tile&, const Factors<T>&, double);                 \
    template KernelResult store(const Tile&, blas::Block<T>);                            \
    template KernelResult store(const Tile&, const TileSource<T>&);                      \
    template KernelResult trsm<T>(const TriangularArguments&, const Tile&, const Tile&); \
    template KernelResult trmm<T>(const TriangularArguments&, const Tile&, const Tile&); \
    template KernelResult syrk<T>(const SyrkArguments&, const Tile&, const Tile&);       \
    template KernelResult gemm<T>(const GemmArguments&, std::span<const Tile>);          \
    template KernelResult geadd<T>(const GeaddArguments&, const Tile&, const Tile&);     \
    template KernelResult laset<T>(const LasetArguments&, const Tile&);                  \
    template KernelResult scale<T>(double, const Tile&);
TESELA_LOW_RANK_TILES(float)
TESELA_LOW_RANK_TILES(double)
#undef TESELA_LOW_RANK_TILES

}  // namespace tesela::low_rank
