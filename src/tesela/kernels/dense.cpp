#include "tesela/kernels/dense.hpp"

#include "tesela/base/error.hpp"
#include "tesela/kernels/describe.hpp"
#include "tesela/kernels/internal/blas.hpp"
#include "tesela/kernels/internal/blas_library.hpp"
#include "tesela/kernels/internal/low_rank_tiles.hpp"
#include "tesela/kernels/low_rank_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <string>

namespace tesela {
namespace {

double cube(Index n) { return std::pow(static_cast<double>(n), 3); }

/// The first index whose diagonal element is not finite and non-zero (LU) or not positive (Cholesky). OpenBLAS lets a
/// NaN pass through dpotrf without a word, so the diagonal is looked at here.
template <class T, class Good>
std::optional<Index> first_bad_diagonal(blas::Block<T> a, Good good) {
    for (Index i = 0; i < std::min(a.rows, a.cols); ++i)
        if (!good(a(i, i))) return i;
    return std::nullopt;
}

template <class T>
KernelResult run_potrf(const KernelCall& call) noexcept {
    const blas::Block<T> a(call.tiles[0]);
    const Index first_row = call.args<PivotArguments>().first_row;
    const int info = blas::potrf(a);
    const Index done = info > 0 ? Index{info} - 1 : a.rows;
    if (const auto bad =
            first_bad_diagonal(a.part({0, 0}, {done, done}), [](T x) { return std::isfinite(x) && x > 0; }))
        return {Failure::not_positive_definite, first_row + *bad};
    if (info > 0) return {Failure::not_positive_definite, first_row + done};
    return {};
}

/// Below this order the recursion of the unpivoted LU ends in plain loops.
constexpr Index lu_base = 24;

template <class T>
void lu_loops(blas::Block<T> a) {
    for (Index k = 0; k < a.rows; ++k) {
        const T inverse = T{1} / a(k, k);
        for (Index i = k + 1; i < a.rows; ++i) a(i, k) *= inverse;
        for (Index j = k + 1; j < a.cols; ++j)
            for (Index i = k + 1; i < a.rows; ++i) a(i, j) -= a(i, k) * a(k, j);
    }
}

/// [A B; C D] = [L 0; C·U⁻¹ I]·[U L⁻¹·B; 0 D − C·U⁻¹·L⁻¹·B], then the same on the last block.
template <class T>
void lu_recursive(blas::Block<T> a) {
    if (a.rows <= lu_base) return lu_loops(a);
    const Index half = a.rows / 2;
    const Index rest = a.rows - half;
    const auto top_left = a.part({0, 0}, {half, half});
    const auto top_right = a.part({0, half}, {half, rest});
    const auto bottom_left = a.part({half, 0}, {rest, half});
    const auto bottom_right = a.part({half, half}, {rest, rest});
    lu_recursive(top_left);
    blas::trsm({.side = Side::left, .triangle = Triangle::lower, .diagonal = Diagonal::unit}, top_left, top_right);
    blas::trsm({.side = Side::right, .triangle = Triangle::upper}, top_left, bottom_left);
    blas::gemm({.alpha = -1}, bottom_left, top_right, bottom_right);
    lu_recursive(bottom_right);
}

template <class T>
KernelResult run_getrf(const KernelCall& call) noexcept {
    const blas::Block<T> a(call.tiles[0]);
    lu_recursive(a);
    if (const auto bad = first_bad_diagonal(a, [](T x) { return std::isfinite(x) && x != 0; }))
        return {Failure::zero_pivot, call.args<PivotArguments>().first_row + *bad};
    return {};
}

template <class T>
KernelResult run_trtri(const KernelCall& call) noexcept {
    blas::trtri(blas::Block<T>(call.tiles[0]));
    return {};
}

template <class T>
KernelResult run_lauum(const KernelCall& call) noexcept {
    blas::lauum(blas::Block<T>(call.tiles[0]));
    return {};
}

template <class T>
KernelResult run_trsm(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded(
            [&] { return low_rank::trsm<T>(call.args<TriangularArguments>(), call.tiles[0], call.tiles[1]); });
    blas::trsm(call.args<TriangularArguments>(), blas::Block<T>(call.tiles[0]), blas::Block<T>(call.tiles[1]));
    return {};
}

template <class T>
KernelResult run_trmm(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded(
            [&] { return low_rank::trmm<T>(call.args<TriangularArguments>(), call.tiles[0], call.tiles[1]); });
    blas::trmm(call.args<TriangularArguments>(), blas::Block<T>(call.tiles[0]), blas::Block<T>(call.tiles[1]));
    return {};
}

template <class T>
KernelResult run_syrk(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded(
            [&] { return low_rank::syrk<T>(call.args<SyrkArguments>(), call.tiles[0], call.tiles[1]); });
    blas::syrk(call.args<SyrkArguments>(), blas::Block<T>(call.tiles[0]), blas::Block<T>(call.tiles[1]));
    return {};
}

template <class T>
KernelResult run_gemm(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded([&] { return low_rank::gemm<T>(call.args<GemmArguments>(), call.tiles); });
    blas::gemm(call.args<GemmArguments>(), blas::Block<T>(call.tiles[0]), blas::Block<T>(call.tiles[1]),
               blas::Block<T>(call.tiles[2]));
    return {};
}

template <class T>
KernelResult run_gemv(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded([&] { return low_rank::gemm<T>(call.args<GemmArguments>(), call.tiles); });
    blas::gemv(call.args<GemmArguments>(), blas::Block<T>(call.tiles[0]), blas::Block<T>(call.tiles[1]),
               blas::Block<T>(call.tiles[2]));
    return {};
}

template <class T>
KernelResult run_geadd(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded(
            [&] { return low_rank::geadd<T>(call.args<GeaddArguments>(), call.tiles[0], call.tiles[1]); });
    const auto& args = call.args<GeaddArguments>();
    const blas::Block<T> a(call.tiles[0]);
    const blas::Block<T> b(call.tiles[1]);
    const auto alpha = static_cast<T>(args.alpha);
    const auto beta = static_cast<T>(args.beta);
    for (Index j = 0; j < b.cols; ++j)
        for (Index i = 0; i < b.rows; ++i)
            b(i, j) = beta == 0 ? alpha * a(i, j) : alpha * a(i, j) + beta * b(i, j);  // not 0 times anything
    return {};
}

template <class T>
KernelResult run_laset(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded([&] { return low_rank::laset<T>(call.args<LasetArguments>(), call.tiles[0]); });
    const auto& args = call.args<LasetArguments>();
    const blas::Block<T> a(call.tiles[0]);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) a(i, j) = static_cast<T>(i == j ? args.diagonal : args.off_diagonal);
    return {};
}

template <class T>
KernelResult run_scale(const KernelCall& call) noexcept {
    if (low_rank::concerns(call.tiles))
        return low_rank::guarded([&] { return low_rank::scale<T>(call.args<ScaleArguments>().factor, call.tiles[0]); });
    const auto factor = static_cast<T>(call.args<ScaleArguments>().factor);
    const blas::Block<T> a(call.tiles[0]);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) a(i, j) *= factor;
    return {};
}

/// Rows and columns of a tile by the function of its elements.
template <class T>
class GeneratedTile final : public TileSource<T> {
public:
    GeneratedTile(const GenerateArguments& args, const TileShape& shape, ElementIndex& at)
        : args_(args),
          shape_(shape),
          at_(at) {}
    [[nodiscard]] Index rows() const override { return shape_.rows; }
    [[nodiscard]] Index cols() const override { return shape_.cols; }
    void row(Index i, T* out) const override {
        for (Index j = 0; j < shape_.cols; ++j) out[j] = element(i, j);
    }
    void column(Index j, T* out) const override {
        for (Index i = 0; i < shape_.rows; ++i) out[i] = element(i, j);
    }

private:
    [[nodiscard]] T element(Index i, Index j) const {
        at_ = {args_.first.i + i, args_.first.j + j};
        return static_cast<T>(args_.element(args_.context, at_));
    }
    const GenerateArguments& args_;
    TileShape shape_;
    ElementIndex& at_;  ///< the element that is asked for, for errors
};

constexpr const char* generator_threw = "the function that generates the elements threw an exception";

template <class T>
KernelResult run_generate(const KernelCall& call) noexcept {
    const auto& args = call.args<GenerateArguments>();
    const blas::Block<T> a(call.tiles[0]);
    ElementIndex at = args.first;
    try {
        if (low_rank::concerns(call.tiles))
            return low_rank::store<T>(call.tiles[0], GeneratedTile<T>(args, call.tiles[0].shape, at));
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.rows; ++i) {
                at = {args.first.i + i, args.first.j + j};
                a(i, j) = static_cast<T>(args.element(args.context, at));
            }
    } catch (const std::bad_alloc&) {
        return {Failure::out_of_memory};
    } catch (const std::exception& error) {
        thread_local std::string reason;
        reason = fmt::format("{} ({}), in the row of this index", generator_threw, error.what());
        return fail(reason.c_str(), at.i);
    } catch (...) {
        return fail(generator_threw, at.i);
    }
    return {};
}

template <class T>
KernelResult run_dot(const KernelCall& call) noexcept {
    const blas::Block<T> a(call.tiles[0]);
    const blas::Block<T> b(call.tiles[1]);
    double sum = 0;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) sum += static_cast<double>(a(i, j)) * static_cast<double>(b(i, j));
    *call.tiles[2].as<T>() += static_cast<T>(sum);
    return {};
}

template <class T>
KernelResult run_logdet(const KernelCall& call) noexcept {
    const blas::Block<T> l(call.tiles[0]);
    double sum = 0;
    for (Index i = 0; i < l.rows; ++i) sum += std::log(static_cast<double>(l(i, i)));
    *call.tiles[1].as<T>() += static_cast<T>(2 * sum);
    return {};
}

// Costs: the usual counts of LAPACK Working Note 41, leading terms; where a tile is of low rank, those of
// low_rank_cost.hpp.

bool any_low_rank(Shapes s) {
    return std::ranges::any_of(s, [](const TileShape& shape) { return shape.rank != dense_rank; });
}

template <class T>
KernelCost cost_potrf(Shapes s, const void*) noexcept {
    return {cube(s[0].rows) / 3, bytes_of<T>(s)};
}
template <class T>
KernelCost cost_getrf(Shapes s, const void*) noexcept {
    return {2 * cube(s[0].rows) / 3, bytes_of<T>(s)};
}
template <class T>
KernelCost cost_triangular(Shapes s, const void* arguments) noexcept {
    if (any_low_rank(s)) return {low_rank_triangular_flops(s), bytes_of<T>(s)};
    const auto& args = *static_cast<const TriangularArguments*>(arguments);
    const auto order = static_cast<double>(args.side == Side::left ? s[1].rows : s[1].cols);
    return {order * elements(s[1]), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_syrk(Shapes s, const void*) noexcept {
    if (any_low_rank(s)) return {low_rank_syrk_flops(s), bytes_of<T>(s)};
    return {elements(s[0]) * static_cast<double>(s[1].rows), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_gemm(Shapes s, const void* arguments) noexcept {
    if (any_low_rank(s)) return {low_rank_gemm_flops(s), bytes_of<T>(s)};
    const auto& args = *static_cast<const GemmArguments*>(arguments);
    const auto inner = static_cast<double>(args.op_a == Op::none ? s[0].cols : s[0].rows);
    return {2 * inner * elements(s[2]), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_geadd(Shapes s, const void*) noexcept {
    if (any_low_rank(s)) return {low_rank_sum_flops(s), bytes_of<T>(s)};
    return {2 * elements(s[1]), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_write(Shapes s, const void*) noexcept {
    return {0, bytes_of<T>(s)};
}
template <class T>
KernelCost cost_dot(Shapes s, const void*) noexcept {
    return {2 * elements(s[0]), bytes_of<T>(s)};
}
template <class T>
KernelCost cost_logdet(Shapes s, const void*) noexcept {
    return {static_cast<double>(s[0].rows), static_cast<double>(s[0].rows) * sizeof(T)};
}

constexpr TileUse any_form{.compressed = TileUse::every};
/// A alone, or A and B, are no triangles.
constexpr TileUse whole_a{.compressed = TileUse::every, .whole = 0b1};
constexpr TileUse whole_a_and_b{.compressed = TileUse::every, .whole = 0b11};

}  // namespace

template <class T>
const KernelOf<PivotArguments, T> Dense<T>::potrf{named<T>("spotrf", "dpotrf"), cost_potrf<T>, run_potrf<T>};
template <class T>
const KernelOf<PivotArguments, T> Dense<T>::getrf{named<T>("sgetrf", "dgetrf"), cost_getrf<T>, run_getrf<T>};
template <class T>
const KernelOf<NoArguments, T> Dense<T>::trtri{named<T>("strtri", "dtrtri"), cost_potrf<T>, run_trtri<T>};
template <class T>
const KernelOf<NoArguments, T> Dense<T>::lauum{named<T>("slauum", "dlauum"), cost_potrf<T>, run_lauum<T>};
template <class T>
const KernelOf<TriangularArguments, const T, T> Dense<T>::trsm{named<T>("strsm", "dtrsm"), cost_triangular<T>,
                                                               run_trsm<T>, any_form, low_rank_triangular_flops};
template <class T>
const KernelOf<TriangularArguments, const T, T> Dense<T>::trmm{named<T>("strmm", "dtrmm"), cost_triangular<T>,
                                                               run_trmm<T>, any_form, low_rank_triangular_flops};
template <class T>
const KernelOf<SyrkArguments, const T, T> Dense<T>::syrk{named<T>("ssyrk", "dsyrk"), cost_syrk<T>, run_syrk<T>, whole_a,
                                                         low_rank_syrk_flops};
template <class T>
const KernelOf<GemmArguments, const T, const T, T> Dense<T>::gemm{
    named<T>("sgemm", "dgemm"), cost_gemm<T>, run_gemm<T>, whole_a_and_b, low_rank_gemm_flops, gemm_recompression};
template <class T>
const KernelOf<GemmArguments, const T, const T, T> Dense<T>::gemv{
    named<T>("sgemv", "dgemv"), cost_gemm<T>, run_gemv<T>, whole_a_and_b, low_rank_gemm_flops, gemm_recompression};
template <class T>
const KernelOf<GeaddArguments, const T, T> Dense<T>::geadd{
    named<T>("sgeadd", "dgeadd"), cost_geadd<T>, run_geadd<T>, any_form, low_rank_sum_flops, sum_recompression};
template <class T>
const KernelOf<LasetArguments, T> Dense<T>::laset{named<T>("slaset", "dlaset"), cost_write<T>, run_laset<T>, any_form};
template <class T>
const KernelOf<ScaleArguments, T> Dense<T>::scale{named<T>("sscale", "dscale"), cost_write<T>, run_scale<T>, any_form};
template <class T>
const KernelOf<GenerateArguments, T> Dense<T>::generate{named<T>("sgenerate", "dgenerate"), cost_write<T>,
                                                        run_generate<T>, any_form};
template <class T>
const KernelOf<NoArguments, const T, const T, T> Dense<T>::dot{named<T>("sdot", "ddot"), cost_dot<T>, run_dot<T>};
template <class T>
const KernelOf<NoArguments, const T, T> Dense<T>::logdet{named<T>("slogdet", "dlogdet"), cost_logdet<T>, run_logdet<T>};

template struct Dense<float>;
template struct Dense<double>;

int set_blas_threads(int threads) {
    const int before = blas::threads();
    blas::set_threads(threads);
    return before;
}

void reserve_blas_memory(int callers) {
    if (!blas::reserve_memory(callers))
        throw Error(
            "there is no memory for what BLAS needs on {} threads: use fewer workers, or let the program have more",
            callers);
}

BlasDescription describe_blas() {
    return {blas::configuration(), blas::threads(),
            blas::threads_are_openmp() ? BlasDescription::Threading::openmp : BlasDescription::Threading::own,
            this_blas_core()};
}

}  // namespace tesela
