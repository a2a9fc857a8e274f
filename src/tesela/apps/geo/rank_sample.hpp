#pragma once

#include "tesela/algs/tile_size.hpp"
#include "tesela/apps/geo/model.hpp"
#include "tesela/kernels/covariance.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace tesela::geo {

/// The rank that a tile of the covariances of points [i, i + size) with [j, j + size) is compressed to, or dense_rank;
/// `first` is (i, j), the accuracy that of the tile in the Frobenius norm.
[[nodiscard]] Index tile_rank(const Covariance& covariance, const PointSet& points, double accuracy, ElementIndex first,
                              Index size);

/// When enough tiles are sampled.
struct SamplingLimits {
    /// No further round through all sizes and distances after so much work; the first is always made.
    double work = std::numeric_limits<double>::infinity();
};

/// A tenth of the work of so many exact evaluations with n observations.
[[nodiscard]] SamplingLimits limits_for(Index n, double evaluations);

/// What the ranks of a compressed covariance matrix will be, from a few of its tiles: of three sizes, at distances from
/// the diagonal of 1, 2, 4 … tiles, four to eight of each or as many as the limits allow. Ranks of other sizes and
/// distances lie between these, or on where they lead to, on logarithmic scales. A function of the covariance and the
/// points alone: the same on every node.
class RankSample {
public:
    /// `accuracy` is that of a tile, in the Frobenius norm; the points are in the order of a curve.
    RankSample(const Covariance& covariance, const PointSet& points, double accuracy,
               const SamplingLimits& limits = {});

    /// Of tiles of so many rows, this many tiles below the diagonal (at least 1): the square root of the mean square,
    /// which is what work depends on.
    [[nodiscard]] double rank(Index tile, Index distance) const;
    /// Of all tiles below the diagonal.
    [[nodiscard]] double mean_rank(Index tile) const;
    /// The cheapest way to cut the matrix and to store its tiles, for so many workers: see cheapest_compressed_cut.
    [[nodiscard]] CompressedCut cheapest_cut(Index workers, const CompressedCut& given = {0, 0}) const;
    /// How many tiles were looked at, and what that cost, as compression_cost counts it.
    [[nodiscard]] Index sampled() const { return sampled_; }
    [[nodiscard]] double work() const { return work_; }
    /// What generation and factorisation cost when it is cut like that, over what the dense ones do.
    [[nodiscard]] double cost_over_dense(const CompressedCut& cut, Index workers) const;
    /// Bytes of the matrix when it is cut like that, over those of the dense one.
    [[nodiscard]] double bytes_over_dense(const CompressedCut& cut) const;

private:
    [[nodiscard]] RankAt ranks() const {
        return [this](Index tile, Index distance) { return rank(tile, distance); };
    }
    struct OfSize {
        Index tile = 0;
        Index samples = 0;          ///< of each distance, at most
        std::vector<double> ranks;  ///< at distances 1, 2, 4 …
        [[nodiscard]] double at(double distance) const;
    };
    /// One more tile of each distance.
    void sample(const Covariance& covariance, const PointSet& points, double accuracy, Index round, OfSize& size);
    Index points_;
    std::vector<OfSize> sizes_;  ///< from small to large
    Index sampled_ = 0;
    double work_ = 0;
};

/// How many evaluations follow where parameters are known, or not yet.
[[nodiscard]] double expected_evaluations(const std::optional<CovarianceParameters>& theta);

/// Of observations, in whatever order. Where parameters are not known yet, as before a fit, those of a field that
/// varies over a tenth of the region, as rough as an exponential one, are taken. `accuracy` is relative to sigma2.
/// Takes little more than a tenth of the work of the exact evaluations that follow: one, or those of a fit.
[[nodiscard]] RankSample sample_ranks(const Observations& observations, const Model& model, double accuracy,
                                      const std::optional<CovarianceParameters>& theta);

}  // namespace tesela::geo
