#pragma once

#include "harness/table.hpp"

#include "tesela/distribution/weights.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tesela::bench {

/// Paper 004's st-2D-sqexp as its figures have it: points in the unit square in the order of a Hilbert curve, squared
/// exponential covariance with range 0.1, tiles of 2700 points compressed to 1e-8.
struct PaperCase {
    static constexpr Index tile = 2700;
    static constexpr double accuracy = 1e-8;
    static constexpr double range = 0.1;
};

/// Ranks of some tiles of the case with so many tile rows, at all distances between their points: rows {"tiles", "i",
/// "j", "distance", "rank"}. Each is compressed at its full size by the kernel that runs use. The distance is that of
/// the centres of both groups of points, in sides of a square that holds as many.
[[nodiscard]] std::vector<Row> sample_ranks(Index tiles);

/// The ranks of all tiles of the case, from those of a sample: the mean of those at about the same distance, linear
/// between; the diagonal is dense.
class SampledRanks {
public:
    /// Takes the rows with so many tiles. Throws Error if there are none.
    SampledRanks(const std::vector<Row>& sample, Index tiles);

    [[nodiscard]] const RankMap& map() const { return map_; }
    [[nodiscard]] Index largest() const;
    /// Of the tiles below the diagonal.
    [[nodiscard]] double mean() const;
    /// What the ranks of the sample differ from those of the map by, on average, over the mean of the sample.
    [[nodiscard]] double relative_error() const { return relative_error_; }

private:
    [[nodiscard]] double rank_at(double distance) const;
    std::vector<std::pair<double, double>> curve_;  // distance and rank
    RankMap map_;
    double relative_error_ = 0;
};

}  // namespace tesela::bench
