#include "tesela/kernels/qr.hpp"

#include "tesela/kernels/describe.hpp"
#include "tesela/kernels/internal/low_rank_tiles.hpp"
#include "tesela/kernels/internal/reflectors.hpp"

#include <algorithm>
#include <vector>

namespace tesela {
namespace {

using reflectors::Reach;

template <class T>
blas::Block<T> block(const Tile& tile) {
    return blas::Block<T>(tile);
}
/// Its first rows, a square of its columns.
template <class T>
blas::Block<T> square(const Tile& tile) {
    return {tile.as<T>(), tile.cols(), tile.cols(), tile.ld};
}
template <class T>
blas::Block<T> first_rows(const Tile& tile, Index rows) {
    return {tile.as<T>(), rows, tile.cols(), tile.ld};
}

/// Runs work(room) with room for reflections of so many columns; the kernel fails where there is no memory for it.
template <class T, class Work>
KernelResult with_room(const Tile& t, Index cols, Work work) noexcept {
    return low_rank::guarded([&]() -> KernelResult {
        std::vector<T> room(reflectors::room_for(t.rows(), cols));
        work(room.data());
        return {};
    });
}

/// Upper triangle of A with zeros beneath it.
template <class T>
void copy_triangle(blas::Block<T> a, blas::Block<T> r) {
    for (Index j = 0; j < r.cols; ++j) {
        const Index rows = std::min({j + 1, a.rows, r.rows});
        std::copy_n(&a(0, j), rows, &r(0, j));
        std::fill(&r(0, j) + rows, &r(0, j) + r.rows, T{0});
    }
}

template <class T>
KernelResult run_geqrt(const KernelCall& call) noexcept {
    const auto a = block<T>(call.tiles[0]);
    return with_room<T>(call.tiles[2], a.cols, [&](T* room) {
        reflectors::factor_block(a, block<T>(call.tiles[2]), room);
        copy_triangle(a, block<T>(call.tiles[1]));
    });
}

template <class T>
KernelResult run_tsqrt(const KernelCall& call) noexcept {
    const reflectors::Pair<T> rows{square<T>(call.tiles[1]), block<T>(call.tiles[0])};
    return with_room<T>(call.tiles[2], rows.top.cols,
                        [&](T* room) { reflectors::factor_pair(rows, Reach::all, block<T>(call.tiles[2]), room); });
}

template <class T>
KernelResult run_ttqrt(const KernelCall& call) noexcept {
    const reflectors::Pair<T> rows{square<T>(call.tiles[1]), square<T>(call.tiles[2])};
    return with_room<T>(call.tiles[3], rows.top.cols, [&](T* room) {
        copy_triangle(block<T>(call.tiles[0]), block<T>(call.tiles[2]));
        reflectors::factor_pair(rows, Reach::triangle, block<T>(call.tiles[3]), room);
    });
}

reflectors::Use use_of(const QArguments& args) {
    return {args.op, args.columns == QColumns::all ? reflectors::Columns::all : reflectors::Columns::from_diagonal};
}

template <class T>
KernelResult run_gemqrt(const KernelCall& call) noexcept {
    return with_room<T>(call.tiles[1], call.tiles[2].cols(), [&](T* room) {
        reflectors::apply_block(use_of(call.args<QArguments>()), block<T>(call.tiles[0]), block<T>(call.tiles[1]),
                                block<T>(call.tiles[2]), room);
    });
}

template <class T>
KernelResult run_tsmqr(const KernelCall& call) noexcept {
    const reflectors::Tails<T> tails{block<T>(call.tiles[0]), Reach::all, block<T>(call.tiles[1])};
    const reflectors::Pair<T> c{first_rows<T>(call.tiles[3], tails.v.cols), block<T>(call.tiles[2])};
    return with_room<T>(call.tiles[1], c.top.cols,
                        [&](T* room) { reflectors::apply_pair(use_of(call.args<QArguments>()), tails, c, room); });
}

template <class T>
KernelResult run_ttmqr(const KernelCall& call) noexcept {
    const reflectors::Tails<T> tails{square<T>(call.tiles[0]), Reach::triangle, block<T>(call.tiles[1])};
    const reflectors::Pair<T> c{first_rows<T>(call.tiles[2], tails.v.cols), first_rows<T>(call.tiles[3], tails.v.cols)};
    return with_room<T>(call.tiles[1], c.top.cols,
                        [&](T* room) { reflectors::apply_pair(use_of(call.args<QArguments>()), tails, c, room); });
}

// Costs: leading terms, as those of the dense kernels; what T adds is not counted, as LAPACK's counts do not.

double number(Index n) { return static_cast<double>(n); }

/// Q that is formed from its triangle on costs half of a product with it.
double part_of(const void* arguments) {
    return static_cast<const QArguments*>(arguments)->columns == QColumns::all ? 1 : 0.5;
}

template <class T>
KernelCost cost_geqrt(Shapes s, const void*) noexcept {
    const double m = number(std::max(s[0].rows, s[0].cols));
    const double n = number(std::min(s[0].rows, s[0].cols));
    return {2 * n * n * (m - n / 3), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_tsqrt(Shapes s, const void*) noexcept {
    return {2 * number(s[0].rows) * number(s[0].cols) * number(s[0].cols), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_ttqrt(Shapes s, const void*) noexcept {
    const double n = number(s[0].cols);
    return {2 * n * n * n / 3, bytes_of<T>(s)};
}
template <class T>
KernelCost cost_gemqrt(Shapes s, const void* arguments) noexcept {
    const double k = number(std::min(s[0].rows, s[0].cols));
    return {part_of(arguments) * 2 * k * number(s[2].cols) * (2 * number(s[0].rows) - k), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_tsmqr(Shapes s, const void* arguments) noexcept {
    return {part_of(arguments) * 4 * number(s[0].rows) * number(s[0].cols) * number(s[2].cols), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_ttmqr(Shapes s, const void* arguments) noexcept {
    return {part_of(arguments) * 2 * number(s[0].cols) * number(s[0].cols) * number(s[2].cols), bytes_of<T>(s)};
}

}  // namespace

template <class T>
const KernelOf<NoArguments, T, T, T> Qr<T>::geqrt{named<T>("sgeqrt", "dgeqrt"), cost_geqrt<T>, run_geqrt<T>};
template <class T>
const KernelOf<NoArguments, T, T, T> Qr<T>::tsqrt{named<T>("stsqrt", "dtsqrt"), cost_tsqrt<T>, run_tsqrt<T>};
template <class T>
const KernelOf<NoArguments, const T, T, T, T> Qr<T>::ttqrt{named<T>("sttqrt", "dttqrt"), cost_ttqrt<T>, run_ttqrt<T>};
template <class T>
const KernelOf<QArguments, const T, const T, T> Qr<T>::gemqrt{named<T>("sgemqrt", "dgemqrt"), cost_gemqrt<T>,
                                                              run_gemqrt<T>};
template <class T>
const KernelOf<QArguments, const T, const T, T, T> Qr<T>::tsmqr{named<T>("stsmqr", "dtsmqr"), cost_tsmqr<T>,
                                                                run_tsmqr<T>};
template <class T>
const KernelOf<QArguments, const T, const T, T, T> Qr<T>::ttmqr{named<T>("sttmqr", "dttmqr"), cost_ttmqr<T>,
                                                                run_ttmqr<T>};

template struct Qr<float>;
template struct Qr<double>;

}  // namespace tesela
