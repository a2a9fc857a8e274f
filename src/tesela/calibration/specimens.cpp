#include "tesela/calibration/internal/specimens.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/kernels/covariance_kernel.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/gram.hpp"
#include "tesela/kernels/qr.hpp"
#include "tesela/kernels/segment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace tesela::calibration {
namespace {

template <class Arguments>
std::vector<std::byte> bytes_of(const Arguments& arguments) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    std::vector<std::byte> bytes(sizeof(Arguments));
    std::memcpy(bytes.data(), &arguments, sizeof(Arguments));
    return bytes;
}

/// Square tiles from these places.
std::function<std::vector<Operand>(Index)> square(std::vector<Origin> origins) {
    return [origins = std::move(origins)](Index n) {
        std::vector<Operand> operands;
        for (const Origin origin : origins) operands.push_back({{n, n}, origin});
        return operands;
    };
}

/// Tiles of so many columns (a negative number: a single element).
std::function<std::vector<Operand>(Index)> columns(std::vector<Index> widths) {
    return [widths = std::move(widths)](Index n) {
        std::vector<Operand> operands;
        for (const Index c : widths) operands.push_back({c > 0 ? TileShape{n, c} : TileShape{1, 1}, Origin::vector});
        return operands;
    };
}
constexpr Index one_element = -1;

/// A square tile from memory, then tiles of so many columns.
std::function<std::vector<Operand>(Index)> matrix_and_columns(std::vector<Index> widths) {
    return [others = columns(std::move(widths))](Index n) {
        std::vector<Operand> operands = others(n);
        operands.insert(operands.begin(), {{n, n}, Origin::memory});
        return operands;
    };
}

double some_element(const void*, ElementIndex at) { return static_cast<double>(at.i - at.j); }

template <class T>
void add_dense(std::vector<Specimen>& list) {
    using enum Origin;
    using K = Dense<T>;
    const auto add = [&](const Kernel& kernel, auto operands, std::vector<std::byte> arguments,
                         CallShape shape = CallShape::square) {
        list.push_back({&kernel, element_type<T>, shape, std::move(operands), std::move(arguments)});
    };
    const auto pivot_arguments = bytes_of(PivotArguments{});
    // Variants: those of Cholesky, which are as fast as the others of the same name.
    const auto solve_panel =
        bytes_of(TriangularArguments{.side = Side::right, .triangle = Triangle::lower, .op = Op::transpose});
    const auto from_left = bytes_of(TriangularArguments{.side = Side::left, .triangle = Triangle::lower});
    add(K::potrf, square({memory}), pivot_arguments);
    add(K::trsm, square({pivot, memory}), solve_panel);
    add(K::trsm, matrix_and_columns({1}), from_left, CallShape::narrow);
    add(K::syrk, square({panel, memory}), bytes_of(SyrkArguments{.alpha = -1}));
    add(
        K::syrk,
        [](Index n) {
            return std::vector<Operand>{{{n, 1}, vector}, {{1, 1}, vector}};
        },
        bytes_of(SyrkArguments{.op = Op::transpose}), CallShape::narrow);
    add(K::gemm, square({panel, panel, memory}), bytes_of(GemmArguments{.op_b = Op::transpose, .alpha = -1}));
    add(K::gemm, matrix_and_columns({narrow_gemm_columns, narrow_gemm_columns}), bytes_of(GemmArguments{.alpha = -1}),
        CallShape::narrow);
    add(K::gemv, matrix_and_columns({1, 1}), bytes_of(GemmArguments{.alpha = -1}));
    add(K::getrf, square({memory}), pivot_arguments);
    add(K::trtri, square({memory}), {});
    add(K::lauum, square({memory}), {});
    add(K::trmm, square({pivot, memory}), from_left);
    add(K::geadd, square({memory, memory}), bytes_of(GeaddArguments{.alpha = 0.5, .beta = 0.5}));
    add(K::laset, square({memory}), bytes_of(LasetArguments{.diagonal = 1}));
    add(K::scale, square({memory}), bytes_of(ScaleArguments{.factor = 1}));
    add(K::generate, square({memory}), bytes_of(GenerateArguments{.element = some_element}));
    add(
        K::dot,
        [](Index n) {
            return std::vector<Operand>{{{n, n}, memory}, {{n, n}, memory}, {{1, 1}, vector}};
        },
        std::vector<std::byte>{});
    add(K::logdet, matrix_and_columns({one_element}), {});
}

/// Square tiles and, where `triangle` says, T of their reflectors.
std::function<std::vector<Operand>(Index)> with_triangle(std::vector<Origin> origins, std::size_t triangle) {
    return [origins = std::move(origins), triangle](Index n) {
        std::vector<Operand> operands;
        for (const Origin origin : origins) operands.push_back({{n, n}, origin});
        operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(triangle),
                        {{reflectors_at_once(n), n}, Origin::panel});
        return operands;
    };
}

template <class T>
void add_qr(std::vector<Specimen>& list) {
    using enum Origin;
    using K = Qr<T>;
    const auto add = [&](const Kernel& kernel, auto operands, std::vector<std::byte> arguments) {
        list.push_back({&kernel, element_type<T>, CallShape::square, std::move(operands), std::move(arguments)});
    };
    const auto update = bytes_of(QArguments{.op = Op::transpose});
    add(K::geqrt, with_triangle({memory, memory}, 2), {});
    add(K::tsqrt, with_triangle({memory, pivot}, 2), {});
    add(K::ttqrt, with_triangle({panel, pivot, memory}, 3), {});
    add(K::gemqrt, with_triangle({pivot, memory}, 1), update);
    add(K::tsmqr, with_triangle({panel, memory, memory}, 1), update);
    add(K::ttmqr, with_triangle({panel, memory, memory}, 1), update);
}

/// Observations in the unit square that follow a Kronecker sequence: scattered evenly, without two at one place.
const PointSet& points() {
    static const PointSet set = [] {
        std::vector<std::vector<double>> columns(2);
        for (Index i = 0; i < largest_tile; ++i)
            for (std::size_t d = 0; d < 2; ++d) {
                const double step = d == 0 ? 0.7548776662466927 : 0.5698402909980532;
                const double at = step * static_cast<double>(i);
                columns[d].push_back(at - std::floor(at));
            }
        return PointSet(Metric::euclidean, std::move(columns));
    }();
    return set;
}

/// Matérn of a smoothness without a closed form; the table behind it makes all as fast.
const Covariance& covariance() {
    static const Covariance matern(CovarianceFamily::matern, {.sigma2 = 1, .range = 0.1, .smoothness = 0.8},
                                   Metric::euclidean, points().diameter_bound());
    return matern;
}

void add_covariance(std::vector<Specimen>& list) {
    list.push_back({&covariance_kernel, ElementType::f64, CallShape::square, square({Origin::memory}),
                    bytes_of(CovarianceArguments{.covariance = &covariance(), .rows = &points(), .cols = &points()})});
    list.push_back({&column_squares_kernel, ElementType::f64, CallShape::square, matrix_and_columns({1}), {}});
}

void add_gram(std::vector<Specimen>& list) {
    const auto add = [&](const Kernel& kernel, auto operands, std::vector<std::byte> arguments) {
        list.push_back({&kernel, ElementType::f64, CallShape::square, std::move(operands), std::move(arguments)});
    };
    const Index narrow = narrow_gemm_columns;
    add(gram_rows_kernel, matrix_and_columns({1, 1}), bytes_of(GramArguments{ElementRule::half_squares}));
    add(squares_kernel, matrix_and_columns({2, 1, 2, 1, one_element}), bytes_of(SquaresArguments{}));
    add(both_products_kernel, matrix_and_columns({narrow, narrow, narrow, narrow}), {});
    add(take_double_kernel, square({Origin::memory, Origin::memory}),
        bytes_of(TakeArguments{.rule = ElementRule::half_squares}));
    add(border_kernel, columns({1, one_element, 1, 2, 1}), bytes_of(BorderArguments{}));
    add(scale_rows_kernel, columns({1, narrow}), {});
    add(
        centre_kernel,
        [](Index n) {
            using enum Origin;
            return std::vector<Operand>{{{n, 2}, vector}, {{n, 2}, vector}, {{n, n}, memory}};
        },
        bytes_of(CentreArguments{Op::transpose}));
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
void add_parcels(std::vector<Specimen>& list) {
    using enum Origin;
    static const Kernel pack{ParcelTaskNames::pack, parcel_cost, pack_parcel};
    static const Kernel unpack{ParcelTaskNames::unpack, parcel_cost, unpack_parcel};
    static const Kernel copy{ParcelTaskNames::copy, parcel_cost, copy_parcel};
    list.push_back({&pack, ElementType::f64, CallShape::square, square({memory, memory, memory, memory, panel}), {}});
    list.push_back({&unpack, ElementType::f64, CallShape::square, square({panel, memory}), {}});
    list.push_back({&copy, ElementType::f64, CallShape::square, square({memory, memory, memory, memory, memory}), {}});
}

}  // namespace

const std::vector<Specimen>& specimens() {
    static const std::vector<Specimen> list = [] {
        std::vector<Specimen> all;
        add_dense<double>(all);
        add_qr<double>(all);
        add_covariance(all);
        add_gram(all);
        add_parcels(all);
        add_dense<float>(all);
        add_qr<float>(all);
        return all;
    }();
    return list;
}

KernelCost cost_of(const Specimen& specimen, Index tile) {
    std::vector<TileShape> shapes;
    for (const Operand& operand : specimen.operands(tile)) shapes.push_back(operand.shape);
    return specimen.kernel->cost(shapes, specimen.arguments.data());
}

}  // namespace tesela::calibration
