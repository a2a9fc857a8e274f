#include "paper004/sampled_ranks.hpp"

#include "shared/covariance_problem.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/geo/rank_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace tesela::bench {
namespace {

/// Distances from which a class of tiles begins, and how many of each are compressed.
constexpr std::array<double, 12> distance_classes{0, 1.25, 1.75, 2.5, 3.5, 4.5, 5.5, 7, 9, 11, 13, 16};
constexpr Index tiles_per_class = 6;

std::size_t distance_class(double distance) {
    return static_cast<std::size_t>(std::ranges::upper_bound(distance_classes, distance) - distance_classes.begin() -
                                    1);
}

CovarianceProblem papers_problem(Index points) {
    CovarianceProblem problem;
    problem.n = points;
    problem.family = CovarianceFamily::squared_exponential;
    problem.theta.range = PaperCase::range;
    problem.accuracy = PaperCase::accuracy;
    return problem;
}

/// The centres of groups of points that follow each other, in sides of a square that holds one of them.
class GroupCentres {
public:
    GroupCentres(const PointSet& points, Index groups) {
        const Index each = points.size() / groups;
        const double side = 1 / std::sqrt(static_cast<double>(groups));
        for (Index g = 0; g < groups; ++g) {
            std::array<double, 2> centre{};
            for (std::size_t d = 0; d < 2; ++d) {
                const auto x = points.coordinate(static_cast<Index>(d))
                                   .subspan(static_cast<std::size_t>(g * each), static_cast<std::size_t>(each));
                centre[d] = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(each) / side;
            }
            centres_.push_back(centre);
        }
    }
    [[nodiscard]] double distance(Index i, Index j) const {
        const auto& a = centres_[static_cast<std::size_t>(i)];
        const auto& b = centres_[static_cast<std::size_t>(j)];
        return std::hypot(a[0] - b[0], a[1] - b[1]);
    }

private:
    std::vector<std::array<double, 2>> centres_;
};

/// So many tiles of each class, drawn at random.
std::vector<TileIndex> draw_tiles(const GroupCentres& centres, Index tiles) {
    const Random random(4);
    std::array<Index, distance_classes.size()> drawn{};
    std::vector<TileIndex> result;
    constexpr std::uint64_t attempts = 20000;
    for (std::uint64_t k = 0; k < attempts; ++k) {
        const auto any = [&](std::uint64_t which) {
            return std::min(tiles - 1, static_cast<Index>(random.uniform({k, which}) * static_cast<double>(tiles)));
        };
        const TileIndex tile{std::max(any(0), any(1)), std::min(any(0), any(1))};
        if (tile.i == tile.j || std::ranges::find(result, tile) != result.end()) continue;
        Index& count = drawn[distance_class(centres.distance(tile.i, tile.j))];
        if (count++ < tiles_per_class) result.push_back(tile);
    }
    return result;
}

}  // namespace

std::vector<Row> sample_ranks(Index tiles) {
    const CovarianceProblem problem = papers_problem(tiles * PaperCase::tile);
    const CovarianceMatrix covariances(problem);
    const PointSet& points = covariances.points();
    const GroupCentres centres(points, tiles);
    std::vector<Row> rows;
    for (const TileIndex tile : draw_tiles(centres, tiles)) {
        const Index rank = geo::tile_rank(covariances.covariance(), points, problem.compression().accuracy,
                                          {tile.i * PaperCase::tile, tile.j * PaperCase::tile}, PaperCase::tile);
        rows.push_back({{"tiles", tiles},
                        {"i", tile.i},
                        {"j", tile.j},
                        {"distance", centres.distance(tile.i, tile.j)},
                        {"rank", rank}});
    }
    return rows;
}

SampledRanks::SampledRanks(const std::vector<Row>& sample, Index tiles) {
    struct Class {
        double distance = 0, rank = 0, count = 0;
    };
    std::map<std::size_t, Class> classes;
    for (const Row& row : sample) {
        if (row.at("tiles").get<Index>() != tiles) continue;
        const auto distance = row.at("distance").get<double>();
        Class& c = classes[distance_class(distance)];
        c.distance += distance;
        c.rank += row.at("rank").get<double>();
        c.count += 1;
    }
    if (classes.empty())
        throw Error("no ranks were sampled for {} tiles: run tesela-papers paper004 --figures ranks", tiles);
    for (const auto& [number, c] : classes) curve_.emplace_back(c.distance / c.count, c.rank / c.count);

    // The curve is the same for few points; a hundred in each tile say where its centre is.
    const GroupCentres centres(CovarianceMatrix(papers_problem(100 * tiles)).points(), tiles);
    map_ = {.grid = {tiles, tiles}, .ranks = std::vector<Index>(static_cast<std::size_t>(tiles * tiles), dense_rank)};
    for (Index i = 0; i < tiles; ++i)
        for (Index j = 0; j < i; ++j)
            map_.ranks[static_cast<std::size_t>(i * tiles + j)] = std::llround(rank_at(centres.distance(i, j)));
    double error = 0, sum = 0;
    for (const Row& row : sample) {
        if (row.at("tiles").get<Index>() != tiles) continue;
        const auto rank = row.at("rank").get<double>();
        const Index guess =
            map_.ranks[static_cast<std::size_t>(row.at("i").get<Index>() * tiles + row.at("j").get<Index>())];
        error += std::abs(rank - static_cast<double>(guess));
        sum += rank;
    }
    relative_error_ = sum > 0 ? error / sum : 0;
}

double SampledRanks::rank_at(double distance) const {
    const auto after = std::ranges::upper_bound(curve_, distance, {}, &std::pair<double, double>::first);
    if (after == curve_.begin()) return curve_.front().second;
    if (after == curve_.end()) return curve_.back().second;
    const auto& [x0, y0] = *(after - 1);
    const auto& [x1, y1] = *after;
    return y0 + (y1 - y0) * (distance - x0) / (x1 - x0);
}

Index SampledRanks::largest() const { return std::ranges::max(map_.ranks); }

double SampledRanks::mean() const {
    const Index tiles = map_.grid.rows;
    double sum = 0;
    for (Index i = 0; i < tiles; ++i)
        for (Index j = 0; j < i; ++j) sum += static_cast<double>(map_.ranks[static_cast<std::size_t>(i * tiles + j)]);
    return 2 * sum / static_cast<double>(tiles * (tiles - 1));
}

}  // namespace tesela::bench
