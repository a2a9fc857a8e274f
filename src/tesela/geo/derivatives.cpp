#include "tesela/geo/derivatives.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/conjugate_gradients.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/internal/whitened.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace tesela::geo {
namespace {

constexpr auto parameter_count = static_cast<Index>(all_parameters.size());

constexpr Index position(Parameter p) { return static_cast<Index>(p); }

/// s := s + weight·Σ A(i, j)·B(i, j)
KernelResult add_product(const double& weight, StoredTile<const double> A, StoredTile<const double> B,
                         StoredTile<double> s) noexcept {
    double sum = 0;
    for (Index j = 0; j < A.cols(); ++j)
        for (Index i = 0; i < A.rows(); ++i) sum += A(i, j) * B(i, j);
    s(0, 0) += weight * sum;
    return {};
}
const auto product_kernel = make_kernel<add_product>("dwdot");

/// s := s + tr A
KernelResult add_trace(const NoArguments&, StoredTile<const double> A, StoredTile<double> s) noexcept {
    for (Index i = 0; i < A.rows(); ++i) s(0, 0) += A(i, i);
    return {};
}
const auto trace_kernel = make_kernel<add_trace>("dtrace");

void require_good(const Status& status, const char* what) {
    if (!status.ok()) throw Error("{} could not be computed: {}", what, status.describe());
}

void require_evaluated(const LikelihoodValue& value) {
    if (!value.status.ok())
        throw Error("derivatives need a likelihood that could be evaluated: {}", value.status.describe());
}

/// ∂Σ/∂sigma2 has the model's jitter on its diagonal, as the nugget's has 1.
void carry_jitter(SmallMatrix& F, double jitter) {
    constexpr Index sigma2 = position(Parameter::sigma2);
    constexpr Index nugget = position(Parameter::nugget);
    for (Index i = 0; i < parameter_count; ++i) F(i, sigma2) += jitter * F(i, nugget);
    for (Index j = 0; j < parameter_count; ++j) F(sigma2, j) += jitter * F(nugget, j);
}

/// Tr A·B for symmetric matrices by their lower tiles, those on the diagonal whole.
Future<double> inner_product(Stream& s, const Matrix<double>& A, const Matrix<double>& B) {
    const auto phase = s.phase("dot");
    const Scalar<double> sum(s, {.name = "tr AB"});
    s.submit(tasks::laset({}, sum.tile()));
    for (Index i = 0; i < A.tile_rows(); ++i)
        for (Index j = 0; j <= i; ++j)
            s.submit(Task(product_kernel, i == j ? 1.0 : 2.0, read(A(i, j).stored()), read(B(i, j).stored()),
                          reduce(sum.tile()))
                         .on(A(i, j).owner()));
    return sum.value(s);
}

Future<double> trace(Stream& s, const Matrix<double>& A) {
    const auto phase = s.phase("dot");
    const Scalar<double> sum(s, {.name = "tr A"});
    s.submit(tasks::laset({}, sum.tile()));
    for (Index i = 0; i < A.tile_rows(); ++i)
        s.submit(Task(trace_kernel, {}, read(A(i, i).stored()), reduce(sum.tile())).on(A(i, i).owner()));
    return sum.value(s);
}

/// Aᵀ·B of two columns of tiles, as one tile on node 0.
std::shared_ptr<Fetched> transposed_product(Stream& s, const MatrixView<double>& A, const MatrixView<double>& B) {
    const auto phase = s.phase("dot");
    const ElementIndex size{A.cols(0), B.cols(0)};
    const Matrix<double> sum(s, Tiling::uniform(size, size), Distribution({1, 1}, s.engine().node_count(), {0}),
                             {.name = "AB"});
    multiply_columns(s, A, B, sum.view());
    return s.fetch(sum(0, 0));
}

}  // namespace

LikelihoodDerivatives::LikelihoodDerivatives(Likelihood& likelihood)
    : likelihood_(likelihood),
      stream_(likelihood.stream()),
      inverse_(matrix_like_sigma("Sigma^-1")),
      weights_(column_like_sigma(likelihood, restricted() ? 1 + likelihood.basis().size() : 1, "w")),
      combination_(single(1 + likelihood.basis().size(), weights_.cols(0), "(1, -b)")),
      row_sums_(stream_, Tiling::uniform({parameter_count * inverse_.tiling().grid().rows, 1}, {parameter_count, 1}),
                along_diagonal(inverse_.distribution(), 1), {.name = "row traces"}),
      sums_(single(parameter_count, 1, "traces")) {}

Matrix<double> LikelihoodDerivatives::matrix_like_sigma(const char* name) const {
    const Attachment& sigma = likelihood_.factor().matrix();
    return {stream_,
            sigma.tiling(),
            sigma.distribution(),
            {.name = name,
             .stored = Stored::lower,
             .allocation =
                 likelihood_.options().overlap >= Overlap::memory ? Allocation::at_once : Allocation::when_written}};
}

Matrix<double> LikelihoodDerivatives::single(Index rows, Index cols, const char* name) const {
    return {stream_,
            Tiling::uniform({rows, cols}, {rows, cols}),
            Distribution({1, 1}, stream_.engine().node_count(), {0}),
            {.name = name}};
}

void LikelihoodDerivatives::prepare_derivatives() {
    derivatives_.emplace(likelihood_.covariance(), likelihood_.points().diameter_bound());
}

bool LikelihoodDerivatives::restricted() const { return likelihood_.model().estimation == Estimation::reml; }

/// L⁻ᵀ·(L⁻¹[z X])·combination: w with (1, −β)/√s, since derivatives are quadratic in it; W with C, the same at every
/// scale.
void LikelihoodDerivatives::weigh_residual(const LikelihoodValue& value, double scale) {
    const double weight = 1 / std::sqrt(scale);
    SmallMatrix C;
    if (restricted()) C = trend_root(value.fit);
    generate(stream_, combination_.view(),
             [weight, coefficients = value.fit.coefficients, C = std::move(C)](Index i, Index j) {
                 if (j > 0) return i == 0 ? 0.0 : C(i - 1, j - 1);
                 return i == 0 ? weight : -weight * coefficients[static_cast<std::size_t>(i - 1)];
             });
    gemm(stream_, likelihood_.whitened(), combination_.view(), weights_.view());
    solve_triangular(stream_, likelihood_.factor().transposed(), weights_.view());
}

/// Neighbours in the stream add to different sums, so that they can run at the same time.
void LikelihoodDerivatives::add_traces() {
    const auto phase = stream_.phase("traces");
    const Tiling& tiling = inverse_.tiling();
    const Index nt = tiling.grid().rows;
    for (Index i = 0; i < nt; ++i) stream_.submit(tasks::laset({}, row_sums_(i, 0)));
    for (Index j = 0; j < nt; ++j)
        for (Index i = j; i < nt; ++i)
            stream_.submit(Task(covariance_traces_kernel,
                                {.derivatives = &*derivatives_,
                                 .points = &likelihood_.points(),
                                 .first = {tiling.row_begin(i), tiling.col_begin(j)}},
                                read(inverse_(i, j)), read(weights_(i, 0)), read(weights_(j, 0)),
                                reduce(row_sums_(i, 0)))
                               .on(inverse_(i, j).owner())
                               .at(static_cast<std::int32_t>(j), 0));
    stream_.submit(tasks::laset({}, sums_(0, 0)));
    for (Index i = 0; i < nt; ++i)
        stream_.submit(
            Task(Dense<double>::geadd, {}, read(row_sums_(i, 0)), reduce(sums_(0, 0))).on(row_sums_(i, 0).owner()));
}

Gradient LikelihoodDerivatives::gradient(const LikelihoodValue& value, double scale) {
    require_evaluated(value);
    weigh_residual(value, scale);
    invert_sigma(likelihood_, inverse_);
    prepare_derivatives();  // while the inverse is computed
    add_traces();
    const std::shared_ptr<Fetched> fetched = stream_.fetch(sums_(0, 0));
    require_good(stream_.wait(), "the gradient of the likelihood");
    SmallMatrix traces = elements_of(*fetched, parameter_count, 1);
    traces(position(Parameter::sigma2), 0) += likelihood_.model().jitter * traces(position(Parameter::nugget), 0);
    Gradient result{};
    for (const Parameter p : all_parameters) result[static_cast<std::size_t>(p)] = -0.5 * traces(position(p), 0);
    return result;
}

/// A := L⁻¹·D·L⁻ᵀ for the derivative D of Σ in a direction.
void LikelihoodDerivatives::whiten_derivative(const CovarianceSlopes& direction, const Matrix<double>& A) {
    {
        const auto phase = stream_.phase("generate");
        const Tiling& tiling = A.tiling();
        for (Index i = 0; i < tiling.grid().rows; ++i)
            for (Index j = 0; j <= i; ++j)
                stream_.submit(Task(covariance_derivative_kernel,
                                    {.derivatives = &*derivatives_,
                                     .points = &likelihood_.points(),
                                     .first = {tiling.row_begin(i), tiling.col_begin(j)},
                                     .direction = direction},
                                    write(A(i, j))));
    }
    congruence(stream_, likelihood_.factor(), A.lower());
}

namespace {

/// ½ tr A_k·A_l for symmetric A_k, of which sigma2's is not stored: with Σ = sigma2·R + (nugget + jitter·sigma2)·I it
/// is L⁻¹(R + jitter·I)L⁻ᵀ = (I − nugget·A_nugget)/sigma2.
class ExpectedInformation {
public:
    void set(Parameter p, Parameter q, double product) {
        F_(position(p), position(q)) = F_(position(q), position(p)) = 0.5 * product;
    }
    void set_trace(Parameter p, double trace) { traces_[static_cast<std::size_t>(p)] = trace; }

    /// When all else is set.
    SmallMatrix with_sigma2(Index n, double sigma2, double nugget) {
        const auto product_with = [&](Parameter p) {
            return (traces_[static_cast<std::size_t>(p)] - nugget * product(p, Parameter::nugget)) / sigma2;
        };
        for (const Parameter p : {Parameter::range, Parameter::smoothness, Parameter::nugget})
            set(p, Parameter::sigma2, product_with(p));
        set_trace(Parameter::sigma2,
                  (static_cast<double>(n) - nugget * traces_[static_cast<std::size_t>(Parameter::nugget)]) / sigma2);
        set(Parameter::sigma2, Parameter::sigma2, product_with(Parameter::sigma2));
        return F_;
    }

private:
    [[nodiscard]] double product(Parameter p, Parameter q) const { return 2 * F_(position(p), position(q)); }

    SmallMatrix F_{parameter_count, parameter_count};
    std::array<double, all_parameters.size()> traces_{};
};

struct Direction {
    Parameter parameter;
    CovarianceSlopes slopes;
};

/// All but sigma2's.
std::vector<Direction> directions(CovarianceFamily family) {
    std::vector<Direction> result{{Parameter::nugget, {.nugget = 1}}, {Parameter::range, {.range = 1}}};
    if (uses(family, Parameter::smoothness)) result.push_back({Parameter::smoothness, {.smoothness = 1}});
    return result;
}

}  // namespace

// With Q = L⁻¹·X·C, whose columns are orthonormal, and A_k = L⁻¹·∂_kΣ·L⁻ᵀ: P·∂_kΣ has the trace of (I − Q·Qᵀ)·A_k, so
// tr P∂_iP∂_j = tr A_iA_j − 2 tr QᵀA_iA_jQ + tr QᵀA_iQ·QᵀA_jQ. Returns what comes after tr A_iA_j, halved.
SmallMatrix LikelihoodDerivatives::taken_by_trend(const LikelihoodValue& value) {
    const Index functions = likelihood_.basis().size();
    const SmallMatrix C = trend_root(value.fit);
    SmallMatrix taken(parameter_count, parameter_count);
    std::vector<SmallMatrix> QAQ;  // by d: column k is that of QᵀA_kQ
    for (Index d = 0; d < functions; ++d) {
        SmallMatrix combination(1 + functions, 1);
        for (Index i = 0; i < functions; ++i) combination(1 + i, 0) = C(i, d);
        const Matrix<double> w = combine_whitened(likelihood_, combination, "W");
        solve_triangular(stream_, likelihood_.factor().transposed(), w.view());
        const Matrix<double> U = column_like_sigma(likelihood_, parameter_count, "AQ");
        multiply_derivatives(w, U);
        solve_triangular(stream_, likelihood_.factor(), U.view());
        const std::shared_ptr<Fetched> of_squares = transposed_product(stream_, U.view(), U.view());
        const std::shared_ptr<Fetched> of_trend = transposed_product(stream_, likelihood_.whitened(), U.view());
        require_good(stream_.wait(), "the information of the likelihood");
        const SmallMatrix UU = elements_of(*of_squares, parameter_count, parameter_count);
        const SmallMatrix YU = elements_of(*of_trend, 1 + functions, parameter_count);
        for (std::size_t k = 0; k < taken.values.size(); ++k) taken.values[k] -= UU.values[k];
        SmallMatrix& column = QAQ.emplace_back(functions, parameter_count);
        for (Index c = 0; c < functions; ++c)
            for (Index k = 0; k < parameter_count; ++k)
                for (Index l = c; l < functions; ++l) column(c, k) += C(l, c) * YU(1 + l, k);
    }
    for (Index i = 0; i < parameter_count; ++i)
        for (Index j = 0; j < parameter_count; ++j)
            for (const SmallMatrix& column : QAQ)
                for (Index c = 0; c < functions; ++c) taken(i, j) += 0.5 * column(c, i) * column(c, j);
    carry_jitter(taken, likelihood_.model().jitter);
    return taken;
}

SmallMatrix LikelihoodDerivatives::expected_information(const LikelihoodValue& value) {
    require_evaluated(value);
    prepare_derivatives();
    const std::vector<Direction> chosen = directions(likelihood_.model().family);
    std::vector<Matrix<double>> others;
    for (std::size_t k = 1; k < chosen.size(); ++k) others.push_back(matrix_like_sigma("dSigma"));
    const auto A = [&](std::size_t k) -> const Matrix<double>& { return k == 0 ? inverse_ : others[k - 1]; };

    std::vector<Future<double>> traces;
    std::vector<Future<double>> products;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        whiten_derivative(chosen[k].slopes, A(k));
        traces.push_back(trace(stream_, A(k)));
        for (std::size_t l = 0; l <= k; ++l) products.push_back(inner_product(stream_, A(k), A(l)));
    }
    require_good(stream_.wait(), "the information of the likelihood");

    ExpectedInformation information;
    auto product = products.begin();
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        information.set_trace(chosen[k].parameter, traces[k].get());
        for (std::size_t l = 0; l <= k; ++l)
            information.set(chosen[k].parameter, chosen[l].parameter, (product++)->get());
    }
    const CovarianceParameters& theta = likelihood_.covariance().parameters();
    SmallMatrix F = information.with_sigma2(likelihood_.observations().size(), theta.sigma2,
                                            theta.nugget - likelihood_.model().jitter * theta.sigma2);
    if (!restricted()) return F;
    const SmallMatrix taken = taken_by_trend(value);
    for (std::size_t k = 0; k < F.values.size(); ++k) F.values[k] += taken.values[k];
    return F;
}

/// V(:, k) := ∂_kΣ·w, for the first column w of some
void LikelihoodDerivatives::multiply_derivatives(const Matrix<double>& w, const Matrix<double>& V) {
    const auto phase = stream_.phase("multiply");
    const Index nt = V.tile_rows();
    for (Index i = 0; i < nt; ++i) stream_.submit(tasks::laset({}, V(i, 0)));
    for (Index j = 0; j < nt; ++j)
        for (Index i = 0; i < nt; ++i)
            stream_.submit(Task(covariance_products_kernel,
                                {.derivatives = &*derivatives_,
                                 .points = &likelihood_.points(),
                                 .first = {V.row_begin(i), V.row_begin(j)}},
                                read(w(j, 0)), reduce(V(i, 0)))
                               .on(inverse_(std::max(i, j), std::min(i, j)).owner()));
}

// With U = L⁻¹·V and Y = L⁻¹·[z X]: ½ (UᵀU − (Y_XᵀU)ᵀ·(XᵀΣ⁻¹X)⁻¹·(Y_XᵀU)), Y_X without the column of z.
SmallMatrix LikelihoodDerivatives::average_information(const LikelihoodValue& value, double scale) {
    require_evaluated(value);
    weigh_residual(value, scale);
    prepare_derivatives();
    const Matrix<double> U = column_like_sigma(likelihood_, parameter_count, "U");
    multiply_derivatives(weights_, U);
    solve_triangular(stream_, likelihood_.factor(), U.view());
    const MatrixView<double> Y = likelihood_.whitened();
    const std::shared_ptr<Fetched> of_squares = transposed_product(stream_, U.view(), U.view());
    const std::shared_ptr<Fetched> of_trend = transposed_product(stream_, Y, U.view());
    require_good(stream_.wait(), "the average information of the likelihood");
    SmallMatrix F = elements_of(*of_squares, parameter_count, parameter_count);
    const Index functions = likelihood_.basis().size();
    const SmallMatrix YU = elements_of(*of_trend, 1 + functions, parameter_count);
    for (Index i = 0; i < parameter_count; ++i)
        for (Index j = 0; j < parameter_count; ++j)
            for (Index k = 0; k < functions; ++k)
                for (Index l = 0; l < functions; ++l)
                    F(i, j) -= YU(1 + k, i) * value.fit.covariance(k, l) * YU(1 + l, j);
    carry_jitter(F, likelihood_.model().jitter);
    for (double& element : F.values) element *= 0.5;
    return F;
}

namespace {

/// What to add to a parameter, and the weights of what the gradient is there: they give its derivative.
struct Difference {
    double step;
    double weight;
};

bool admissible(const Model& model, const CovarianceParameters& theta) {
    try {
        validate(model.family, theta, model.metric);
    } catch (const Error&) {
        return false;
    }
    return true;
}

std::vector<Difference> differences(const Model& model, const CovarianceParameters& theta, Parameter p) {
    // Truncation goes with h², rounding with 1/h; a nugget of 0 is compared with sigma2.
    constexpr double relative_step = 5e-4;
    const double size = value_of(theta, p);
    const double h = relative_step * (size > 0 ? size : 1e-3 * theta.sigma2);
    const auto is_there = [&](double step) {
        CovarianceParameters moved = theta;
        value_of(moved, p) += step;
        return admissible(model, moved);
    };
    if (is_there(-h) && is_there(h)) return {{-h, -0.5 / h}, {h, 0.5 / h}};
    const double inside = is_there(h) ? h : -h;
    return {{0, -1.5 / inside}, {inside, 2 / inside}, {2 * inside, -0.5 / inside}};
}

}  // namespace

SmallMatrix observed_information(Likelihood& likelihood, LikelihoodDerivatives& derivatives,
                                 const CovarianceParameters& theta, std::span<const Parameter> parameters) {
    const auto count = static_cast<Index>(parameters.size());
    SmallMatrix slopes(count, count);  // of the gradient: column j has its derivative in parameter j
    for (Index j = 0; j < count; ++j) {
        const Parameter p = parameters[static_cast<std::size_t>(j)];
        for (const auto [step, weight] : differences(likelihood.model(), theta, p)) {
            CovarianceParameters moved = theta;
            value_of(moved, p) += step;
            const Gradient g = derivatives.gradient(evaluate_well(likelihood, moved));
            for (Index i = 0; i < count; ++i)
                slopes(i, j) += weight * g[static_cast<std::size_t>(parameters[static_cast<std::size_t>(i)])];
        }
    }
    evaluate_well(likelihood, theta);
    SmallMatrix information(count, count);
    for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < count; ++j) information(i, j) = -0.5 * (slopes(i, j) + slopes(j, i));
    return information;
}

}  // namespace tesela::geo
