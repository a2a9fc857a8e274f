#include "tesela/apps/geo/rank_sample.hpp"

#include "tesela/apps/geo/fit.hpp"
#include "tesela/apps/geo/tile_accuracy.hpp"
#include "tesela/base/error.hpp"
#include "tesela/kernels/covariance_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>

namespace tesela::geo {
namespace {

/// Room for one tile that is looked at and thrown away.
class PassingRoom final : public TileRoom {
public:
    using TileRoom::TileRoom;
    void* replace(Index rank, Index singles) noexcept override try {
        TileShape size = shape;
        size.rank = rank;
        size.singles = singles;
        elements.resize(stored_bytes(size, sizeof(double)) / sizeof(double) + 1);  // never null, also with rank 0
        shape.rank = rank;
        return elements.data();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    TileShape shape{};
    std::vector<double> elements;
};

double power_between(double x, double x0, double y0, double x1, double y1) {
    // Ranks may be 0, which has no logarithm; they do not fall as tiles grow, nor grow faster than these.
    const double slope = std::clamp(std::log((y1 + 1) / (y0 + 1)) / std::log(x1 / x0), 0.0, 1.0);
    return (y0 + 1) * std::pow(x / x0, slope) - 1;
}

}  // namespace

SamplingLimits limits_for(Index n, double evaluations) {
    constexpr double share = 0.1;
    return {.work = share * evaluations * dense_cholesky_cost(n)};
}

Index tile_rank(const Covariance& covariance, const PointSet& points, double accuracy, ElementIndex first, Index size) {
    PassingRoom room(accuracy);
    room.shape = {size, size, 0};
    const Tile target{nullptr, room.shape, size, &room};
    const CovarianceArguments arguments{
        .covariance = &covariance, .rows = &points, .cols = &points, .first = first, .sets = ObservationSets::same};
    const KernelResult result = covariance_kernel.cpu({.tiles = {&target, 1}, .arguments = &arguments});
    if (result.failure != Failure::none) throw Error("there is no memory to sample ranks in tiles of {} rows", size);
    return room.shape.rank;
}

RankSample::RankSample(const Covariance& covariance, const PointSet& points, double accuracy,
                       const SamplingLimits& limits)
    : points_(points.size()) {
    if (points_ < 2) throw Error("ranks are sampled from at least two points; there are {}", points_);
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
    const Index most = std::ranges::max(sizes_, {}, &OfSize::samples).samples;
    for (Index round = 0; round < most && (round == 0 || work_ < limits.work); ++round)
        for (std::size_t k = 0; k < sizes_.size(); ++k) {
            // The largest takes several times as long as all others.
            if (round == 0 && k == 2 && work_ > limits.work / 5) {
                sizes_.resize(k);
                break;
            }
            if (round < sizes_[k].samples) sample(covariance, points, accuracy, round, sizes_[k]);
        }
    for (OfSize& size : sizes_)  // chance apart, they fall
        for (std::size_t k = 1; k < size.ranks.size(); ++k) size.ranks[k] = std::min(size.ranks[k], size.ranks[k - 1]);
}

void RankSample::sample(const Covariance& covariance, const PointSet& points, double accuracy, Index round,
                        OfSize& size) {
    Index distance = 1;
    for (double& mean : size.ranks) {
        const Index last = points_ - (distance + 1) * size.tile;  // where the column's points may begin
        // Multiples of the golden ratio lie evenly without a period that a curve could have too.
        const double place = std::fmod(static_cast<double>(round + distance) * std::numbers::phi, 1.0);
        const auto j = static_cast<Index>(place * static_cast<double>(last));
        const TileShape tile{
            size.tile, size.tile,
            tile_rank(covariance, points, accuracy, {.i = j + distance * size.tile, .j = j}, size.tile)};
        const auto rank = static_cast<double>(tile.rank == dense_rank ? size.tile : tile.rank);
        // The root of the mean square so far.
        mean = std::sqrt((mean * mean * static_cast<double>(round) + rank * rank) / static_cast<double>(round + 1));
        work_ += compression_cost(tile);
        ++sampled_;
        distance *= 2;
    }
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

CompressedCut RankSample::cheapest_cut(Index workers, const CompressedCut& given) const {
    return cheapest_compressed_cut(points_, workers, ranks(), given);
}

double RankSample::cost_over_dense(const CompressedCut& cut, Index workers) const {
    return compressed_cholesky_cost(points_, cut, workers, ranks()) * static_cast<double>(workers) /
           dense_cholesky_cost(points_);
}

double RankSample::bytes_over_dense(const CompressedCut& cut) const {
    const auto n = static_cast<double>(points_);
    return compressed_bytes(points_, cut, ranks()) / (4 * n * n);
}

double expected_evaluations(const std::optional<CovarianceParameters>& theta) {
    return theta ? 1 : static_cast<double>(usual_evaluations);
}

RankSample sample_ranks(const Observations& observations, const Model& model, double accuracy,
                        const std::optional<CovarianceParameters>& theta) {
    const Observations sorted = in_hilbert_order(observations, model.metric);
    const PointSet points(model.metric, sorted.coordinates);
    const double diameter = points.diameter_bound();
    const CovarianceParameters guess{.sigma2 = 1, .range = diameter / 10, .smoothness = 0.5};
    const CovarianceParameters& used = theta ? *theta : guess;
    return {Covariance(model.family, used, model.metric, diameter), points, accuracy * used.sigma2,
            limits_for(points.size(), expected_evaluations(theta))};
}

}  // namespace tesela::geo
