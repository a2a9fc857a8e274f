#include "tesela/mds/internal/iteration.hpp"

#include "tesela/mds/goodness_of_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela::mds {

Iteration::Iteration(Stream& stream, Setting setting)
    : s_(stream),
      setting_(std::move(setting)),
      basis_(stream,
             {.keeps =
                  setting_.decision.algorithm == Algorithm::power ? KrylovBasis::Keeps::last : KrylovBasis::Keeps::all,
              .most_columns = std::max<Index>(2, setting_.decision.asked.most_blocks) * setting_.matrix.columns(),
              .cuts = [&matrix = setting_.matrix](Index columns) { return matrix.column_cuts(columns); }}),
      width_(setting_.matrix.columns()),
      passes_(setting_.passes),
      products_(setting_.passes * width_) {}

/// A·Q, or Aᵀ·A·Q and A·Q; with the first of them, the sum of squares.
BasisBlock Iteration::multiplied(Matrix<double> Q) {
    StreamedMatrix& A = setting_.matrix;
    const Index columns = Q.tiling().size().j;
    Matrix<double> Y = A.make_left(symmetric() ? "Z" : "Y", columns);
    const MatrixView<double> X = Q;
    const Scalar<double>* squares = nullptr;
    if (!squares_) {
        squares_ = std::make_unique<Scalar<double>>(s_, MatrixOptions{.name = "squares"});
        squares = squares_.get();
    }
    ++passes_;
    products_ += columns;
    if (symmetric()) {
        A.pass({.X = &X, .Y = Y, .squares = squares});
        return {std::move(Q), std::move(Y), {}};
    }
    Matrix<double> Z = A.make_right("Z", columns);
    const MatrixView<double> transposed = Z;
    A.pass({.X = &X, .Y = Y, .transposed = &transposed, .squares = squares});
    return {std::move(Q), std::move(Z), std::make_optional(std::move(Y))};
}

void Iteration::run(Matrix<double> first) {
    basis_.begin(std::move(first));
    for (int iteration = 0;; ++iteration) {
        BasisBlock block = multiplied(basis_.take_next());
        setting_.wait();
        basis_.add(std::move(block), std::max(width_, setting_.decision.dimensions));
        if (iteration == 0) frobenius_ = squares_->value(s_).get();
        tell();
        if (is_enough(iteration)) break;
        basis_.extend(values_to_improve(), std::max(width_, wanted() + options().oversampling));
    }
    basis_.estimate_residuals(std::ssize(basis_.estimate().values));
}

std::vector<Index> Iteration::values_to_improve() const {
    const SpectrumEstimate& estimate = basis_.estimate();
    // Where it takes long, all that there is.
    const bool all = setting_.growth == Setting::Growth::fewest_passes || !options().tolerance ||
                     passes_ > options().most_passes / 3;
    const Index most = std::min(width_, basis_.room());
    std::vector<Index> chosen;
    for (Index k = 0; k < (all ? std::ssize(estimate.values) : wanted()) && std::ssize(chosen) < most; ++k)
        if (all || error(estimate.errors[static_cast<std::size_t>(k)]) > *options().tolerance) chosen.push_back(k);
    return chosen;
}

void Iteration::tell() const {
    if (!options().progress || !s_.engine().is_first()) return;
    options().progress(fmt::format("pass {}: {} values, error about {:.0e}", passes_, wanted(),
                                   error(basis_.estimate().error(wanted()))));
}

/// How many values are to be right: those that were asked for, or that explain enough.
Index Iteration::wanted() const {
    const std::vector<double>& values = basis_.estimate().values;
    const Index most = std::min(setting_.decision.dimensions, static_cast<Index>(values.size()));
    if (!options().explained) return most;
    Decomposition guess{.rows = basis_.rows(), .cols = basis_.rows()};
    for (const double theta : values) guess.values.push_back(value_of(theta));
    guess.trace = setting_.trace;
    guess.frobenius = frobenius_;
    guess.distances = options().distances;
    return dimensions_explaining(guess, symmetric() ? Analysis::scaling : Analysis::components, *options().explained,
                                 most);
}

bool Iteration::is_enough(int iteration) const {
    if (passes_ >= options().most_passes || basis_.room() == 0 || frobenius_ <= setting_.negligible) return true;
    if (!options().tolerance) return iteration >= options().iterations;
    return error(basis_.estimate().error(wanted())) <= *options().tolerance;
}

void Iteration::report(double factor, Decomposition& result) const {
    result.frobenius = frobenius_ * factor * factor;
    result.passes = passes_;
    result.products = products_;
    result.algorithm = setting_.decision.algorithm;
    report_values(factor, result);
    report_vectors(factor, result);
    fix_signs(result);
}

void Iteration::report_values(double factor, Decomposition& result) const {
    const SpectrumEstimate& estimate = basis_.estimate();
    result.wanted = wanted();
    if (frobenius_ <= setting_.negligible) {
        result.frobenius = 0;
        result.values.assign(static_cast<std::size_t>(result.wanted), 0.0);
        result.rest_at_most = 0;
        return;
    }
    double rest = -1;
    for (std::size_t k = 0; k < estimate.values.size(); ++k) {
        const double theta = estimate.values[k];
        if (std::cmp_less(k, result.wanted) || estimate.errors[k] <= options().tolerance.value_or(1e-8))
            result.values.push_back(factor * value_of(theta));
        else
            rest = std::max(rest, value_of(std::abs(theta) + estimate.residuals[k]));
    }
    // Without one that is left, nothing is known of those that the basis has not met.
    result.rest_at_most = rest >= 0 ? factor * rest : std::numeric_limits<double>::infinity();
    result.error_estimate = std::max(error(estimate.error(result.wanted)), std::numeric_limits<double>::epsilon());
    result.residual = estimate.residual(result.wanted);
}

void Iteration::report_vectors(double factor, Decomposition& result) const {
    const Index k = result.wanted;
    std::vector<double> vectors = basis_.vectors(k);
    if (symmetric()) {
        result.left = std::move(vectors);
        return;
    }
    result.right = std::move(vectors);
    result.left = basis_.multiplied_vectors(k);
    // A·v = σ·u: the length of each is its value, with all digits, where a root of an eigenvalue of Aᵀ·A has half.
    for (Index c = 0; c < k; ++c) {
        double* column = result.left.data() + c * result.rows;
        const double length = std::sqrt(std::inner_product(column, column + result.rows, column, 0.0));
        if (length > 0) std::for_each(column, column + result.rows, [=](double& x) { x /= length; });
        if (result.frobenius > 0) result.values[static_cast<std::size_t>(c)] = length * factor;
    }
}

}  // namespace tesela::mds
