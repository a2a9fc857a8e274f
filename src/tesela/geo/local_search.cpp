#include "tesela/geo/internal/local_search.hpp"

#include <nlopt.hpp>

#include <algorithm>
#include <cmath>
#include <exception>

namespace tesela::geo {
namespace {

/// A search through NLopt: asks, keeps the best, and carries what was thrown past the C code.
class NloptSearch {
public:
    NloptSearch(const Ask& ask, const SearchBox& box, SearchPoint start)
        : ask_(ask),
          box_(box),
          best_(std::move(start)),
          worst_(best_.log_likelihood) {}

    SearchPoint run(nlopt::algorithm algorithm, double tolerance) {
        nlopt::opt optimiser(algorithm, static_cast<unsigned>(box_.lower.size()));
        optimiser.set_lower_bounds(box_.lower);
        optimiser.set_upper_bounds(box_.upper);
        optimiser.set_initial_step(box_.step);
        optimiser.set_xtol_abs(tolerance);
        optimiser.set_min_objective(objective, this);
        std::vector<double> logs = best_.logs;
        double least = 0;
        try {
            optimiser.optimize(logs, least);
        } catch (const std::exception&) {
            // Steps so small that rounding hides what they gain end a search too; the caller looks at the slope.
            if (failure_) std::rethrow_exception(failure_);
        }
        return std::move(best_);
    }

private:
    static double objective(const std::vector<double>& logs, std::vector<double>& slope, void* self) {
        auto& search = *static_cast<NloptSearch*>(self);
        try {
            // NLopt may ask once more after it was told to stop.
            if (!search.failure_) return search.penalised(logs, slope);
        } catch (...) {
            search.failure_ = std::current_exception();
        }
        throw nlopt::forced_stop();
    }

    /// Where Σ is not positive definite it is somewhat worse than anything seen: a huge number would spoil the model
    /// that the optimiser makes of the function.
    double penalised(const std::vector<double>& logs, std::vector<double>& slope) {
        SearchPoint point = ask_(logs, slope.empty() ? Wanted::value : Wanted::slope);
        std::ranges::fill(slope, 0.0);
        if (!std::isfinite(point.log_likelihood)) return -worst_ + 10 + 0.1 * std::abs(worst_);
        std::ranges::transform(point.slope, slope.begin(), [](double s) { return -s; });
        worst_ = std::min(worst_, point.log_likelihood);
        const double value = point.log_likelihood;
        if (value >= best_.log_likelihood) best_ = std::move(point);
        return -value;
    }

    const Ask& ask_;
    const SearchBox& box_;
    SearchPoint best_;
    double worst_;
    std::exception_ptr failure_;
};

bool may_move(const SearchPoint& point, const SearchBox& box, std::size_t k) {
    constexpr double at_bound = 1e-9;
    if (box.upper[k] <= box.lower[k]) return false;
    return point.slope[k] < 0 ? point.logs[k] > box.lower[k] + at_bound : point.logs[k] < box.upper[k] - at_bound;
}

/// (F + λ·diag F)·s = slope for the variables that may move, by Gauss elimination without pivoting: F is positive
/// semidefinite and at most 4 x 4.
std::vector<double> damped_step(const SearchPoint& point, const SearchBox& box, double damping) {
    constexpr double least_diagonal = 1e-9;
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < point.logs.size(); ++k)
        if (may_move(point, box, k)) free.push_back(k);
    const auto m = static_cast<Index>(free.size());
    SmallMatrix a(m, m);
    std::vector<double> x;
    for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < m; ++j)
            a(i, j) = point.information(static_cast<Index>(free[static_cast<std::size_t>(i)]),
                                        static_cast<Index>(free[static_cast<std::size_t>(j)]));
        a(i, i) += damping * (a(i, i) + least_diagonal);
        x.push_back(point.slope[free[static_cast<std::size_t>(i)]]);
    }
    const auto at = [&](Index i) -> double& { return x[static_cast<std::size_t>(i)]; };
    for (Index k = 0; k < m; ++k)
        for (Index i = k + 1; i < m; ++i) {
            const double factor = a(i, k) / a(k, k);
            for (Index j = k; j < m; ++j) a(i, j) -= factor * a(k, j);
            at(i) -= factor * at(k);
        }
    for (Index i = m - 1; i >= 0; --i) {
        for (Index j = i + 1; j < m; ++j) at(i) -= a(i, j) * at(j);
        at(i) /= a(i, i);
    }
    std::vector<double> step(point.logs.size(), 0.0);
    for (std::size_t k = 0; k < free.size(); ++k) step[free[k]] = x[k];
    return step;
}

/// Newton's steps with the information in place of the second derivatives, damped as Levenberg and Marquardt do.
SearchPoint score(const Ask& ask, const SearchBox& box, const SearchPoint& start, double tolerance) {
    constexpr double longest_step = 2;
    constexpr double flat = 1e-5;
    constexpr int most_trials = 6;  // more mean a ridge, on which the curvature that slopes tell is the better guide
    SearchPoint best = ask(start.logs, Wanted::information);
    double damping = 1e-3;
    for (int trial = 0; trial < most_trials && free_slope(best, box) > flat; ++trial) {
        std::vector<double> step = damped_step(best, box, damping);
        double length = 0;
        for (const double s : step) length = std::max(length, std::abs(s));
        if (!(length > tolerance * 1e-3)) break;
        for (std::size_t k = 0; k < step.size(); ++k)
            step[k] = best.logs[k] + step[k] * std::min(1.0, longest_step / length);
        SearchPoint next = ask(box.clamped(std::move(step)), Wanted::information);
        if (next.log_likelihood > best.log_likelihood) {
            const bool settled = length < tolerance;
            best = std::move(next);
            damping /= 5;
            if (settled) break;
        } else {
            damping = std::max(8 * damping, 1e-2);
        }
    }
    return best;
}

}  // namespace

std::vector<double> SearchBox::clamped(std::vector<double> logs) const {
    for (std::size_t k = 0; k < logs.size(); ++k) logs[k] = std::clamp(logs[k], lower[k], upper[k]);
    return logs;
}

double free_slope(const SearchPoint& point, const SearchBox& box) {
    double steepest = 0;
    for (std::size_t k = 0; k < point.slope.size(); ++k)
        if (may_move(point, box, k)) steepest = std::max(steepest, std::abs(point.slope[k]));
    return steepest;
}

SearchPoint climb(Optimizer optimizer, const Ask& ask, const SearchBox& box, const SearchPoint& start,
                  double tolerance) {
    switch (optimizer) {
        case Optimizer::scoring: return score(ask, box, start, tolerance);
        case Optimizer::lbfgs: return NloptSearch(ask, box, start).run(nlopt::LD_LBFGS, tolerance);
        case Optimizer::bobyqa: break;
    }
    const auto moving = std::ranges::count_if(
        box.lower, [&, k = std::size_t{0}](double lower) mutable { return lower < box.upper[k++]; });
    // BOBYQA works in at least two dimensions.
    return NloptSearch(ask, box, start).run(moving > 1 ? nlopt::LN_BOBYQA : nlopt::LN_COBYLA, tolerance);
}

SearchPoint climb_to_top(Optimizer optimizer, const Ask& ask, const SearchBox& box, const SearchPoint& start,
                         double tolerance) {
    constexpr double gain_that_counts = 1e-7;
    constexpr int most_climbs = 5;
    SearchBox steps = box;
    SearchPoint best = start;
    for (int k = 0; k < most_climbs; ++k) {
        const double before = best.log_likelihood;
        const bool again = k > 0 && optimizer == Optimizer::scoring;
        best = climb(again ? Optimizer::lbfgs : optimizer, ask, steps, best, tolerance);
        const bool gained = best.log_likelihood - before > gain_that_counts;
        if (!best.slope.empty() ? free_slope(best, box) < flat_slope || !gained : !gained) break;
        if (k == 0)
            for (double& step : steps.step) step *= 0.2;
    }
    return best;
}

}  // namespace tesela::geo
