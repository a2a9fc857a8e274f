#include "tesela/apps/geo/rank_sample.hpp"

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

std::vector<double> sample(const Covariance& covariance, const PointSet& points, double accuracy, Index tile,
                           Index samples) {
    std::vector<double> ranks;
    for (Index distance = 1; (distance + 1) * tile <= points.size(); distance *= 2) {
        const Index last = points.size() - (distance + 1) * tile;  // where the column's points may begin
        double squares = 0;
        for (Index k = 0; k < samples; ++k) {
            // Multiples of the golden ratio lie evenly without a period that a curve could have too.
            const double place = std::fmod(static_cast<double>(k + distance) * std::numbers::phi, 1.0);
            const auto j = static_cast<Index>(place * static_cast<double>(last));
            const Index found = tile_rank(covariance, points, accuracy, {j + distance * tile, j}, tile);
            const auto rank = static_cast<double>(found == dense_rank ? tile : found);
            squares += rank * rank / static_cast<double>(samples);
        }
        const double rank = std::sqrt(squares);
        ranks.push_back(ranks.empty() ? rank : std::min(ranks.back(), rank));  // chance apart, they fall
    }
    return ranks;
}

double power_between(double x, double x0, double y0, double x1, double y1) {
    // Ranks may be 0, which has no logarithm; they do not fall as tiles grow, nor grow faster than these.
    const double slope = std::clamp(std::log((y1 + 1) / (y0 + 1)) / std::log(x1 / x0), 0.0, 1.0);
    return (y0 + 1) * std::pow(x / x0, slope) - 1;
}

}  // namespace

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

RankSample::RankSample(const Covariance& covariance, const PointSet& points, double accuracy) : points_(points.size()) {
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
        sizes_.push_back({.tile = tile, .ranks = sample(covariance, points, accuracy, tile, plan.samples)});
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
    const auto n = static_cast<double>(points_);
    return compressed_cholesky_cost(points_, cut, workers, ranks()) * static_cast<double>(workers) / (n * n * n / 3);
}

double RankSample::bytes_over_dense(const CompressedCut& cut) const {
    const auto n = static_cast<double>(points_);
    return compressed_bytes(points_, cut, ranks()) / (4 * n * n);
}

RankSample sample_ranks(const Observations& observations, const Model& model, double accuracy,
                        const std::optional<CovarianceParameters>& theta) {
    const Observations sorted = in_hilbert_order(observations, model.metric);
    const PointSet points(model.metric, sorted.coordinates);
    const double diameter = points.diameter_bound();
    const CovarianceParameters guess{.sigma2 = 1, .range = diameter / 10, .smoothness = 0.5};
    const CovarianceParameters& used = theta ? *theta : guess;
    return {Covariance(model.family, used, model.metric, diameter), points, accuracy * used.sigma2};
}

}  // namespace tesela::geo
