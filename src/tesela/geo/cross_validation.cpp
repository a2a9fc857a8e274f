#include "tesela/geo/cross_validation.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/geo/internal/part_of.hpp"
#include "tesela/geo/internal/whitened.hpp"
#include "tesela/geo/layout.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace tesela::geo {
namespace {

/// The folds inside one tile of the diagonal: their first rows and the end of the last one, as rows of the matrix.
struct FoldsOfTile {
    const Index* begins = nullptr;
    Index count = 0;
    Index first_row = 0;
};

/// (A, b): for every block A_BB on the diagonal b_B := A_BB⁻¹·b_B and A_BB := A_BB⁻¹, lower triangles.
KernelResult solve_folds(const FoldsOfTile& folds, StoredTile<double> A, StoredTile<double> b) noexcept {
    const NoArguments none;
    TriangularArguments triangle;
    for (Index k = 0; k < folds.count; ++k) {
        const Index at = folds.begins[k] - folds.first_row;
        const Index m = folds.begins[k + 1] - folds.begins[k];
        const std::array tiles{Tile{&A(at, at), {m, m}, A.ld()}, Tile{&b(at, 0), {m, 1}, b.ld()}};
        const std::span<const Tile> both(tiles);
        const PivotArguments pivot{folds.begins[k]};
        if (const KernelResult result = Dense<double>::potrf.cpu({both.first(1), &pivot});
            result.failure != Failure::none)
            return result;
        for (const Op op : {Op::none, Op::transpose}) {
            triangle.op = op;
            Dense<double>::trsm.cpu({both, &triangle});
        }
        Dense<double>::trtri.cpu({both.first(1), &none});
        Dense<double>::lauum.cpu({both.first(1), &none});
    }
    return {};
}
const auto folds_kernel = make_kernel<solve_folds>("dfolds");

/// (A, d): d := the diagonal of A.
KernelResult take_diagonal(const NoArguments&, StoredTile<const double> A, StoredTile<double> d) noexcept {
    for (Index i = 0; i < A.rows(); ++i) d(i, 0) = A(i, i);
    return {};
}
const auto diagonal_kernel = make_kernel<take_diagonal>("ddiag");

/// Tiles of the diagonal that belong together: those of one large fold, or one with some small folds.
struct DiagonalBlock {
    Index first_tile = 0;
    Index tiles = 1;
    Index first_fold = 0;
    Index folds = 1;
};

/// As many small folds as a tile holds; a large fold in equal parts.
std::vector<DiagonalBlock> diagonal_blocks(const std::vector<Index>& begins, Index tile) {
    std::vector<DiagonalBlock> blocks;
    Index tiles = 0;
    const auto count = static_cast<Index>(begins.size()) - 1;
    const auto begin = [&](Index fold) { return begins[static_cast<std::size_t>(fold)]; };
    for (Index fold = 0; fold < count;) {
        DiagonalBlock block{.first_tile = tiles, .first_fold = fold};
        block.tiles = (begin(fold + 1) - begin(fold) + tile - 1) / tile;
        Index end = fold + 1;
        while (block.tiles == 1 && end < count && begin(end + 1) - begin(fold) <= tile) ++end;
        block.folds = end - fold;
        tiles += block.tiles;
        fold = end;
        blocks.push_back(block);
    }
    return blocks;
}

std::vector<Index> cuts_of(const std::vector<DiagonalBlock>& blocks, const std::vector<Index>& begins) {
    std::vector<Index> cuts{0};
    for (const DiagonalBlock& block : blocks) {
        const Index first = begins[static_cast<std::size_t>(block.first_fold)];
        const Index rows = begins[static_cast<std::size_t>(block.first_fold + block.folds)] - first;
        for (Index k = 1; k <= block.tiles; ++k) cuts.push_back(first + rows * k / block.tiles);
    }
    return cuts;
}

/// Whether every fold's complement determines the trend: whether the normal matrix of its functions, less what the fold
/// adds to it, is regular.
class TrendCheck {
public:
    explicit TrendCheck(const Likelihood& likelihood)
        : likelihood_(likelihood),
          all_(normal(0, likelihood.observations().size())) {}

    [[nodiscard]] bool determined_without(Index begin, Index end) const {
        constexpr double nearly_singular = 1e-10;
        SmallMatrix rest = normal(begin, end);
        for (std::size_t k = 0; k < rest.values.size(); ++k) rest.values[k] = all_.values[k] - rest.values[k];
        // What is left of an element of the diagonal must be more than rounding.
        for (Index k = 0; k < rest.rows; ++k)
            if (!(rest(k, k) > nearly_singular * all_(k, k))) return false;
        return rest.rows == 0 || small_cholesky(rest, nearly_singular).has_value();
    }

private:
    [[nodiscard]] SmallMatrix normal(Index begin, Index end) const {
        const SmallMatrix& X = likelihood_.basis().at_observations();
        SmallMatrix result(X.cols, X.cols);
        for (Index i = begin; i < end; ++i)
            for (Index k = 0; k < X.cols; ++k)
                for (Index l = 0; l < X.cols; ++l) result(k, l) += X(i, k) * X(i, l);
        return result;
    }

    const Likelihood& likelihood_;
    SmallMatrix all_;
};

Folds checked(const Folds& folds, const Validated& what) {
    if (folds.observations() != what.observations.size())
        throw Error("there are folds for {} observations, and {} observations", folds.observations(),
                    what.observations.size());
    if (folds.count < 2) throw Error("all observations are in one fold, and none is left to predict them from");
    return folds;
}

LikelihoodOptions with_cuts(LikelihoodOptions options, const Engine& engine, const Folds& folds) {
    options.tile = layout_for(engine, folds.observations(), options.tile, options.distribution).tile;
    options.cuts = fold_tiling(folds, options.tile).row_cuts();
    return options;
}

// The observations stand fold after fold and tiles are cut between folds, so that Q_BB is one or more whole tiles of
// the inverse, where they are: it is corrected for the trend, factored and inverted there, on the owners of its tiles.
// Only the n errors and the n variances are gathered.
class CrossValidation {
public:
    CrossValidation(Stream& stream, const Validated& what, const Folds& folds, const CrossValidationOptions& options)
        : stream_(stream),
          options_(options),
          observations_(what.observations),
          theta_(what.theta),
          folds_(by_folds(checked(folds, what))),
          likelihood_(stream, taken(what.observations, folds_.order), what.model,
                      with_cuts(options.likelihood, stream.engine(), folds)),
          blocks_(diagonal_blocks(folds_.begins, likelihood_.options().tile)) {}

    Predictions run();

private:
    void require_determined() const;
    [[nodiscard]] Matrix<double> inverse_of_sigma() const;
    void subtract_trend(const MatrixView<double>& Q, const LeastSquares& fit) const;
    void solve_block(const DiagonalBlock& block, const MatrixView<double>& Q, const MatrixView<double>& errors) const;
    [[nodiscard]] Predictions gather(const Matrix<double>& errors, const Matrix<double>& variances);

    Stream& stream_;
    const CrossValidationOptions& options_;
    const Observations& observations_;
    CovarianceParameters theta_;
    FoldOrder folds_;
    Likelihood likelihood_;  ///< of the observations fold after fold
    std::vector<DiagonalBlock> blocks_;
};

void CrossValidation::require_determined() const {
    const TrendCheck trend(likelihood_);
    for (std::size_t fold = 0; fold + 1 < folds_.begins.size(); ++fold) {
        const Index begin = folds_.begins[fold];
        const Index end = folds_.begins[fold + 1];
        if (!trend.determined_without(begin, end))
            throw Error(
                "without fold {} ({} of {} observations, {} among them) the {} trend is not determined; use other "
                "folds or a model with a simpler trend",
                fold + 1, end - begin, observations_.size(), likelihood_.observations().where(begin),
                likelihood_.model().trend.text());
    }
}

Matrix<double> CrossValidation::inverse_of_sigma() const {
    const Attachment& sigma = likelihood_.factor().matrix();
    Matrix<double> result(stream_, sigma.tiling(), sigma.distribution(),
                          {.name = "Sigma^-1", .stored = Stored::lower, .allocation = Allocation::when_written});
    invert_sigma(likelihood_, result);
    return result;
}

/// Q := Σ⁻¹ − V·Vᵀ with V = L⁻ᵀ·U, in the blocks of the folds.
void CrossValidation::subtract_trend(const MatrixView<double>& Q, const LeastSquares& fit) const {
    if (likelihood_.basis().size() == 0) return;
    const Matrix<double> V = orthonormal_trend(likelihood_, trend_root(fit));
    solve_triangular(stream_, likelihood_.factor().transposed(), V.view());
    const auto phase = stream_.phase("folds");
    const MatrixView<double> Vt = V.view().transposed();
    for (const DiagonalBlock& block : blocks_)
        for (Index j = block.first_tile; j < block.first_tile + block.tiles; ++j) {
            stream_.submit(tasks::syrk(-1, V(j, 0), 1, Q(j, j)));
            for (Index i = j + 1; i < block.first_tile + block.tiles; ++i)
                stream_.submit(tasks::gemm(-1, V(i, 0), Vt(0, j), 1, Q(i, j)));
        }
}

/// Errors := Q_BB⁻¹·(Qz)_B where (Qz)_B was, and Q_BB := Q_BB⁻¹.
void CrossValidation::solve_block(const DiagonalBlock& block, const MatrixView<double>& Q,
                                  const MatrixView<double>& errors) const {
    const Index t = block.first_tile;
    if (block.tiles == 1) {
        const auto phase = stream_.phase("folds");
        const Index* begins = &folds_.begins[static_cast<std::size_t>(block.first_fold)];
        stream_.submit(
            Task(folds_kernel, {begins, block.folds, *begins}, read_write(Q(t, t).stored()), read_write(errors(t, 0))));
        return;
    }
    const MatrixView<double> whole = Q.tiles({t, t}, {block.tiles, block.tiles});
    cholesky(stream_, whole);
    solve_cholesky(stream_, whole, errors.tiles({t, 0}, {block.tiles, 1}));
    inverse(stream_, whole);
}

/// A mean is what was observed less its error.
Predictions CrossValidation::gather(const Matrix<double>& errors, const Matrix<double>& variances) {
    const std::vector<double> error = tesela::gather(stream_, errors.view());
    const std::vector<double> variance = tesela::gather(stream_, variances.view());
    const Status status = stream_.wait();
    if (is_numerical(status))
        throw NotPositiveDefinite(
            fmt::format("the errors of held-out observations could not be computed: {}", status.describe()));
    require_done(status);
    Predictions result{.mean = observations_.values, .variance = std::vector<double>(variance.size())};
    const double jitter = likelihood_.model().jitter * theta_.sigma2;
    for (std::size_t k = 0; k < error.size(); ++k) {
        const auto i = static_cast<std::size_t>(folds_.order[k]);
        result.mean[i] -= error[k];
        // Jitter is no part of the model, here as in predictions.
        result.variance[i] = std::max(0.0, variance[k] - jitter);
    }
    return result;
}

Predictions CrossValidation::run() {
    require_determined();
    const LikelihoodValue value = evaluate_well(likelihood_, theta_);
    if (options_.evaluated) options_.evaluated(likelihood_);
    const Matrix<double> errors = weighted_residual(likelihood_, value.fit);
    const Matrix<double> Q = inverse_of_sigma();
    subtract_trend(Q.lower(), value.fit);
    for (const DiagonalBlock& block : blocks_) solve_block(block, Q.lower(), errors.view());
    const Matrix<double> variances = column_like_sigma(likelihood_, 1, "variances");
    for (Index i = 0; i < variances.tile_rows(); ++i)
        stream_.submit(Task(diagonal_kernel, {}, read(Q(i, i).stored()), write(variances(i, 0))));
    return gather(errors, variances);
}

}  // namespace

Tiling fold_tiling(const Folds& folds, Index tile) {
    const FoldOrder order = by_folds(folds);
    const std::vector<Index> cuts = cuts_of(diagonal_blocks(order.begins, tile), order.begins);
    return Tiling::from_cuts(cuts, cuts);
}

Predictions cross_validate(Stream& stream, const Validated& what, const Folds& folds,
                           const CrossValidationOptions& options) {
    return CrossValidation(stream, what, folds, options).run();
}

}  // namespace tesela::geo
