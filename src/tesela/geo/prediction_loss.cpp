#include "tesela/geo/prediction_loss.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/multiply.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/geo/internal/cross_covariance.hpp"
#include "tesela/geo/internal/whitened.hpp"
#include "tesela/geo/model_field.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::geo {
namespace {

/// (A, B, s): s(j) := s(j) + Σ_i A(i, j)·B(i, j), s one column.
KernelResult add_column_products(const NoArguments&, StoredTile<const double> A, StoredTile<const double> B,
                                 StoredTile<double> s) noexcept {
    for (Index j = 0; j < A.cols(); ++j) {
        double sum = 0;
        for (Index i = 0; i < A.rows(); ++i) sum += A(i, j) * B(i, j);
        s(j, 0) += sum;
    }
    return {};
}
const auto column_products_kernel = make_kernel<add_column_products>("dcoldot");

/// The error of a's predictor λᵀz under t, for z with mean m and covariance Σ:
///     E = C(0) − 2·λᵀk + λᵀΣλ + (m₀ − c − λᵀ(m − c))²,
/// c the known mean that a subtracts. λ = L⁻ᵀ(w + U(Mᵀx₀ − Uᵀw)) with a's L, w = L⁻¹k_a and U = L⁻¹X·M as in
/// internal/whitened.hpp; λᵀΣλ = ‖L_tᵀλ‖².
class ErrorUnderTruth {
public:
    ErrorUnderTruth(const LossModel& truth, const LossModel& approximation, const Sites& sites)
        : truth_(truth),
          approximation_(approximation),
          stream_(truth.likelihood.stream()),
          functions_(approximation.likelihood.basis().at(sites)),
          points_(truth.likelihood.model().metric, sites.coordinates),
          points_of_a_(approximation.likelihood.model().metric, sites.coordinates),
          covariance_(truth.fitted.model.family, truth.fitted.result.theta, truth.fitted.model.metric,
                      points_.distance_bound(truth.likelihood.points())),
          covariance_of_a_(approximation.fitted.model.family, approximation.fitted.result.theta,
                           approximation.fitted.model.metric,
                           points_of_a_.distance_bound(approximation.likelihood.points())),
          mean_here_(mean_at(truth.fitted, truth.fitted.observations.sites())),
          mean_there_(mean_at(truth.fitted, sites)),
          shift_(column_like_sigma(approximation.likelihood, 1, "m - c")) {
        generate(stream_, shift_.view(),
                 [this](Index i, Index) { return mean_here_[static_cast<std::size_t>(i)] - subtracted(); });
    }

    /// Of points first, …, first + count − 1; `fit` is a's of the evaluation whose factor it has.
    void add(std::vector<double>& errors, Index first, Index count, const LeastSquares& fit);

private:
    struct Sums {
        Matrix<double> cross;    ///< λᵀk
        Matrix<double> drift;    ///< λᵀ(m − c)
        Matrix<double> squares;  ///< λᵀΣλ
    };
    [[nodiscard]] double subtracted() const {
        return approximation_.likelihood.basis().size() > 0 ? 0 : approximation_.fitted.model.center;
    }
    void complete_for_trend(const Matrix<double>& w, Index first, const LeastSquares& fit);
    void add_sums(const Sums& sums, const Matrix<double>& lambda, const Matrix<double>& k);

    LossModel truth_;
    LossModel approximation_;
    Stream& stream_;
    SmallMatrix functions_;  ///< of the approximation's trend, at the places
    PointSet points_;
    PointSet points_of_a_;
    Covariance covariance_;
    Covariance covariance_of_a_;
    std::vector<double> mean_here_;
    std::vector<double> mean_there_;
    Matrix<double> shift_;
};

/// w := w + U·D with D = Mᵀx₀ − Uᵀw for each point.
void ErrorUnderTruth::complete_for_trend(const Matrix<double>& w, Index first, const LeastSquares& fit) {
    const TrendBasis& basis = approximation_.likelihood.basis();
    if (basis.size() == 0) return;
    const SmallMatrix M = trend_root(fit);
    const Matrix<double> U = orthonormal_trend(approximation_.likelihood, M);
    const Matrix<double> D = rows_for_columns(stream_, w, basis.size(), "D");  // transposed
    generate(stream_, D.view(), [this, M, first](Index point, Index k) {
        double sum = 0;
        for (Index l = 0; l < M.rows; ++l) sum += M(l, k) * functions_(first + point, l);
        return sum;
    });
    const MatrixView<double> wt = w.view().transposed();
    for (Index c = 0; c < w.tile_cols(); ++c)
        for (Index i = 0; i < w.tile_rows(); ++i)
            stream_.submit(
                tasks::gemm(GemmArguments{.alpha = -1}, wt(c, i), U(i, 0), reduce(D(c, 0))).on(w(i, c).owner()));
    gemm(stream_, U.view(), D.view().transposed(), w.view(), {.alpha = 1, .beta = 1});
}

void ErrorUnderTruth::add_sums(const Sums& sums, const Matrix<double>& lambda, const Matrix<double>& k) {
    const MatrixView<double> transposed = lambda.view().transposed();
    const auto each_tile = [&](const auto& submit) {
        const auto phase = stream_.phase("dot");
        for (Index c = 0; c < lambda.tile_cols(); ++c)
            for (Index i = 0; i < lambda.tile_rows(); ++i) submit(i, c);
    };
    for (const Matrix<double>* sum : {&sums.cross, &sums.drift, &sums.squares}) fill(stream_, sum->view(), {});
    each_tile([&](Index i, Index c) {
        const NodeId here = lambda(i, c).owner();
        stream_.submit(
            Task(column_products_kernel, {}, read(lambda(i, c)), read(k(i, c)), reduce(sums.cross(c, 0))).on(here));
        stream_.submit(tasks::gemm(GemmArguments{}, transposed(c, i), shift_(i, 0), reduce(sums.drift(c, 0))).on(here));
    });
    // In place of k, which has been used.
    multiply_triangular(stream_, truth_.likelihood.factor().transposed(), lambda.view(), k.view());
    each_tile([&](Index i, Index c) {
        stream_.submit(Task(column_squares_kernel, read(k(i, c)), reduce(sums.squares(c, 0))).on(k(i, c).owner()));
    });
}

void ErrorUnderTruth::add(std::vector<double>& errors, Index first, Index count, const LeastSquares& fit) {
    const Matrix<double> k = columns_like_sigma(truth_.likelihood, count, "k");
    const Matrix<double> lambda = columns_like_sigma(approximation_.likelihood, count, "lambda");
    generate_cross_covariance(stream_, k, {covariance_, truth_.likelihood.points(), points_, first});
    generate_cross_covariance(stream_, lambda,
                              {covariance_of_a_, approximation_.likelihood.points(), points_of_a_, first});
    solve_triangular(stream_, approximation_.likelihood.factor(), lambda.view());
    complete_for_trend(lambda, first, fit);
    solve_triangular(stream_, approximation_.likelihood.factor().transposed(), lambda.view());
    const Sums sums{.cross = rows_for_columns(stream_, lambda, 1, "lambda k"),
                    .drift = rows_for_columns(stream_, lambda, 1, "lambda m"),
                    .squares = rows_for_columns(stream_, lambda, 1, "lambda Sigma lambda")};
    add_sums(sums, lambda, k);
    const std::vector<double> cross = gather(stream_, sums.cross.view());
    const std::vector<double> drift = gather(stream_, sums.drift.view());
    const std::vector<double> squares = gather(stream_, sums.squares.view());
    if (const Status status = stream_.wait(); !status.ok())
        throw Error("the errors of predictions could not be computed: {}", status.describe());
    for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) {
        const double bias = mean_there_[static_cast<std::size_t>(first) + p] - subtracted() - drift[p];
        errors.push_back(truth_.fitted.result.theta.sigma2 - 2 * cross[p] + squares[p] + bias * bias);
    }
}

void require_same_places(const LossModel& truth, const LossModel& approximation) {
    if (truth.likelihood.observations().coordinates != approximation.likelihood.observations().coordinates)
        throw Error("what predictions lose is compared between models of observations at the same places");
}

}  // namespace

PredictionErrors prediction_errors(const LossModel& truth, const LossModel& approximation, const Sites& sites,
                                   const LossOptions& options) {
    require_same_places(truth, approximation);
    const PredictionOptions ask{.of = options.of, .block = options.block};
    PredictionErrors result;
    result.best = predict(truth.likelihood, truth.fitted.result.theta, sites, ask).variance;
    result.claimed = predict(approximation.likelihood, approximation.fitted.result.theta, sites, ask).variance;
    const LikelihoodValue value = approximation.likelihood.evaluate(approximation.fitted.result.theta);
    ErrorUnderTruth errors(truth, approximation, sites);
    const Index points = sites.size();
    const Index block = options.block > 0 ? options.block : prediction_block(truth.likelihood.observations().size());
    for (Index first = 0; first < points; first += block)
        errors.add(result.real, first, std::min(block, points - first), value.fit);
    const double noise = options.of == PredictionOf::observation ? truth.fitted.result.theta.nugget : 0;
    for (double& error : result.real) error = std::max(0.0, error) + noise;
    return result;
}

PredictionLoss prediction_loss(const PredictionErrors& errors) {
    if (errors.best.empty()) throw Error("there are no places at which predictions could be compared");
    PredictionLoss result;
    const auto n = static_cast<double>(errors.best.size());
    for (std::size_t i = 0; i < errors.best.size(); ++i) {
        if (!(errors.best[i] > 0 && errors.real[i] > 0))
            throw Error(
                "at place {} (counted from 0) the first model predicts without error, as at a place that was observed "
                "without noise: nothing can be compared with it there",
                i);
        const double mom = errors.claimed[i] / errors.real[i] - 1;
        result.mloe += (errors.real[i] / errors.best[i] - 1) / n;
        result.mmom += mom / n;
        result.rmom += mom * mom / n;
    }
    result.rmom = std::sqrt(result.rmom);
    return result;
}

}  // namespace tesela::geo
