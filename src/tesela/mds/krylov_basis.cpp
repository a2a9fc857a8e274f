#include "tesela/mds/internal/krylov_basis.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/multiply.hpp"
#include "tesela/algs/qr.hpp"
#include "tesela/base/error.hpp"
#include "tesela/kernels/spectrum.hpp"
#include "tesela/mds/internal/columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace tesela::mds {
namespace {

Distribution on_first_node(GridSize tiles, Index nodes) {
    return tabulate(tiles, nodes, [](Index, Index) { return Index{0}; });
}

/// A small matrix with the rows of one cut and the columns of another, on the first node.
Matrix<double> small_matrix(Stream& s, std::vector<Index> row_cuts, std::vector<Index> col_cuts) {
    const Tiling tiling = Tiling::from_cuts(std::move(row_cuts), std::move(col_cuts));
    return {s, tiling, on_first_node(tiling.grid(), s.engine().node_count()), {.name = "small"}};
}

const std::vector<Index>& col_cuts(const MatrixView<double>& X) { return X.matrix().tiling().col_cuts(); }

std::vector<double> from_first_node(Engine& engine, const std::vector<double>& values) {
    const bool first = engine.is_first();
    const std::string bytes = engine.broadcast(
        first ? std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)) : "");
    std::vector<double> received(bytes.size() / sizeof(double));
    std::memcpy(received.data(), bytes.data(), bytes.size());
    return received;
}

double largest_of(const std::vector<double>& values, Index count) {
    double largest = 0;
    for (Index k = 0; k < count; ++k) largest = std::max(largest, values[static_cast<std::size_t>(k)]);
    return largest;
}

/// A value is no farther from an eigenvalue than its residual r, nor than r²/gap from it where the others are a gap
/// away (Parlett, The Symmetric Eigenvalue Problem, 11.7).
std::vector<double> errors_of(const std::vector<double>& values, const std::vector<double>& residuals) {
    std::vector<double> errors;
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < residuals.size(); ++k) {
        const double r = residuals[k];
        // Beyond the last value there may be others that the basis has not met.
        double gap = k + 1 < values.size() ? values[k] - values[k + 1] : 0;
        if (k > 0) gap = std::min(gap, values[k - 1] - values[k]);
        const double bound = gap > r ? std::min(r, r * r / gap) : r;
        const double scale = std::max(std::abs(values[k]), 1e-6 * largest);
        errors.push_back(scale > 0 ? bound / scale : 0);
    }
    return errors;
}

const Matrix<double>& basis_part(const BasisBlock& block) { return block.Q; }
const Matrix<double>& product_part(const BasisBlock& block) { return block.Z; }
const Matrix<double>& left_part(const BasisBlock& block) { return *block.Y; }

std::vector<Index> first_ones(Index count) {
    std::vector<Index> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
}

}  // namespace

double SpectrumEstimate::error(Index count) const { return largest_of(errors, count); }

double SpectrumEstimate::residual(Index count) const {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return largest > 0 ? largest_of(residuals, count) / largest : 0;
}

void KrylovBasis::begin(Matrix<double> first) {
    (void)orthonormalise<double>(s_, first);
    next_ = std::move(first);
}

Matrix<double> KrylovBasis::take_next() {
    Matrix<double> next = std::move(*next_);
    next_.reset();
    return next;
}

/// X := X - Q·(Qᵀ·X), twice, so that it is at right angles up to rounding.
void KrylovBasis::project(const View& X) const {
    for (int round = 0; round < 2; ++round) {
        std::vector<Matrix<double>> products;
        for (const BasisBlock& block : blocks_) {
            products.push_back(small_matrix(s_, col_cuts(block.Q), col_cuts(X)));
            multiply_transposed<double>(s_, block.Q, X, products.back());
        }
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            gemm<double>(s_, blocks_[b].Q, products[b], X, {.alpha = -1, .beta = 1});
    }
}

void KrylovBasis::push(BasisBlock block) {
    if (options_.keeps == Keeps::last) {
        blocks_.clear();
        starts_ = {0};
        T_.clear();
    }
    starts_.push_back(order() + block.Q.tiling().size().j);
    blocks_.push_back(std::move(block));
}

/// The rows and columns of T that the last block brings; it is symmetric up to rounding.
void KrylovBasis::extend_products() {
    const MatrixView<double> Z = blocks_.back().Z;
    std::vector<Matrix<double>> products;
    for (const BasisBlock& block : blocks_) {
        products.push_back(small_matrix(s_, col_cuts(block.Q), col_cuts(Z)));
        multiply_transposed<double>(s_, block.Q, Z, products.back());
    }
    const Index n = order();
    const Index before = starts_[starts_.size() - 2];
    const Small old = std::exchange(T_, Small(static_cast<std::size_t>(n * n), 0.0));
    for (Index j = 0; j < before; ++j)
        for (Index i = 0; i < before; ++i) T_[at(i, j, n)] = old[at(i, j, before)];
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const Small product = gather(s_, products[b].view());
        const Index rows = starts_[b + 1] - starts_[b];
        const bool last = b + 1 == blocks_.size();
        for (Index j = 0; j < n - before; ++j)
            for (Index i = 0; i < rows; ++i) {
                const double value =
                    last ? 0.5 * (product[at(i, j, rows)] + product[at(j, i, rows)]) : product[at(i, j, rows)];
                T_[at(starts_[b] + i, before + j, n)] = value;
                T_[at(before + j, starts_[b] + i, n)] = value;
            }
    }
}

void KrylovBasis::add(BasisBlock block, Index values) {
    push(std::move(block));
    extend_products();
    find_spectrum();
    estimate_residuals(values);
}

/// On the first node, since others might round otherwise and decide otherwise.
void KrylovBasis::find_spectrum() {
    const Index n = order();
    std::vector<double> packed;
    if (s_.engine().is_first()) {
        const std::optional<SymmetricSpectrum> spectrum = symmetric_spectrum(T_, n, n);
        if (spectrum) {
            packed = spectrum->values;
            packed.insert(packed.end(), spectrum->vectors.begin(), spectrum->vectors.end());
        }
    }
    packed = from_first_node(s_.engine(), packed);
    if (packed.empty()) throw Error("the matrix has values that are too large to be multiplied");
    const auto split = packed.begin() + n;
    estimate_ = {.values = {packed.begin(), split}, .coefficients = {split, packed.end()}};
}

void KrylovBasis::estimate_residuals(Index values) {
    const Index count = std::min(values, order());
    if (std::ssize(estimate_.residuals) == count) return;
    const Matrix<double> R = residuals_of(first_ones(count));
    const Matrix<double> products = small_matrix(s_, col_cuts(R), col_cuts(R));
    multiply_transposed<double>(s_, R, R, products);
    const Small squares = gather(s_, products.view());
    estimate_.residuals.clear();
    for (Index k = 0; k < count; ++k) estimate_.residuals.push_back(std::sqrt(squares[at(k, k, count)]));
    estimate_.errors = errors_of(estimate_.values, estimate_.residuals);
}

KrylovBasis::Small KrylovBasis::coefficients_of(std::span<const Index> values, std::span<const double> factors) const {
    const Index n = order();
    Small chosen;
    chosen.reserve(values.size() * static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < values.size(); ++k)
        for (Index i = 0; i < n; ++i) chosen.push_back(factors[k] * estimate_.coefficients[at(i, values[k], n)]);
    return chosen;
}

/// S·v - value·v = (Z - value·Q)·coefficients
Matrix<double> KrylovBasis::residuals_of(std::span<const Index> values) const {
    Matrix<double> R = zeros_like(blocks_.front().Z, std::ssize(values), "residuals");
    std::vector<double> negative;
    for (const Index k : values) negative.push_back(-estimate_.values[static_cast<std::size_t>(k)]);
    add_combined(product_part, coefficients_of(values, std::vector<double>(values.size(), 1.0)), R);
    add_combined(basis_part, coefficients_of(values, negative), R);
    return R;
}

Index KrylovBasis::room() const {
    if (options_.keeps == Keeps::last) return order();
    return std::min(rows() - order(), options_.most_columns);
}

void KrylovBasis::extend(std::span<const Index> of_values, Index kept) {
    if (options_.keeps == Keeps::last) {
        next_ = std::move(blocks_.back().Z);
        blocks_.pop_back();
        (void)orthonormalise<double>(s_, *next_);
        return;
    }
    Matrix<double> next = residuals_of(of_values);
    if (order() + std::ssize(of_values) > options_.most_columns) begin_anew(kept);
    // Residuals are at right angles to the basis but for rounding, which is no small part of a small one; and where
    // columns depend on each other, what stands for them need not be.
    (void)orthonormalise<double>(s_, next);
    project(next);
    (void)orthonormalise<double>(s_, next);
    next_ = std::move(next);
}

/// From the vectors of the largest values: S times them is known.
void KrylovBasis::begin_anew(Index kept) {
    const Index count = std::clamp<Index>(kept, 1, order());
    BasisBlock first{combined(basis_part, count), combined(product_part, count), {}};
    if (blocks_.back().Y) first.Y = combined(left_part, count);
    blocks_.clear();
    starts_ = {0};
    T_.clear();
    add(std::move(first), count);
}

Matrix<double> KrylovBasis::zeros_like(const Matrix<double>& rows, Index columns, const char* name) const {
    const Tiling tiling = Tiling::from_cuts(rows.tiling().row_cuts(), options_.cuts(columns));
    const Distribution& beside = rows.distribution();
    Matrix<double> zeros(s_, tiling,
                         tabulate(tiling.grid(), beside.nodes(),
                                  [&](Index i, Index c) {
                                      return beside.owner({i, c % beside.grid().cols}).number();
                                  }),
                         {.name = name});
    fill(s_, zeros.view(), {});
    return zeros;
}

/// sum := sum + Σ part(block)·weights
template <class Part>
void KrylovBasis::add_combined(Part part, const Small& weights, const View& sum) const {
    const auto kept = std::make_shared<const Small>(weights);
    Index first = 0;
    for (const BasisBlock& block : blocks_) {
        const Matrix<double> rows = small_matrix(s_, col_cuts(block.Q), col_cuts(sum));
        generate(s_, rows.view(),
                 [kept, n = order(), first](Index i, Index j) { return (*kept)[at(first + i, j, n)]; });
        gemm<double>(s_, part(block), rows, sum, {.alpha = 1, .beta = 1});
        first += block.Q.tiling().size().j;
    }
}

/// Σ part(block)·coefficients, for the first values.
template <class Part>
Matrix<double> KrylovBasis::combined(Part part, Index count) const {
    Matrix<double> sum = zeros_like(part(blocks_.front()), count, "vectors");
    add_combined(part, coefficients_of(first_ones(count), std::vector<double>(static_cast<std::size_t>(count), 1.0)),
                 sum);
    return sum;
}

std::vector<double> KrylovBasis::vectors(Index count) const { return gather(s_, combined(basis_part, count).view()); }

std::vector<double> KrylovBasis::multiplied_vectors(Index count) const {
    return gather(s_, combined(left_part, count).view());
}

}  // namespace tesela::mds
