#pragma once

#include "harness/experiment.hpp"

#include <vector>

/// What `tesela bench` compares with something that one would take instead, or tells of the machine at hand; each is
/// defined in the file of its name.
namespace tesela::bench {

[[nodiscard]] std::vector<Experiment> factorisations();  ///< cholesky, lu, qr
[[nodiscard]] Experiment overhead();
[[nodiscard]] Experiment share();
[[nodiscard]] Experiment matern();
[[nodiscard]] Experiment readers();
[[nodiscard]] Experiment mds();
[[nodiscard]] Experiment eigenvalues();
[[nodiscard]] Experiment geo();
[[nodiscard]] Experiment fits();
[[nodiscard]] Experiment redistribute();
[[nodiscard]] Experiment trace();
[[nodiscard]] Experiment tlr();
[[nodiscard]] Experiment tlr_tile();
[[nodiscard]] Experiment prediction();
[[nodiscard]] Experiment simulate();

}  // namespace tesela::bench
