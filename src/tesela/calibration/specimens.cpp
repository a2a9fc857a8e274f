#include "tesela/calibration/calibrate.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/qr.hpp"
#include "tesela/kernels/segment.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace tesela::calibration {
namespace {

using enum Specimen::Origin;
using Operands = std::vector<Specimen::Operand>;

/// Columns of a narrow call of gemm; one column would be a call of gemv.
constexpr Index narrow_gemm_columns = 4;

double some_element(const void*, ElementIndex at) { return static_cast<double>(at.i - at.j); }

template <class T>
std::vector<Specimen> dense_specimens() {
    using K = Dense<T>;
    const auto one = Specimen::one_element;
    const auto square = [](auto... origins) { return Specimen::square({origins...}); };
    const auto columns = [](auto... widths) { return Specimen::matrix_and_columns({widths...}); };
    // Variants: those of Cholesky, which are as fast as the others of the same name.
    const TriangularArguments of_panel{.side = Side::right, .triangle = Triangle::lower, .op = Op::transpose};
    const TriangularArguments from_left{.side = Side::left, .triangle = Triangle::lower};
    return {Specimen::of(K::potrf, {}, square(memory)),
            Specimen::of(K::trsm, of_panel, square(pivot, memory)),
            Specimen::of(K::trsm, from_left, columns(1), CallShape::narrow),
            Specimen::of(K::syrk, {.alpha = -1}, square(panel, memory)),
            Specimen::of(
                K::syrk, {.op = Op::transpose},
                [](Index n) {
                    return Operands{{{n, 1}, vector}, {{1, 1}, vector}};
                },
                CallShape::narrow),
            Specimen::of(K::gemm, {.op_b = Op::transpose, .alpha = -1}, square(panel, panel, memory)),
            Specimen::of(K::gemm, {.alpha = -1}, columns(narrow_gemm_columns, narrow_gemm_columns), CallShape::narrow),
            Specimen::of(K::gemv, {.alpha = -1}, columns(1, 1)),
            Specimen::of(K::getrf, {}, square(memory)),
            Specimen::of(K::trtri, {}, square(memory)),
            Specimen::of(K::lauum, {}, square(memory)),
            Specimen::of(K::trmm, from_left, square(pivot, memory)),
            Specimen::of(K::geadd, {.alpha = 0.5, .beta = 0.5}, square(memory, memory)),
            Specimen::of(K::laset, {.diagonal = 1}, square(memory)),
            Specimen::of(K::scale, {.factor = 1}, square(memory)),
            Specimen::of(K::generate, {.element = some_element}, square(memory)),
            Specimen::of(K::dot, {},
                         [](Index n) {
                             return Operands{{{n, n}, memory}, {{n, n}, memory}, {{1, 1}, vector}};
                         }),
            Specimen::of(K::logdet, {}, columns(one))};
}

/// Square tiles and, where `triangle` says, T of their reflectors.
Specimen::Operands with_triangle(std::vector<Specimen::Origin> origins, std::ptrdiff_t triangle) {
    return [squares = Specimen::square(std::move(origins)), triangle](Index n) {
        Operands operands = squares(n);
        operands.insert(operands.begin() + triangle, {{reflectors_at_once(n), n}, panel});
        return operands;
    };
}

template <class T>
std::vector<Specimen> qr_specimens() {
    using K = Qr<T>;
    const QArguments update{.op = Op::transpose};
    return {Specimen::of(K::geqrt, {}, with_triangle({memory, memory}, 2)),
            Specimen::of(K::tsqrt, {}, with_triangle({memory, pivot}, 2)),
            Specimen::of(K::ttqrt, {}, with_triangle({panel, pivot, memory}, 3)),
            Specimen::of(K::gemqrt, update, with_triangle({pivot, memory}, 1)),
            Specimen::of(K::tsmqr, update, with_triangle({panel, memory, memory}, 1)),
            Specimen::of(K::ttmqr, update, with_triangle({panel, memory, memory}, 1))};
}

/// What a target tile takes from four source tiles that meet in its middle, as between unlike tilings: the last quarter
/// of the first becomes its first, and so on.
std::array<PlacedSegment, 4> quarters(const TileShape& tile) {
    const std::array rows{static_cast<std::int32_t>(tile.rows / 2), static_cast<std::int32_t>((tile.rows + 1) / 2)};
    const std::array cols{static_cast<std::int32_t>(tile.cols / 2), static_cast<std::int32_t>((tile.cols + 1) / 2)};
    std::array<PlacedSegment, 4> segments{};
    Index packed_at = 0;
    for (std::uint32_t q = 0; q < segments.size(); ++q) {
        const std::uint32_t i = q % 2;
        const std::uint32_t j = q / 2;
        segments[q] = {.args = {.rows = rows[i],
                                .cols = cols[j],
                                .from_i = i == 0 ? rows[1] : 0,
                                .from_j = j == 0 ? cols[1] : 0,
                                .to_i = i == 0 ? 0 : rows[0],
                                .to_j = j == 0 ? 0 : cols[0],
                                .packed_at = packed_at},
                       .source = q,
                       .target = 0};
        packed_at += segments[q].args.shape().count();
    }
    return segments;
}
KernelCost parcel_cost(std::span<const TileShape> tiles, const void*) noexcept {
    return {0, 2.0 * sizeof(double) * static_cast<double>(tiles[0].rows * tiles[0].cols)};
}
KernelResult pack_parcel(const KernelCall& call) noexcept {
    pack_segments(quarters(call.tiles[0].shape), call.tiles.first(4), static_cast<std::byte*>(call.tiles[4].data));
    return {};
}
KernelResult unpack_parcel(const KernelCall& call) noexcept {
    unpack_segments(quarters(call.tiles[0].shape), static_cast<const std::byte*>(call.tiles[0].data),
                    call.tiles.last(1));
    return {};
}
KernelResult copy_parcel(const KernelCall& call) noexcept {
    copy_segments(quarters(call.tiles[0].shape), call.tiles.first(4), call.tiles.last(1));
    return {};
}

/// Buffers are few and used again soon; a source tile is used four times, a target tile once.
std::vector<Specimen> parcel_specimens() {
    static const Kernel pack{ParcelTaskNames::pack, parcel_cost, pack_parcel};
    static const Kernel unpack{ParcelTaskNames::unpack, parcel_cost, unpack_parcel};
    static const Kernel copy{ParcelTaskNames::copy, parcel_cost, copy_parcel};
    return {{.kernel = &pack, .operands = Specimen::square({memory, memory, memory, memory, panel})},
            {.kernel = &unpack, .operands = Specimen::square({panel, memory})},
            {.kernel = &copy, .operands = Specimen::square({memory, memory, memory, memory, memory})}};
}

}  // namespace

std::vector<Specimen> specimens() {
    return joined({dense_specimens<double>(), qr_specimens<double>(), parcel_specimens(), dense_specimens<float>(),
                   qr_specimens<float>()});
}

}  // namespace tesela::calibration
