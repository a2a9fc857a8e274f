#pragma once

#include "tesela/algs/priorities.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/geo/covariance_kernel.hpp"
#include "tesela/geo/overlap.hpp"
#include "tesela/geo/tile_accuracy.hpp"
#include "tesela/geo/trend.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tesela::geo {

struct LikelihoodOptions {
    /// Rows of a tile; 0 means automatic_tile_size() for the workers of all nodes.
    Index tile = 0;
    /// Owners of the tiles of the covariance matrix; none: block-cyclic over the squarest grid of nodes.
    std::optional<Distribution> distribution{};
    /// Owners while the matrix is generated, where they are others: tiles then move to those of `distribution` as soon
    /// as they are there, and back for the next evaluation, without bytes (paper 000, section 4.4).
    std::optional<Distribution> generation{};
    Overlap overlap = Overlap::order;
    /// What writes a tile of the covariance matrix; takes CovarianceArguments.
    const CovarianceKernel* generator = &covariance_kernel;
    DependentColumns dependent_columns = DependentColumns::refuse;
    /// Where the rows of the covariance matrix are cut, from 0 to the number of observations; none: after every `tile`.
    std::vector<Index> cuts{};
    /// None: all tiles have all their elements. Otherwise Σ is compressed, and observations are taken in the order of a
    /// Hilbert curve; derivatives are not to be had.
    std::optional<TileAccuracy> compression{};
};

/// What one evaluation gives. Numbers mean something only if the status is good.
struct LikelihoodValue {
    Status status{};
    double log_likelihood = 0;  ///< restricted, where the model's estimation is
    double log_determinant = 0;
    /// Coefficients of the trend in its own basis, and the quadratic form of the residual.
    LeastSquares fit{};
    TrendEstimate trend{};
};

/// The Gaussian log-likelihood of observations as a function of the covariance's parameters (paper 000, equation 1),
///     −½ (n·log 2π + log det Σ + (z − Xβ)ᵀΣ⁻¹(z − Xβ)),  β by generalised least squares,
/// or the restricted one, of what is left of the observations whatever β is (Harville, Biometrika 61 (1974) 383,
/// without the constant ½ log det XᵀX, as R's nlme has it),
///     −½ ((n − p)·log 2π + log det Σ + log det XᵀΣ⁻¹X + (z − Xβ)ᵀΣ⁻¹(z − Xβ)),  X with p columns in units of the data,
/// evaluated as one asynchronous stream: generation, Cholesky, determinant, solve of [z X], Gram matrix. Holds the
/// matrices from one evaluation to the next, so it is made once for many. Every node of a parallel run makes its own,
/// from the same data, and gets the same values.
class Likelihood {
public:
    /// Throws Error where observations, model or options make no sense, and where the matrix does not fit.
    Likelihood(Stream& stream, Observations observations, Model model, LikelihoodOptions options = {});
    ~Likelihood() = default;
    Likelihood(const Likelihood&) = delete;
    Likelihood& operator=(const Likelihood&) = delete;
    Likelihood(Likelihood&&) = delete;
    Likelihood& operator=(Likelihood&&) = delete;

    /// Throws Error if the parameters are not ones that the family and the metric admit. A covariance matrix that is
    /// not positive definite is the status of the value.
    LikelihoodValue evaluate(const CovarianceParameters& theta);

    /// Gives the tiles to other owners, for the evaluations to come: no bytes travel, since the next one generates the
    /// matrix anew. What hangs on the last evaluation, as factor() and derivatives, is gone. Throws Error where tiles
    /// or nodes are not the likelihood's, and where the matrix does not fit: then the owners are those before.
    void redistribute(Distribution distribution, std::optional<Distribution> generation = {});
    /// How often its owners have changed: what was made for those before is of no use after.
    [[nodiscard]] Index arrangement() const { return arrangement_; }
    /// How the solution of the last evaluation was refined, if it was.
    [[nodiscard]] const std::optional<Convergence>& refinement() const { return refinement_; }
    /// How long the last evaluation took on this node, from its first task to the end of its last.
    [[nodiscard]] double seconds() const { return seconds_; }

    /// The log-likelihood at s·Σ from a good evaluation at Σ.
    [[nodiscard]] double log_likelihood_at_scale(const LikelihoodValue& value, double scale) const;
    /// Observations, less the coefficients of the trend where the likelihood is restricted: what log det grows with
    /// under a scale, and by what the quadratic form is divided for the most likely scale.
    [[nodiscard]] Index degrees_of_freedom() const;

    /// What to tell a person about an evaluation that failed.
    [[nodiscard]] std::string explain(const Status& status, const CovarianceParameters& theta) const;

    [[nodiscard]] const Observations& observations() const { return observations_; }
    [[nodiscard]] const Model& model() const { return model_; }
    [[nodiscard]] const PointSet& points() const { return points_; }
    [[nodiscard]] const TrendBasis& basis() const { return basis_; }
    [[nodiscard]] const LikelihoodOptions& options() const { return options_; }
    [[nodiscard]] Stream& stream() const { return stream_; }

    /// What is subtracted from the values before all else; part of the intercept, where there is one.
    [[nodiscard]] double offset() const { return offset_; }

    /// Of the last evaluation, with the jitter of the model in its nugget.
    [[nodiscard]] const Covariance& covariance() const { return covariance_.value(); }
    /// After a good evaluation, until the next: L of Σ = L·Lᵀ, and L⁻¹·[z X].
    [[nodiscard]] MatrixView<double> factor() const { return matrices_->sigma.lower(); }
    [[nodiscard]] const Matrix<double>& sigma() const { return matrices_->sigma; }
    /// Where solutions are refined, Y with L⁻ᵀ·Y = Σ⁻¹·[z X] stands for the latter.
    [[nodiscard]] MatrixView<double> whitened() const { return matrices_->right.view(); }

private:
    struct Matrices {
        Matrix<double> sigma;
        Matrix<double> right;
        Matrix<double> gram;
        Matrix<double> determinant;
    };
    [[nodiscard]] Tiling tiling() const;
    [[nodiscard]] Matrices make_matrices() const;
    void check_owners(const LikelihoodOptions& options) const;
    void remake_matrices();
    [[nodiscard]] Priorities priorities() const;
    void generate();
    void submit_tile(TileIndex tile);
    void give_for_generation(TileIndex tile);
    void factorise();
    void determinant();
    void solve();
    void gram();
    [[nodiscard]] Status refine();
    [[nodiscard]] LikelihoodValue collect();
    [[nodiscard]] bool fails_uncompressed(const Status& status, const CovarianceParameters& theta) const;

    Stream& stream_;
    Observations observations_;
    Model model_;
    LikelihoodOptions options_;
    PointSet points_;
    TrendBasis basis_;
    double offset_ = 0;
    double max_distance_ = 0;
    std::optional<Covariance> covariance_;
    std::optional<Matrices> matrices_;
    std::optional<Convergence> refinement_;
    Index arrangement_ = 0;
    double seconds_ = 0;
};

/// What fit, predict and sample throw where an evaluation alone would return a status: a numerical failure, not a fault
/// of the input.
class NotPositiveDefinite : public Error {
public:
    using Error::Error;
};

/// Whether the covariance matrix is at fault, which is not positive definite; what else may fail, as for want of
/// memory, fails with other parameters too.
[[nodiscard]] bool is_numerical(const Status& status);
/// Throws, if an evaluation at theta has failed, NotPositiveDefinite with an explanation, or Error for other reasons.
void require_good_evaluation(const Likelihood& likelihood, const Status& status, const CovarianceParameters& theta);
/// Evaluates, and requires that to be good.
LikelihoodValue evaluate_well(Likelihood& likelihood, const CovarianceParameters& theta);

/// Solutions with fewer digits are worth a warning.
inline constexpr double enough_digits = 4;
/// The power of ten for --jitter that leaves enough digits with n points, whatever the covariance: Σ has ‖Σ‖₁ ≤
/// n·sigma2, and with jitter·sigma2 on its diagonal its smallest eigenvalue is at least that.
[[nodiscard]] double helpful_jitter(Index n);

/// Observations and their points in a metric.
struct Located {
    const Observations& observations;
    const PointSet& points;
};
/// One line for a person: the parameters, the pivot, the two points that are closest together, what to do.
[[nodiscard]] std::string explain_not_positive_definite(const Status& status, const Located& at,
                                                        CovarianceFamily family, const CovarianceParameters& theta);

/// log det Σ and the quadratic form to the log-likelihood of n values.
[[nodiscard]] double gaussian_log_likelihood(Index n, double log_determinant, double quadratic);

/// Dense storage and operations of one evaluation, for estimates before a run.
struct EvaluationCost {
    double flops = 0;
    std::vector<double> bytes_per_node;
};
[[nodiscard]] EvaluationCost evaluation_cost(Index n, Index tile, const Distribution& distribution);

}  // namespace tesela::geo
