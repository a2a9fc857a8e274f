#pragma once

#include "tesela/geo/box.hpp"
#include "tesela/geo/likelihood.hpp"

#include <cstdint>
#include <vector>

namespace tesela::geo {

/// A Gaussian field whose parameters are known.
struct Field {
    CovarianceFamily family = CovarianceFamily::matern;
    CovarianceParameters theta{};
    Metric metric = Metric::euclidean;
    double mean = 0;
    /// As in Model.
    double jitter = 0;
};

struct SampleOptions {
    std::uint64_t seed = 1;
    /// Fields drawn with one factorisation; the first is the one that is drawn alone.
    Index draws = 1;
    /// As in LikelihoodOptions.
    Index tile = 0;
    std::optional<Distribution> distribution{};
};

/// n points drawn uniformly from the unit square: columns x and y, a function of the seed alone.
[[nodiscard]] std::vector<std::vector<double>> random_points(Index n, std::uint64_t seed);

/// n points drawn uniformly from a box, in the same way.
[[nodiscard]] std::vector<std::vector<double>> random_points(Index n, std::uint64_t seed, const Box& box);

/// Values of the field, noise included, at points given by columns of coordinates: a column mean + L·e per draw for
/// Σ = L·Lᵀ and standard normal e(i) that depends on the seed, the draw and i only. Tile size and number of nodes
/// change the values by rounding only. Throws NotPositiveDefinite unless Σ is, with the parameters and the closest
/// points.
[[nodiscard]] std::vector<std::vector<double>> sample_fields(Stream& stream, const Field& field,
                                                             const std::vector<std::vector<double>>& coordinates,
                                                             const SampleOptions& options = {});
/// The first of them.
[[nodiscard]] std::vector<double> sample(Stream& stream, const Field& field,
                                         const std::vector<std::vector<double>>& coordinates,
                                         const SampleOptions& options = {});

}  // namespace tesela::geo
