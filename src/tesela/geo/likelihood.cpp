#include "tesela/geo/likelihood.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/conjugate_gradients.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/multiply.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/fields.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/geometry.hpp"
#include "tesela/geo/internal/whitened.hpp"
#include "tesela/geo/layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace tesela::geo {
namespace {

/// [z X](i, j), with the offset taken off z.
double right_hand_side(const Likelihood& likelihood, Index i, Index j) {
    if (j > 0) return likelihood.basis().at_observations()(i, j - 1);
    return likelihood.observations().values[static_cast<std::size_t>(i)] - likelihood.offset();
}

/// Tiles of the lower triangle row by row, or along anti-diagonals from the corner where Cholesky begins: the order of
/// decreasing priority.
std::vector<TileIndex> generation_order(Index nt, Overlap overlap) {
    std::vector<TileIndex> tiles;
    for (Index i = 0; i < nt; ++i)
        for (Index j = 0; j <= i; ++j) tiles.push_back({i, j});
    if (overlap >= Overlap::order)
        std::stable_sort(tiles.begin(), tiles.end(), [](TileIndex a, TileIndex b) {
            return std::pair(a.i + a.j, a.j) < std::pair(b.i + b.j, b.j);
        });
    return tiles;
}

const Observations& validated(const Observations& observations, const Model& model) {
    validate(observations);
    validate(model);
    return observations;
}

/// Without owners and cuts, which are compared where the matrix is made.
std::uint64_t digest_of_options(const Model& model, const LikelihoodOptions& options) {
    Digest digest;
    for (const ParameterChoice& choice : model.choices) add_fields(digest, choice);
    add_fields(digest, std::array{model.center, model.jitter});
    add_fields(digest, model.family);
    add_fields(digest, model.metric);
    add_fields(digest, model.estimation);
    add_fields(digest, options.tile);
    add_fields(digest, options.overlap);
    add_fields(digest, options.dependent_columns);
    add_fields(digest, options.compression);
    return digest.value();
}

/// Owners that are the same while the matrix is generated need not be told.
void leave_out_needless_moves(LikelihoodOptions& options) {
    if (options.generation == options.distribution) options.generation.reset();
}

SmallMatrix fetched_gram(Fetched& fetched, Index order) {
    SmallMatrix gram = elements_of(fetched, order, order);
    if (!fetched.has_value())
        for (Index i = 0; i < order; ++i) gram(i, i) = 1;  // an engine without data: anything that can be factored
    return gram;
}

}  // namespace

double gaussian_log_likelihood(Index n, double log_determinant, double quadratic) {
    return -0.5 * (static_cast<double>(n) * std::log(2 * std::numbers::pi) + log_determinant + quadratic);
}

EvaluationCost evaluation_cost(Index n, Index tile, const Distribution& distribution) {
    const auto order = static_cast<double>(n);
    const Tiling tiling = Tiling::square(n, tile);
    EvaluationCost cost{.flops = order * order * order / 3 + order * order,
                        .bytes_per_node = std::vector<double>(static_cast<std::size_t>(distribution.nodes()), 0.0)};
    for (const TileIndex t : generation_order(tiling.grid().rows, Overlap::sync)) {
        const auto elements = static_cast<double>(tiling.rows(t.i) * tiling.cols(t.j));
        cost.bytes_per_node[static_cast<std::size_t>(distribution.owner(t).number())] += sizeof(double) * elements;
    }
    return cost;
}

Likelihood::Likelihood(Stream& stream, Observations observations, Model model, LikelihoodOptions options)
    : stream_(stream),
      observations_(options.compression ? in_hilbert_order(validated(observations, model), model.metric)
                                        : std::move(observations)),
      model_(std::move(model)),
      options_(std::move(options)),
      points_(model_.metric, validated(observations_, model_).coordinates),
      basis_(model_.trend, observations_, options_.dependent_columns),
      // With an intercept the mean is estimated anyway; without the mean the quadratic form of large values keeps its
      // digits.
      offset_(basis_.has_intercept() ? observations_.mean() : model_.center),
      max_distance_(points_.diameter_bound()) {
    if (options_.compression) validate(*options_.compression);
    Engine& engine = stream_.engine();
    Digest digest;
    for (const auto& column : observations_.coordinates) digest.add(column);
    digest.add(observations_.values);
    digest.add(basis_.at_observations().values);
    engine.require_alike("the observations", digest.value());
    engine.require_alike("the options of the model and of the likelihood", digest_of_options(model_, options_));
    options_.tile = layout_for(engine, observations_.size(), options_.tile, options_.distribution).tile;
    if (!options_.distribution) options_.distribution = squarest_block_cyclic(tiling().grid(), engine.node_count());
    leave_out_needless_moves(options_);
    check_owners(options_);
    matrices_.emplace(make_matrices());
}

void Likelihood::check_owners(const LikelihoodOptions& options) const {
    const GridSize tiles = tiling().grid();
    const Index nodes = stream_.engine().node_count();
    const auto check = [&](const Distribution& owners, const char* what) {
        if (owners.grid() != tiles)
            throw Error("the covariance matrix has {} x {} tiles; {} is distributed over {} x {}", tiles.rows,
                        tiles.cols, what, owners.grid().rows, owners.grid().cols);
        if (owners.nodes() > nodes)
            throw Error("{} is distributed over {} nodes, and there are {}", what, owners.nodes(), nodes);
    };
    check(*options.distribution, "the covariance matrix");
    if (options.generation) check(*options.generation, "its generation");
}

void Likelihood::redistribute(Distribution distribution, std::optional<Distribution> generation) {
    LikelihoodOptions changed = options_;
    changed.distribution = std::move(distribution);
    changed.generation = std::move(generation);
    leave_out_needless_moves(changed);
    check_owners(changed);
    const LikelihoodOptions before = options_;
    options_ = changed;
    ++arrangement_;
    try {
        remake_matrices();
    } catch (...) {
        options_ = before;
        remake_matrices();  // there was room for these
        throw;
    }
}

/// The old ones go first: there may be no room for both.
void Likelihood::remake_matrices() {
    matrices_.reset();
    matrices_.emplace(make_matrices());
}

Tiling Likelihood::tiling() const {
    const std::vector<Index>& cuts = options_.cuts;
    if (cuts.empty()) return Tiling::square(observations_.size(), options_.tile);
    if (cuts.back() != observations_.size())
        throw Error("the covariance matrix of {} observations is cut for {}", observations_.size(), cuts.back());
    return Tiling::from_cuts(cuts, cuts);
}

Likelihood::Matrices Likelihood::make_matrices() const {
    const Tiling tiles = tiling();
    const Distribution& distribution = *options_.distribution;
    const Distribution single({1, 1}, stream_.engine().node_count(), {0});
    const Index columns = 1 + basis_.size();
    const auto allocation = options_.overlap >= Overlap::memory ? Allocation::at_once : Allocation::when_written;
    const auto named = [&](const char* name, Stored stored = Stored::full) {
        return MatrixOptions{.name = name, .stored = stored, .allocation = allocation};
    };
    MatrixOptions sigma = named("Sigma", Stored::lower);
    if (options_.compression)
        sigma.compression = Compression{
            .accuracy = options_.compression->accuracy * (covariance_ ? covariance_->parameters().sigma2 : 1),
            .dense_band = options_.compression->band,
            .precision = options_.compression->precision};
    try {
        return {.sigma = {stream_, tiles, distribution, std::move(sigma)},
                .right = {stream_, tiles.with_columns(columns, columns), along_diagonal(distribution, 1), named("zX")},
                .gram = {stream_, Tiling::square(columns, columns), single, named("G")},
                .determinant = {stream_, Tiling::square(1, 1), single, named("log det")}};
    } catch (const DoesNotFit& error) {
        if (options_.compression) throw;
        throw DoesNotFit("{} Or compress it: --method tlr", error.what());
    }
}

Priorities Likelihood::priorities() const {
    return options_.overlap >= Overlap::priorities ? Priorities::critical_path : Priorities::chameleon;
}

LikelihoodValue Likelihood::evaluate(const CovarianceParameters& theta) {
    Digest digest;
    add_fields(digest, theta);
    stream_.engine().require_alike("the parameters of the model", digest.value());
    if (options_.compression) require_compressible(theta);
    CovarianceParameters shifted = theta;
    shifted.nugget += model_.jitter * theta.sigma2;
    covariance_.emplace(model_.family, shifted, model_.metric, max_distance_);
    // Tiles are as accurate as sigma2 asks for.
    if (options_.overlap < Overlap::memory || options_.compression) remake_matrices();
    const auto start = Clock::now();
    constexpr std::array phases{&Likelihood::generate, &Likelihood::factorise, &Likelihood::determinant,
                                &Likelihood::solve, &Likelihood::gram};
    for (const auto phase : phases) {
        (this->*phase)();
        if (options_.overlap > Overlap::sync) continue;
        if (const Status status = stream_.wait(); !status.ok()) return {.status = status};
    }
    refinement_.reset();
    if (options_.compression && options_.compression->refine > 0)
        if (const Status status = refine(); !status.ok()) return {.status = status};
    LikelihoodValue value = collect();
    seconds_ = seconds_since(start);
    return value;
}

void Likelihood::generate() {
    const auto phase = stream_.phase("generate");
    const Index nt = matrices_->sigma.tiling().grid().rows;
    for (const TileIndex tile : generation_order(nt, options_.overlap)) {
        if (options_.generation) give_for_generation(tile);
        submit_tile(tile);
        if (options_.generation) stream_.move(matrices_->sigma(tile.i, tile.j), options_.distribution->owner(tile));
    }
}

/// The factor of the evaluation before, which is here if anything is, is not needed any more.
void Likelihood::give_for_generation(TileIndex tile) {
    const TileRef there = matrices_->sigma(tile.i, tile.j);
    const NodeId owner = options_.generation->owner(tile);
    if (owner == there.owner()) return;
    if (there.matrix->written(tile)) stream_.discard(there);
    stream_.move(there, owner);
}

/// A tile of Σ; with one of the diagonal also the rows of [z X] that meet it.
void Likelihood::submit_tile(TileIndex tile) {
    const Tiling& tiling = matrices_->sigma.tiling();
    const PriorityRule priority(priorities(), tiling.grid().rows);
    const CovarianceArguments args{.covariance = &*covariance_,
                                   .rows = &points_,
                                   .cols = &points_,
                                   .first = {tiling.row_begin(tile.i), tiling.col_begin(tile.j)},
                                   .sets = ObservationSets::same};
    stream_.submit(
        Task(*options_.generator, args, write(matrices_->sigma(tile.i, tile.j))).at(0, priority.generate(tile)));
    if (tile.i != tile.j) return;
    const auto [element, context] = elements_by<right_hand_side>(*this);
    const GenerateArguments rows{element, context, {tiling.row_begin(tile.i), 0}};
    stream_.submit(
        Task(Dense<double>::generate, rows, write(matrices_->right(tile.i, 0))).at(0, priority.generate(tile)));
}

void Likelihood::factorise() { cholesky(stream_, matrices_->sigma.lower(), {.priorities = priorities()}); }

void Likelihood::determinant() { log_determinant(stream_, matrices_->sigma.lower(), matrices_->determinant.view()); }

void Likelihood::solve() {
    const SolveForm form = options_.overlap >= Overlap::solve ? SolveForm::local : SolveForm::classical;
    solve_triangular(stream_, matrices_->sigma.lower(), matrices_->right.view(),
                     {.form = form, .priorities = priorities()});
}

/// G := Yᵀ·Y for Y = L⁻¹·[z X], lower triangle, each product where its rows of Y live.
void Likelihood::gram() {
    const auto phase = stream_.phase("dot");
    const TileOf<double> G = matrices_->gram(0, 0);
    stream_.submit(tasks::laset({}, G));
    for (Index k = 0; k < matrices_->right.tiling().grid().rows; ++k) {
        const TileOf<double> Y = matrices_->right(k, 0);
        stream_.submit(Task(Dense<double>::syrk, {.op = Op::transpose}, read(Y), reduce(G))
                           .on(Y.owner())
                           .at(static_cast<std::int32_t>(k), PriorityRule::leaf()));
    }
}

/// W := Σ⁻¹·[z X] from the compressed factor, by conjugate gradients with the true matrix. Then Y := Lᵀ·W, with which
/// all that is computed from L⁻¹·[z X] is as if the factor were exact, as (L⁻¹·k)ᵀ·Y = kᵀ·W; and G := [z X]ᵀ·W.
Status Likelihood::refine() {
    if (Status status = stream_.wait(); !status.ok()) return status;
    const MatrixView<double> L = matrices_->sigma.lower();
    const Matrix<double>& Y = matrices_->right;
    const Matrix<double> B(stream_, Y.tiling(), Y.distribution(), {.name = "zX"});
    const Matrix<double> W(stream_, Y.tiling(), Y.distribution(), {.name = "w"});
    tesela::generate(stream_, B.view(), elements_by<right_hand_side>(*this));
    copy(stream_, Y.view(), W.view());
    solve_triangular(stream_, L.transposed(), W.view());
    refinement_ = conjugate_gradients(stream_, product_with(stream_, {*covariance_, points_, L}), L, B.view(), W.view(),
                                      {.tolerance = options_.compression->refine});
    if (!refinement_->status.ok()) return refinement_->status;
    multiply_triangular(stream_, L.transposed(), W.view(), Y.view());
    multiply_columns(stream_, B.view(), W.view(), matrices_->gram.view());
    return stream_.wait();
}

LikelihoodValue Likelihood::collect() {
    const Future<double> log_determinant = stream_.read(matrices_->determinant(0, 0), 0.0);
    const std::shared_ptr<Fetched> gram = stream_.fetch(matrices_->gram(0, 0));
    LikelihoodValue value{.status = stream_.wait()};
    if (!value.status.ok()) return value;
    value.log_determinant = log_determinant.get();
    value.fit = least_squares(fetched_gram(*gram, 1 + basis_.size()));
    value.trend = in_original_units(basis_, value.fit, offset_);
    value.log_likelihood = log_likelihood_at_scale(value, 1);
    return value;
}

Index Likelihood::degrees_of_freedom() const {
    return observations_.size() - (model_.estimation == Estimation::reml ? basis_.size() : 0);
}

double Likelihood::log_likelihood_at_scale(const LikelihoodValue& value, double scale) const {
    double log_determinant = value.log_determinant;
    if (model_.estimation == Estimation::reml) log_determinant += log_determinant_of_trend(basis_, value.fit);
    const Index degrees = degrees_of_freedom();
    return gaussian_log_likelihood(degrees, log_determinant + static_cast<double>(degrees) * std::log(scale),
                                   value.fit.quadratic / scale);
}

namespace {

std::string describe_bad_pivot(const Status& status, const Located& at, CovarianceFamily family,
                               const CovarianceParameters& theta) {
    const PointPair pair = closest_pair(at.points);
    return fmt::format(
        "the covariance matrix is not positive definite at {}: pivot {} of {} is not positive. The closest points, {} "
        "and {}, are {:.6g} apart.",
        describe(family, theta), status.index, at.points.size(), at.observations.where(pair.first),
        at.observations.where(pair.second), pair.distance);
}

std::string better_conditions(Index n) {
    return fmt::format("use a larger nugget, a smaller range or smoothness, or --jitter {:.0e}", helpful_jitter(n));
}

}  // namespace

std::string Likelihood::explain(const Status& status, const CovarianceParameters& theta) const {
    if (!is_numerical(status)) return status.describe();
    const Located at{observations_, points_};
    if (!options_.compression) return explain_not_positive_definite(status, at, model_.family, theta);
    const std::string what = describe_bad_pivot(status, at, model_.family, theta);
    const std::string otherwise = better_conditions(points_.size());
    if (fails_uncompressed(status, theta))
        return fmt::format("{} That is not for want of accuracy, the exact matrix is not either: {}", what, otherwise);
    const double asked = options_.compression->accuracy;
    return fmt::format(
        "{} Its tiles are accurate to {:.0e} times sigma2, which may be why: try --accuracy {:.0e}. Otherwise {}", what,
        asked, helpful_accuracy(theta, matrices_->sigma.tile_rows(), asked), otherwise);
}

/// Whether a bad pivot would be one without compression: equal rows without noise make every such matrix singular, and
/// the first tile rows, as many as the band has, are of whole tiles alone.
bool Likelihood::fails_uncompressed(const Status& status, const CovarianceParameters& theta) const {
    const Tiling& tiling = matrices_->sigma.tiling();
    const Index whole_rows = std::min(options_.compression->band, tiling.grid().rows);
    if (status.index < tiling.row_begin(whole_rows - 1) + tiling.rows(whole_rows - 1)) return true;
    return theta.nugget + model_.jitter * theta.sigma2 == 0 && closest_pair(points_).distance == 0;
}

bool is_numerical(const Status& status) { return status.failure == Failure::not_positive_definite; }

void require_good_evaluation(const Likelihood& likelihood, const Status& status, const CovarianceParameters& theta) {
    if (is_numerical(status)) throw NotPositiveDefinite(likelihood.explain(status, theta));
    require_done(status);
}

LikelihoodValue evaluate_well(Likelihood& likelihood, const CovarianceParameters& theta) {
    LikelihoodValue value = likelihood.evaluate(theta);
    require_good_evaluation(likelihood, value.status, theta);
    return value;
}

double helpful_jitter(Index n) {
    return std::pow(
        10, std::ceil(std::log10(static_cast<double>(n) * std::numeric_limits<double>::epsilon()) + enough_digits));
}

std::string explain_not_positive_definite(const Status& status, const Located& at, CovarianceFamily family,
                                          const CovarianceParameters& theta) {
    std::string advice = better_conditions(at.points.size());
    advice.front() = 'U';
    return fmt::format("{} {}", describe_bad_pivot(status, at, family, theta), advice);
}

}  // namespace tesela::geo
