#include "tesela/geo/rank_sample.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/in_parallel.hpp"
#include "tesela/base/processor_time.hpp"
#include "tesela/geo/covariance_kernel.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/tile_accuracy.hpp"
#include "tesela/kernels/owned_tile.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace tesela::geo {
namespace {

double power_between(double x, double x0, double y0, double x1, double y1) {
    // Ranks may be 0, which has no logarithm; they do not fall as tiles grow, nor grow faster than these.
    const double slope = std::clamp(std::log((y1 + 1) / (y0 + 1)) / std::log(x1 / x0), 0.0, 1.0);
    return (y0 + 1) * std::pow(x / x0, slope) - 1;
}

}  // namespace

double sampling_work(Index n, double evaluations) {
    constexpr double share = 0.1;
    return share * evaluations * dense_cholesky_cost(n);
}

CompressedRates measure_rates(const Covariance& covariance, const PointSet& points) {
    constexpr Index most = 128;
    const Index size = std::min(most, points.size());
    std::vector<double> elements(static_cast<std::size_t>(size * size));
    const Tile tile{elements.data(), {size, size}, size};
    // The first points with the last ones: at distances as of most of the matrix.
    const CovarianceArguments arguments{.covariance = &covariance,
                                        .rows = &points,
                                        .cols = &points,
                                        .first = {.i = points.size() - size, .j = 0},
                                        .sets = ObservationSets::same};
    const double seconds = least_thread_seconds(3, [&] {
        (void)covariance_kernel.cpu({.tiles = {&tile, 1}, .arguments = &arguments});
    });
    return {.low_rank = measure_low_rank_speed(), .covariance_seconds = seconds / static_cast<double>(elements.size())};
}

Index tile_rank(const Covariance& covariance, const PointSet& points, double accuracy, ElementIndex first, Index size) {
    OwnedTile looked_at(size, size, accuracy);
    const Tile target = looked_at.tile();
    const CovarianceArguments arguments{
        .covariance = &covariance, .rows = &points, .cols = &points, .first = first, .sets = ObservationSets::same};
    const KernelResult result = covariance_kernel.cpu({.tiles = {&target, 1}, .arguments = &arguments});
    if (result.failure != Failure::none) throw Error("there is no memory to sample ranks in tiles of {} rows", size);
    return looked_at.shape().rank;
}

/// Looks at tiles, several at a time, and adds up what it sees.
class RankSample::Sampler {
public:
    Sampler(RankSample& sample, const Covariance& covariance, const PointSet& points, double accuracy, Index threads)
        : sample_(sample),
          covariance_(covariance),
          points_(points),
          accuracy_(accuracy),
          threads_(threads) {}

    /// Tiles of one size at each distance, in these rounds or as many as are wanted of that size.
    void add(std::size_t size, Index first_round, Index end_round) {
        const OfSize& its = sample_.sizes_[size];
        for (Index round = first_round; round < std::min(end_round, its.samples); ++round)
            for (std::size_t slot = 0; slot < its.ranks.size(); ++slot)
                places_.push_back({.size = size, .slot = slot, .round = round});
    }
    /// At those that were added. Large tiles come first, since they take longest.
    void look() {
        std::ranges::stable_sort(places_, std::greater{}, &Place::size);
        std::vector<Index> ranks(places_.size());
        in_parallel(threads_, static_cast<Index>(places_.size()), [&](Index k) {
            const auto at = static_cast<std::size_t>(k);
            ranks[at] = rank_at(places_[at]);
        });
        for (std::size_t k = 0; k < places_.size(); ++k) note(places_[k], ranks[k]);
        places_.clear();
    }

private:
    struct Place {
        std::size_t size = 0;
        std::size_t slot = 0;  ///< its distance is 2^slot
        Index round = 0;
    };

    [[nodiscard]] Index rank_at(const Place& place) const {
        const Index tile = sample_.sizes_[place.size].tile;
        const Index distance = Index{1} << place.slot;
        const Index last = points_.size() - (distance + 1) * tile;  // where the column's points may begin
        // Multiples of the golden ratio lie evenly without a period that a curve could have too.
        const double share = std::fmod(static_cast<double>(place.round + distance) * std::numbers::phi, 1.0);
        const auto j = static_cast<Index>(share * static_cast<double>(last));
        return tile_rank(covariance_, points_, accuracy_, {.i = j + distance * tile, .j = j}, tile);
    }
    void note(const Place& place, Index rank) {
        OfSize& size = sample_.sizes_[place.size];
        const auto so_far = static_cast<double>(place.round);
        const auto its = static_cast<double>(rank == dense_rank ? size.tile : rank);
        double& mean = size.ranks[place.slot];  // the root of the mean square so far
        mean = std::sqrt((mean * mean * so_far + its * its) / (so_far + 1));
        sample_.work_ += compression_cost({size.tile, size.tile, rank});
        ++sample_.sampled_;
    }

    RankSample& sample_;
    const Covariance& covariance_;
    const PointSet& points_;
    double accuracy_;
    Index threads_;
    std::vector<Place> places_;
};

RankSample::RankSample(const Covariance& covariance, const PointSet& points, double accuracy, const Sampling& sampling)
    : points_(points.size()) {
    if (points_ < 2) throw Error("ranks are sampled from at least two points; there are {}", points_);
    if (sampling.speeds == Speeds::measured) rates_ = measure_rates(covariance, points);
    // About the size that will be chosen, and to both sides of it.
    struct Plan {
        double size;
        Index samples;  // fewer of those that take longer
    };
    for (const Plan& plan : {Plan{2.5, 8}, Plan{6, 6}, Plan{14, 4}}) {
        const auto wanted = static_cast<Index>(plan.size * std::sqrt(static_cast<double>(points_)));
        const Index tile = std::clamp<Index>(wanted, 1, points_ / 2);
        if (!sizes_.empty() && sizes_.back().tile == tile) continue;
        OfSize& size = sizes_.emplace_back();
        size.tile = tile;
        size.samples = plan.samples;
        for (Index distance = 1; (distance + 1) * tile <= points_; distance *= 2) size.ranks.push_back(0);
    }
    Sampler sampler(*this, covariance, points, accuracy, sampling.threads);
    for (std::size_t k = 0; k < std::min<std::size_t>(2, sizes_.size()); ++k) sampler.add(k, 0, 1);
    sampler.look();
    // The largest takes several times as long as all others.
    if (sizes_.size() == 3 && work_ > sampling.work / 5) sizes_.pop_back();
    if (sizes_.size() == 3) sampler.add(2, 0, 1);
    sampler.look();
    const Index most = std::ranges::max(sizes_, {}, &OfSize::samples).samples;
    const double rounds = std::clamp(std::ceil(sampling.work / work_), 1.0, static_cast<double>(most));
    for (std::size_t k = 0; k < sizes_.size(); ++k) sampler.add(k, 1, static_cast<Index>(rounds));
    sampler.look();
    for (OfSize& size : sizes_)  // chance apart, they fall
        for (std::size_t k = 1; k < size.ranks.size(); ++k) size.ranks[k] = std::min(size.ranks[k], size.ranks[k - 1]);
}

double RankSample::OfSize::at(double distance) const {
    const double place = std::log2(distance);
    const auto last = static_cast<double>(ranks.size() - 1);
    if (place >= last) return ranks.back();
    const auto before = static_cast<std::size_t>(place);
    const double share = place - static_cast<double>(before);
    return (1 - share) * ranks[before] + share * ranks[before + 1];
}

double RankSample::rank(Index tile, Index distance) const {
    const auto apart = static_cast<double>(distance);
    const auto rows = static_cast<double>(tile);
    if (sizes_.size() == 1) return std::min(rows, sizes_.front().at(apart));
    std::size_t above = 1;
    while (above + 1 < sizes_.size() && sizes_[above].tile < tile) ++above;
    const OfSize& small = sizes_[above - 1];
    const OfSize& large = sizes_[above];
    const double rank = power_between(rows, static_cast<double>(small.tile), small.at(apart),
                                      static_cast<double>(large.tile), large.at(apart));
    return std::clamp(rank, 0.0, rows);
}

double RankSample::mean_rank(Index tile) const {
    const Index rows = std::max<Index>(2, ceil_div(points_, tile));
    double sum = 0;
    for (Index distance = 1; distance < rows; ++distance)
        sum += static_cast<double>(rows - distance) * rank(tile, distance);
    return 2 * sum / static_cast<double>(rows * (rows - 1));
}

CompressedCut RankSample::cheapest_cut(const Crew& crew, const CompressedCut& given) const {
    return cheapest_compressed_cut(problem(crew), given);
}

double RankSample::cost_over_dense(const CompressedCut& cut, const Crew& crew) const {
    return compressed_cholesky_cost(problem(crew), cut) * static_cast<double>(crew.workers) /
           dense_cholesky_cost(points_, rates_);
}

double RankSample::usual_cost_over_dense() const {
    CompressedProblem usual = problem({});
    usual.rates = {};
    return compressed_cholesky_cost(usual, cheapest_compressed_cut(usual)) / dense_cholesky_cost(points_);
}

double RankSample::bytes_over_dense(const CompressedCut& cut) const {
    const auto n = static_cast<double>(points_);
    return compressed_bytes(problem({}), cut) / (4 * n * n);
}

double expected_evaluations(const std::optional<CovarianceParameters>& theta) {
    return theta ? 1 : static_cast<double>(usual_evaluations);
}

RankSample sample_ranks(const Observations& observations, const Model& model, double accuracy,
                        const std::optional<CovarianceParameters>& theta, Sampling sampling) {
    const Observations sorted = in_hilbert_order(observations, model.metric);
    const PointSet points(model.metric, sorted.coordinates);
    const double diameter = points.diameter_bound();
    const CovarianceParameters guess{.sigma2 = 1, .range = diameter / 10, .smoothness = 0.5};
    const CovarianceParameters& used = theta ? *theta : guess;
    sampling.work = std::min(sampling.work, sampling_work(points.size(), expected_evaluations(theta)));
    return {Covariance(model.family, used, model.metric, diameter), points, accuracy * used.sigma2, sampling};
}

}  // namespace tesela::geo
