#pragma once

#include "tesela/algs/compressed_cut.hpp"
#include "tesela/geo/covariance.hpp"
#include "tesela/geo/model.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tesela::geo {

/// The rank that a tile of the covariances of points [i, i + size) with [j, j + size) is compressed to, or dense_rank;
/// `first` is (i, j), the accuracy that of the tile in the Frobenius norm.
[[nodiscard]] Index tile_rank(const Covariance& covariance, const PointSet& points, double accuracy, ElementIndex first,
                              Index size);

/// By which speeds the cheapest cut is found: those of a usual machine, with which it is the same wherever it is asked
/// for, or those that this core is measured to have now.
enum class Speeds : std::uint8_t { usual, measured };

/// How tiles are sampled.
struct Sampling {
    /// No tile beyond the first of each size and distance after so much work, as compression_cost counts it with usual
    /// speeds.
    double work = std::numeric_limits<double>::infinity();
    Index threads = 1;  ///< 0: one per usable core; ranks do not depend on it
    Speeds speeds = Speeds::usual;
};

/// A tenth of the work of so many exact evaluations with n observations.
[[nodiscard]] double sampling_work(Index n, double evaluations);

/// What a covariance takes, and how fast this core is otherwise, in a few hundredths of a second.
[[nodiscard]] CompressedRates measure_rates(const Covariance& covariance, const PointSet& points);

/// What the ranks of a compressed covariance matrix will be, from a few of its tiles: of three sizes, at distances from
/// the diagonal of 1, 2, 4 … tiles, four to eight of each or as many as the work allows. Ranks of other sizes and
/// distances lie between these, or on where they lead to, on logarithmic scales. Ranks are a function of the covariance
/// and the points alone: the same on every node.
class RankSample {
public:
    /// `accuracy` is that of a tile, in the Frobenius norm; the points are in the order of a curve.
    RankSample(const Covariance& covariance, const PointSet& points, double accuracy, const Sampling& sampling = {});

    /// Of tiles of so many rows, this many tiles below the diagonal (at least 1): the square root of the mean square,
    /// which is what work depends on.
    [[nodiscard]] double rank(Index tile, Index distance) const;
    /// Of all tiles below the diagonal.
    [[nodiscard]] double mean_rank(Index tile) const;
    /// The cheapest way to cut the matrix and to store its tiles, for these workers: see cheapest_compressed_cut.
    [[nodiscard]] CompressedCut cheapest_cut(const Crew& crew, const CompressedCut& given = {0, 0}) const;
    /// How many tiles were looked at.
    [[nodiscard]] Index sampled() const { return sampled_; }
    /// What generation and factorisation cost when it is cut like that, over what the dense ones do.
    [[nodiscard]] double cost_over_dense(const CompressedCut& cut, const Crew& crew) const;
    /// Bytes of the matrix when it is cut like that, over those of the dense one.
    [[nodiscard]] double bytes_over_dense(const CompressedCut& cut) const;

    /// Generation and factorisation by these workers, with these ranks and the speeds it was asked for; lives no
    /// longer than this.
    [[nodiscard]] CompressedProblem problem(const Crew& crew) const {
        return {.n = points_,
                .crew = crew,
                .rank = [this](Index tile, Index distance) { return rank(tile, distance); },
                .rates = rates_};
    }
    /// Of the cost of exact evaluations by one worker, the part that compressed ones take at best, by usual speeds: the
    /// same on every node and in every run, whatever was measured.
    [[nodiscard]] double usual_cost_over_dense() const;
    /// Of the cost of an exact evaluation, the part that sampling takes.
    [[nodiscard]] double work_over_dense() const { return work_ / dense_cholesky_cost(points_); }

private:
    struct OfSize {
        Index tile = 0;
        Index samples = 0;          ///< of each distance, at most
        std::vector<double> ranks;  ///< at distances 1, 2, 4 …
        [[nodiscard]] double at(double distance) const;
    };
    class Sampler;
    Index points_;
    std::vector<OfSize> sizes_;  ///< from small to large
    Index sampled_ = 0;
    double work_ = 0;  ///< as compression_cost counts it
    CompressedRates rates_{};
};

/// How many evaluations follow where parameters are known, or not yet.
[[nodiscard]] double expected_evaluations(const std::optional<CovarianceParameters>& theta);

/// Of observations, in whatever order. Where parameters are not known yet, as before a fit, those of a field that
/// varies over a tenth of the region, as rough as an exponential one, are taken. `accuracy` is relative to sigma2.
/// Takes little more than a tenth of the work of the exact evaluations that follow: one, or those of a fit.
[[nodiscard]] RankSample sample_ranks(const Observations& observations, const Model& model, double accuracy,
                                      const std::optional<CovarianceParameters>& theta, Sampling sampling = {});

}  // namespace tesela::geo
