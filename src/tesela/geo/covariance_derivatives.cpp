#include "tesela/geo/covariance_derivatives.hpp"

#include "tesela/geo/internal/power_table.hpp"
#include "tesela/kernels/describe.hpp"
#include "tesela/kernels/loops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>

namespace tesela {

/// The derivatives for some rows of a column.
struct CovarianceDerivatives::Batch {
    std::array<double, covariance_batch> sigma2;
    std::array<double, covariance_batch> range;
    std::array<double, covariance_batch> smoothness;
};

/// Rows and columns of a covariance matrix, all of them or those below the diagonal.
struct CovarianceDerivatives::Block {
    const PointSet& rows;
    const PointSet& cols;
    ElementIndex first;
    ElementIndex size;
    enum class Part : std::uint8_t { all, below_diagonal } part = Part::all;
};

namespace {

/// A table takes longer to make than a small matrix to invert, and a search with a fixed smoothness asks for the same
/// again and again, at other ranges: tables reach to a power of two, so that the latest one often serves.
std::shared_ptr<const MaternDerivativeTable> latest_table(double smoothness, double x_max) {
    struct Latest {
        double smoothness = 0;
        double x_max = 0;
        std::shared_ptr<const MaternDerivativeTable> table;
    };
    static std::mutex mutex;
    static Latest latest;
    const double reach = x_max > 0 && std::isfinite(x_max) ? std::exp2(std::ceil(std::log2(x_max))) : x_max;
    const std::lock_guard lock(mutex);
    if (!latest.table || latest.smoothness != smoothness || latest.x_max != reach)
        latest = {smoothness, reach, std::make_shared<const MaternDerivativeTable>(smoothness, reach)};
    return latest.table;
}

}  // namespace

CovarianceDerivatives::CovarianceDerivatives(const Covariance& covariance, double max_distance)
    : family_(covariance.family()),
      parameters_(covariance.parameters()),
      inverse_range_(1 / covariance.parameters().range) {
    if (family_ == CovarianceFamily::matern)
        matern_ = latest_table(parameters_.smoothness, max_distance * inverse_range_);
    if (family_ == CovarianceFamily::powered_exponential)
        powers_ = std::make_shared<const PowerTable>(parameters_.smoothness, max_distance * inverse_range_,
                                                     PowerTable::Columns::powers_and_logarithms);
}

/// rho, -x rho'(x) and the derivative in the smoothness. Of families e^-u, with u = x^p: e^-u, p·u·e^-u and
/// -u·log(x)·e^-u.
void CovarianceDerivatives::correlate(std::span<const double> x,
                                      const MaternDerivativeTable::Results& out) const noexcept {
    if (family_ == CovarianceFamily::matern) return matern_->evaluate(x, out);
    double* const u = out.decline;
    std::fill_n(out.smoothness, x.size(), 0.0);
    exponents(family_, powers_.get(), x, u, out.smoothness);
    loops::functions().exponentials(u, x.size(), 1, out.rho);
    loops::functions().decline(exponent_power(family_, parameters_.smoothness), out.rho, x.size(), u, out.smoothness);
}

// C = sigma2·rho(x), x = r/range: ∂C/∂range = sigma2/range·(-x rho'(x)).
void CovarianceDerivatives::evaluate(std::span<const double> x, Batch& out) const noexcept {
    correlate(x, {.rho = out.sigma2.data(), .decline = out.range.data(), .smoothness = out.smoothness.data()});
    const double per_range = parameters_.sigma2 * inverse_range_;
    for (std::size_t i = 0; i < x.size(); ++i) {
        out.range[i] *= per_range;
        out.smoothness[i] *= parameters_.sigma2;
    }
}

CovarianceSlopes CovarianceDerivatives::operator()(double distance) const noexcept {
    Batch batch;
    const double x = distance * inverse_range_;
    evaluate({&x, 1}, batch);
    return {.sigma2 = batch.sigma2[0], .range = batch.range[0], .smoothness = batch.smoothness[0], .nugget = 0};
}

/// Calls visit(i, j, count, batch) for rows i, i + 1, … of column j, counted from the first.
template <class Visit>
void CovarianceDerivatives::for_each_batch(const Block& block, Visit visit) const noexcept {
    std::array<double, covariance_batch> x;
    Batch batch;
    for (Index j = 0; j < block.size.j; ++j) {
        const Index top = block.part == Block::Part::all ? 0 : j + 1;
        for (Index i = top; i < block.size.i; i += static_cast<Index>(covariance_batch)) {
            const Index count = std::min(static_cast<Index>(covariance_batch), block.size.i - i);
            const auto numbers = static_cast<std::size_t>(count);
            distances({.points = block.rows, .begin = block.first.i + i, .count = numbers}, block.cols,
                      block.first.j + j, x.data(), inverse_range_);
            evaluate({x.data(), numbers}, batch);
            visit(i, j, numbers, batch);
        }
    }
}

void CovarianceDerivatives::fill_tile(const CovarianceTileRequest& request,
                                      const CovarianceSlopes& direction) const noexcept {
    const Block block{.rows = *request.rows,
                      .cols = *request.cols,
                      .first = {request.row_begin, request.col_begin},
                      .size = {request.row_count, request.col_count}};
    for_each_batch(block, [&](Index i, Index j, std::size_t count, const Batch& batch) {
        double* const out = request.out + i + j * request.ld;
        loops::functions().combine({direction.sigma2, direction.range, direction.smoothness},
                                   {batch.sigma2.data(), batch.range.data(), batch.smoothness.data()}, count, out);
    });
    if (request.sets == ObservationSets::different) return;
    for (Index j = 0; j < request.col_count; ++j) {
        const Index diagonal = request.col_begin + j - request.row_begin;
        if (diagonal >= 0 && diagonal < request.row_count) request.out[diagonal + j * request.ld] += direction.nugget;
    }
}

void WeightedTile::weigh(Index i, Index j, std::size_t count, double* weights) const noexcept {
    std::copy_n(A + i + j * ld, count, weights);
    for (Index c = 0; c < vectors; ++c) {
        const double* const u = U + i + c * ld_u;
        loops::functions().add(-V[j + c * ld_v], u, count, weights);
    }
}

CovarianceSlopes CovarianceDerivatives::traces(const WeightedTile& tile) const noexcept {
    const bool has_diagonal = tile.first.i == tile.first.j;
    const Block block{.rows = *tile.points,
                      .cols = *tile.points,
                      .first = tile.first,
                      .size = {tile.rows, tile.cols},
                      .part = has_diagonal ? Block::Part::below_diagonal : Block::Part::all};
    CovarianceSlopes below;  // the diagonal of the matrix
    for_each_batch(block, [&](Index i, Index j, std::size_t count, const Batch& batch) {
        std::array<double, covariance_batch> weights;
        tile.weigh(i, j, count, weights.data());
        const auto dot = loops::functions().dot;
        below.sigma2 += dot(weights.data(), batch.sigma2.data(), count);
        below.range += dot(weights.data(), batch.range.data(), count);
        below.smoothness += dot(weights.data(), batch.smoothness.data(), count);
    });
    double on_diagonal = 0;  // where rho is 1, whatever range and smoothness are
    for (Index j = 0; has_diagonal && j < tile.cols; ++j) {
        double weight = 0;
        tile.weigh(j, j, 1, &weight);
        on_diagonal += weight;
    }
    return {.sigma2 = 2 * below.sigma2 + on_diagonal,
            .range = 2 * below.range,
            .smoothness = 2 * below.smoothness,
            .nugget = on_diagonal};
}

void CovarianceDerivatives::add_products(const MultipliedTile& tile) const noexcept {
    const Block block{.rows = *tile.points, .cols = *tile.points, .first = tile.first, .size = {tile.rows, tile.cols}};
    for_each_batch(block, [&](Index i, Index j, std::size_t count, const Batch& batch) {
        double* const V = tile.V + i;
        const auto add = loops::functions().add;
        add(tile.w[j], batch.sigma2.data(), count, V);
        add(tile.w[j], batch.range.data(), count, V + tile.ld);
        add(tile.w[j], batch.smoothness.data(), count, V + 2 * tile.ld);
    });
    for (Index j = 0; j < tile.cols; ++j) {
        const Index diagonal = tile.first.j + j - tile.first.i;
        if (diagonal >= 0 && diagonal < tile.rows) tile.V[diagonal + 3 * tile.ld] += tile.w[j];
    }
}

namespace {

/// As for a covariance, with three polynomials, and the sums.
constexpr double flops_per_element = 6 + 1 + 1 + 3 * 16 + 8;

KernelResult run_derivative(const KernelCall& call) noexcept {
    const auto& args = call.args<CovarianceDerivativeArguments>();
    const Tile& tile = call.tiles[0];
    args.derivatives->fill_tile({.rows = args.points,
                                 .row_begin = args.first.i,
                                 .row_count = tile.rows(),
                                 .cols = args.points,
                                 .col_begin = args.first.j,
                                 .col_count = tile.cols(),
                                 .out = tile.as<double>(),
                                 .ld = tile.ld,
                                 .sets = ObservationSets::same},
                                args.direction);
    return {};
}

KernelCost cost_derivative(Shapes s, const void*) noexcept {
    return {flops_per_element * elements(s[0]), sizeof(double) * elements(s[0])};
}

KernelResult run_traces(const KernelCall& call) noexcept {
    const auto& args = call.args<CovarianceTracesArguments>();
    const Tile& A = call.tiles[0];
    const Tile& U = call.tiles[1];
    const Tile& V = call.tiles[2];
    const CovarianceSlopes sums = args.derivatives->traces({.points = args.points,
                                                            .first = args.first,
                                                            .rows = A.rows(),
                                                            .cols = A.cols(),
                                                            .A = A.as<double>(),
                                                            .ld = A.ld,
                                                            .vectors = U.cols(),
                                                            .U = U.as<double>(),
                                                            .ld_u = U.ld,
                                                            .V = V.as<double>(),
                                                            .ld_v = V.ld});
    auto* const s = call.tiles[3].as<double>();
    s[0] += sums.sigma2;
    s[1] += sums.range;
    s[2] += sums.smoothness;
    s[3] += sums.nugget;
    return {};
}

KernelCost cost_traces(Shapes s, const void*) noexcept {
    return {flops_per_element * elements(s[0]), sizeof(double) * elements(s[0])};
}

KernelResult run_products(const KernelCall& call) noexcept {
    const auto& args = call.args<CovarianceTracesArguments>();
    const Tile& w = call.tiles[0];
    const Tile& V = call.tiles[1];
    args.derivatives->add_products({.points = args.points,
                                    .first = args.first,
                                    .rows = V.rows(),
                                    .cols = w.rows(),
                                    .w = w.as<double>(),
                                    .V = V.as<double>(),
                                    .ld = V.ld});
    return {};
}

KernelCost cost_products(Shapes s, const void*) noexcept {
    return {flops_per_element * static_cast<double>(s[0].rows) * static_cast<double>(s[1].rows),
            sizeof(double) * (elements(s[0]) + elements(s[1]))};
}

}  // namespace

const KernelOf<CovarianceDerivativeArguments, double> covariance_derivative_kernel{"dcmd", cost_derivative,
                                                                                   run_derivative};
const KernelOf<CovarianceTracesArguments, const double, const double, const double, double> covariance_traces_kernel{
    "dcmt", cost_traces, run_traces};
const KernelOf<CovarianceTracesArguments, const double, double> covariance_products_kernel{"dcmv", cost_products,
                                                                                           run_products};

}  // namespace tesela
