#pragma once

// The likelihood of geostatistics as a stream: generation, Cholesky, determinant, solve and the sums over them.

#include "support.hpp"
#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/sample.hpp"

#include <utility>

namespace tesela::testing {

/// Two evaluations with tiles of `tile_size`.
inline void evaluate_likelihood(Stream& s, const Distribution& owners, geo::Overlap overlap) {
    const Index n = owners.grid().rows * tile_size;
    geo::Observations observations{.coordinates = geo::random_points(n, 1)};
    observations.values = observations.coordinates[0];
    geo::Likelihood likelihood(s, std::move(observations), {},
                               {.tile = tile_size, .distribution = owners, .overlap = overlap});
    likelihood.evaluate({.sigma2 = 1, .range = 0.1, .smoothness = 0.5, .nugget = 0.1});
    likelihood.evaluate({.sigma2 = 2, .range = 0.1, .smoothness = 0.5, .nugget = 0.1});
}

/// The same platform with the kernels of a likelihood on its cores.
inline Platform for_geo(Platform platform) {
    for (NodeType& type : platform.node_types)
        for (const char* name : {"dcmg", "dlogdet", "ddot"})
            type.workers[0].kernels.push_back(kernels({{name, 0.5e-3}}).front());
    return platform;
}

}  // namespace tesela::testing
