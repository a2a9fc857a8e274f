#include "tesela/apps/mds/internal/krylov_basis.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/multiply.hpp"
#include "tesela/algs/qr.hpp"
#include "tesela/base/error.hpp"
#include "tesela/kernels/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace tesela::mds {
namespace {

std::size_t at(Index i, Index j, Index rows) { return static_cast<std::size_t>(i + j * rows); }

Distribution on_first_node(GridSize tiles, Index nodes) {
    return tabulate(tiles, nodes, [](Index, Index) { return Index{0}; });
}

/// A small matrix with the rows of one cut and the columns of another, on the first node.
Matrix<double> small_matrix(Stream& s, std::vector<Index> row_cuts, std::vector<Index> col_cuts) {
    const Tiling tiling = Tiling::from_cuts(std::move(row_cuts), std::move(col_cuts));
    return {s, tiling, on_first_node(tiling.grid(), s.engine().node_count()), {.name = "small"}};
}

const std::vector<Index>& col_cuts(const MatrixView<double>& X) { return X.matrix().tiling().col_cuts(); }

/// A matrix cut and placed as another.
Matrix<double> like(Stream& s, const MatrixView<double>& X, const char* name) {
    return {s, X.matrix().tiling(), X.matrix().distribution(), {.name = name}};
}

std::vector<double> from_first_node(Engine& engine, const std::vector<double>& values) {
    const bool first = engine.this_node() == NodeId{0};
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
void add_errors(SpectrumEstimate& estimate) {
    const std::vector<double>& values = estimate.values;
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double r = estimate.residuals[k];
        // Beyond the last value there may be others that the basis has not met.
        double gap = k + 1 < values.size() ? values[k] - values[k + 1] : 0;
        if (k > 0) gap = std::min(gap, values[k - 1] - values[k]);
        const double bound = gap > r ? std::min(r, r * r / gap) : r;
        const double scale = std::max(std::abs(values[k]), 1e-6 * largest);
        estimate.errors.push_back(scale > 0 ? bound / scale : 0);
    }
}

}  // namespace

double SpectrumEstimate::error(Index count) const { return largest_of(errors, count); }

double SpectrumEstimate::residual(Index count) const {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return largest > 0 ? largest_of(residuals, count) / largest : 0;
}

void KrylovBasis::begin(Matrix<double> first) {
    (void)orthonormal(first);
    next_ = std::move(first);
}

Matrix<double> KrylovBasis::take_next() {
    Matrix<double> next = std::move(*next_);
    next_.reset();
    return next;
}

/// X := X - Q·(Qᵀ·X), twice, so that it is at right angles up to rounding; returns Qᵀ·X.
KrylovBasis::Small KrylovBasis::project(const View& X) const {
    const Index columns = col_cuts(X).back();
    Small coefficients(static_cast<std::size_t>(order() * columns), 0.0);
    for (int round = 0; round < 2; ++round) {
        std::vector<Matrix<double>> products;
        for (const BasisBlock& block : blocks_) {
            products.push_back(small_matrix(s_, col_cuts(block.Q), col_cuts(X)));
            multiply_transposed<double>(s_, block.Q, X, products.back());
        }
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            gemm<double>(s_, blocks_[b].Q, products[b], X, {.alpha = -1, .beta = 1});
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const Small product = gather(s_, products[b].view());
            const Index first = static_cast<Index>(b) * width();
            for (Index j = 0; j < columns; ++j)
                for (Index i = 0; i < width(); ++i)
                    coefficients[at(first + i, j, order())] += product[at(i, j, width())];
        }
    }
    return coefficients;
}

/// X := Q of X = Q·R; returns R.
KrylovBasis::Small KrylovBasis::orthonormal(const View& X) const {
    const Matrix<double> R = orthonormalise(s_, X);
    return gather(s_, R.view());
}

void KrylovBasis::add(BasisBlock block) {
    if (keeps_ == Keeps::last) {
        blocks_.clear();
        T_.clear();
    }
    const Index before = static_cast<Index>(blocks_.size()) * block.Q.tiling().size().j;
    blocks_.push_back(std::move(block));
    Matrix<double> rest = like(s_, blocks_.back().Z, "remainder");
    copy<double>(s_, blocks_.back().Z, rest);
    const Small column = project(rest);
    // The new rows and columns of T, which is symmetric up to rounding.
    const Small old = std::exchange(T_, Small(static_cast<std::size_t>(order() * order()), 0.0));
    for (Index j = 0; j < before; ++j)
        for (Index i = 0; i < before; ++i) T_[at(i, j, order())] = old[at(i, j, before)];
    for (Index j = 0; j < width(); ++j)
        for (Index i = 0; i < order(); ++i) {
            const Index col = before + j;
            const bool inside = i >= before;
            const double value = inside
                                     ? 0.5 * (column[at(i, j, order())] + column[at(before + j, i - before, order())])
                                     : column[at(i, j, order())];
            T_[at(i, col, order())] = value;
            T_[at(col, i, order())] = value;
        }
    remainder_ = orthonormal(rest);
    next_ = std::move(rest);
    make_estimate();
}

/// On the first node, since others might round otherwise and decide otherwise.
void KrylovBasis::make_estimate() {
    const Index n = order();
    const auto count = static_cast<std::size_t>(n);
    std::vector<double> packed;
    if (s_.engine().this_node() == NodeId{0}) {
        const std::optional<SymmetricSpectrum> spectrum = symmetric_spectrum(T_, n, n);
        if (spectrum) {
            packed = spectrum->values;
            packed.insert(packed.end(), spectrum->vectors.begin(), spectrum->vectors.end());
        }
    }
    packed = from_first_node(s_.engine(), packed);
    if (packed.empty()) throw Error("the matrix has values that are too large to be multiplied");
    const auto split = packed.begin() + static_cast<std::ptrdiff_t>(count);
    estimate_ = {.values = {packed.begin(), split}, .coefficients = {split, packed.end()}};
    for (Index k = 0; k < n; ++k) {
        double sum = 0;
        for (Index i = 0; i < width(); ++i) {
            double row = 0;
            for (Index j = i; j < width(); ++j)
                row += remainder_[at(i, j, width())] * estimate_.coefficients[at(n - width() + j, k, n)];
            sum += row * row;
        }
        estimate_.residuals.push_back(std::sqrt(sum));
    }
    add_errors(estimate_);
}

void KrylovBasis::extend() {
    if (keeps_ == Keeps::last) {
        next_ = std::move(blocks_.back().Z);
        blocks_.pop_back();
        (void)orthonormal(*next_);
        return;
    }
    const Index rows = next_->tiling().size().i;
    if (std::cmp_greater_equal(blocks_.size(), most_blocks_) || order() + width() > rows) begin_anew();
    // Where columns of the remainder depend on each other, what stands for them need not be at right angles to Q.
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (Index k = 0; k < width(); ++k) {
        least = std::min(least, std::abs(remainder_[at(k, k, width())]));
        most = std::max(most, std::abs(remainder_[at(k, k, width())]));
    }
    if (least > 1e-8 * most) return;
    (void)project(*next_);
    (void)orthonormal(*next_);
}

/// From the vectors of the largest values: S times them is known.
void KrylovBasis::begin_anew() {
    const Index columns = width();
    BasisBlock first{combined([](const BasisBlock& block) -> const Matrix<double>& { return block.Q; }, columns),
                     combined([](const BasisBlock& block) -> const Matrix<double>& { return block.Z; }, columns),
                     {}};
    if (blocks_.back().Y)
        first.Y = combined([](const BasisBlock& block) -> const Matrix<double>& { return *block.Y; }, columns);
    blocks_.clear();
    T_.clear();
    add(std::move(first));
}

/// Σ part(block)·coefficients, for the first values.
template <class Part>
Matrix<double> KrylovBasis::combined(Part part, Index count) const {
    const Matrix<double>& first = part(blocks_.front());
    // Cut as the blocks where it is as wide as they are.
    const std::vector<Index> cuts = count == width() ? first.tiling().col_cuts() : std::vector<Index>{0, count};
    const Tiling tiling = Tiling::from_cuts(first.tiling().row_cuts(), cuts);
    const Distribution& beside = first.distribution();
    Matrix<double> sum(s_, tiling,
                       tabulate(tiling.grid(), beside.nodes(),
                                [&](Index i, Index c) {
                                    return beside.owner({i, c % beside.grid().cols}).number();
                                }),
                       {.name = "vectors"});
    const auto kept = std::make_shared<const Small>(estimate_.coefficients);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const Matrix<double> weights = small_matrix(s_, first.tiling().col_cuts(), cuts);
        generate(s_, weights.view(), [kept, n = order(), row = static_cast<Index>(b) * width()](Index i, Index j) {
            return (*kept)[at(row + i, j, n)];
        });
        gemm<double>(s_, part(blocks_[b]), weights, sum, {.alpha = 1, .beta = b == 0 ? 0.0 : 1.0});
    }
    return sum;
}

std::vector<double> KrylovBasis::vectors(Index count) const {
    return gather(s_, combined([](const BasisBlock& b) -> const Matrix<double>& { return b.Q; }, count).view());
}

std::vector<double> KrylovBasis::multiplied_vectors(Index count) const {
    return gather(s_, combined([](const BasisBlock& b) -> const Matrix<double>& { return *b.Y; }, count).view());
}

}  // namespace tesela::mds
