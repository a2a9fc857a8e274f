#include "tesela/geo/conditioning.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tesela::geo {
namespace {

using Column = std::vector<double>;

double sum_of_sizes(const Column& x) {
    double sum = 0;
    for (const double value : x) sum += std::abs(value);
    return sum;
}

/// Σ⁻¹·x for one column at a time, by the factor of a likelihood.
class Inverse {
public:
    explicit Inverse(const Likelihood& likelihood)
        : stream_(likelihood.stream()),
          factor_(likelihood.factor()),
          column_(stream_, factor_.matrix().tiling().with_columns(1, 1),
                  along_diagonal(factor_.matrix().distribution(), 1), {.name = "x"}) {}

    Column operator()(Column x) {
        const auto phase = stream_.phase("condition");
        const auto values = std::make_shared<const Column>(std::move(x));
        generate(stream_, column_.view(), [values](Index i, Index) { return (*values)[static_cast<std::size_t>(i)]; });
        solve_cholesky(stream_, factor_, column_.view());
        Column result = gather(stream_, column_.view());
        require_done(stream_.wait());
        return result;
    }

private:
    Stream& stream_;
    MatrixView<double> factor_;
    Matrix<double> column_;
};

/// The largest sum of some columns of Σ, evenly spaced.
double one_norm(const Likelihood& likelihood) {
    constexpr Index columns = 32;
    const PointSet& points = likelihood.points();
    const Index n = points.size();
    Column column(static_cast<std::size_t>(n));
    double largest = 0;
    for (Index k = 0; k < std::min(n, columns); ++k) {
        likelihood.covariance().fill_tile({.rows = &points,
                                           .row_count = n,
                                           .cols = &points,
                                           .col_begin = k * n / std::min(n, columns),
                                           .col_count = 1,
                                           .out = column.data(),
                                           .ld = n,
                                           .sets = ObservationSets::same});
        largest = std::max(largest, sum_of_sizes(column));
    }
    return largest;
}

std::size_t position_of_largest(const Column& x) {
    return static_cast<std::size_t>(std::ranges::max_element(x, {}, [](double value) { return std::abs(value); }) -
                                    x.begin());
}

/// ‖Σ⁻¹‖₁ from below: the convex function ‖Σ⁻¹x‖₁ over ‖x‖₁ = 1 is greatest at a unit vector; its gradient at x is
/// Σ⁻¹·sign(Σ⁻¹x) and says which one to try next. The start is not dpocon's 1/n but the difference of the two closest
/// points, whose rows of Σ are the most alike. At last a column of alternating signs, against cancellation.
double one_norm_of_inverse(Inverse& inverse, const PointSet& points) {
    constexpr int most_steps = 4;
    const auto n = static_cast<std::size_t>(points.size());
    const PointPair pair = closest_pair(points);
    Column x(n, 0);
    x[static_cast<std::size_t>(pair.first)] = 0.5;
    x[static_cast<std::size_t>(pair.second)] = -0.5;
    double estimate = 0;
    std::size_t last = n;
    for (int step = 0; step < most_steps; ++step) {
        Column y = inverse(x);
        const double size = sum_of_sizes(y);
        if (step > 0 && size <= estimate) break;
        estimate = size;
        for (double& value : y) value = value < 0 ? -1 : 1;
        const std::size_t next = position_of_largest(inverse(std::move(y)));
        if (next == last) break;
        last = next;
        x.assign(n, 0);
        x[next] = 1;
    }
    for (std::size_t i = 0; i < n; ++i)
        x[i] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i) / static_cast<double>(n - 1));
    return std::max(estimate, 2 * sum_of_sizes(inverse(std::move(x))) / (3 * static_cast<double>(n)));
}

}  // namespace

double Conditioning::digits() const {
    return std::max(0.0, -std::log10(estimate * std::numeric_limits<double>::epsilon()));
}

Conditioning estimate_condition(const Likelihood& likelihood) {
    Inverse inverse(likelihood);
    const double of_inverse = one_norm_of_inverse(inverse, likelihood.points());
    const double estimate = one_norm(likelihood) * of_inverse;
    return {.estimate = std::isnan(estimate) ? std::numeric_limits<double>::infinity() : std::max(1.0, estimate),
            .of_inverse = of_inverse};
}

std::string explain_conditioning(const Conditioning& conditioning, const Likelihood& likelihood) {
    if (conditioning.digits() >= enough_digits) return {};
    const PointPair pair = closest_pair(likelihood.points());
    const Observations& observations = likelihood.observations();
    return fmt::format(
        "the covariance matrix is nearly singular: its condition number is at least {:.1e}, so about {:.0f} of 16 "
        "digits of what is computed with it can be trusted. The closest points, {} and {}, are {:.6g} apart. Let the "
        "nugget be free or give a larger one, merge points that are almost at one place, or give --jitter {:.0e}",
        conditioning.estimate, std::floor(conditioning.digits()), observations.where(pair.first),
        observations.where(pair.second), pair.distance, helpful_jitter(observations.size()));
}

std::string explain_compression(const Conditioning& conditioning, const Likelihood& likelihood) {
    const auto& compression = likelihood.options().compression;
    if (!compression) return {};
    // Of 2000 points in the unit square (exponential and Matérn 1.5, range 0.1, nugget 0.1 to 1e-4 of sigma2, ten tile
    // rows) log-likelihoods were off by up to 0.5 with errors of a tenth of the nugget, by 0.1 with 3 and 0.05 with 1
    // hundredth; refined by 0.15 with 3 tenths and 0.012 with one.
    const double share = compression->refine > 0 ? 1.0 / 10 : 1.0 / 30;
    const CovarianceParameters& theta = likelihood.covariance().parameters();
    const double smallest = std::max(theta.nugget, conditioning.of_inverse > 0 ? 1 / conditioning.of_inverse : 0.0);
    if (compression->accuracy * theta.sigma2 <= share * smallest) return {};
    return fmt::format(
        "tiles are accurate to {:.0e} times sigma2, which is {:.1g} of the smallest eigenvalue of the covariance "
        "matrix, "
        "about {:.1e}: the log-likelihood may be off by more than a tenth. Give --accuracy {:.0e}{}",
        compression->accuracy, compression->accuracy * theta.sigma2 / smallest, smallest,
        std::pow(10, std::floor(std::log10(share * smallest / theta.sigma2))),
        compression->refine > 0 ? "" : ", or --refine 1e-10");
}

}  // namespace tesela::geo
