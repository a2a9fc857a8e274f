#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/distribution/weights.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// All that a family may want to know; each uses what it needs.
struct DistributionRequest {
    Workload workload;  ///< its density has the grid of the distribution
    Index nodes = 1;
    double alpha = 2;                       ///< ⌈α√P⌉ nodes per row and column for bce, rs, hybrid and best
    std::uint64_t seed = 0;                 ///< for rs and random
    std::vector<double> powers{};           ///< for bce, rs, hybrid, best, 1d, 1d1d and 1d1d_triangle; none: equal
    std::optional<StepConstraint> steps{};  ///< for 1d1d_constrained
    std::optional<RowConstraint> rows{};    ///< for 1d_constrained
};

/// The distribution that a text names:
///   block_cyclic[:PxQ|rule]  bce[:ALPHA|RxC|RxC/USED]  rs[:ALPHA]  hybrid[:ALPHA]  best[:ALPHA]  1d[:POWER,…]
///   1d_constrained  1d1d[:POWER,…]  1d1d_triangle[:POWER,…]  1d1d_constrained  band[:WIDTH]  sbc  random[:SEED]
///   FILE.json
/// Throws Error for an unknown family or arguments that do not fit the request.
[[nodiscard]] Distribution make_family(std::string_view text, const DistributionRequest& request);

/// The family for an operation where none is asked for: block-cyclic for nodes of equal power, 1d1d for others, of the
/// triangle where only that is stored.
[[nodiscard]] std::string usual_family(const DistributionRequest& request);

/// What `--dist` takes, for dense tiles on equal nodes and what will be done to them.
[[nodiscard]] Distribution make_distribution(std::string_view text, GridSize tiles, Index nodes,
                                             Operation operation = Operation::product);

/// The families without arguments that can answer the request, in the order of the papers: what a comparison lists.
[[nodiscard]] std::vector<std::string> families_for(const DistributionRequest& request);

/// Paper 001's meta-strategy (section 5.2): the family with the least maximum load.
struct BestOf {
    std::string family;
    Distribution distribution;
};
[[nodiscard]] BestOf best_of(std::span<const std::string> families, const DistributionRequest& request);

/// A distribution written as JSON. Throws Error naming the file.
[[nodiscard]] Distribution read_distribution(const std::string& path);
/// The same for text already in memory; `file` is its name in error messages.
[[nodiscard]] Distribution parse_distribution(std::string_view text, const std::string& file);

}  // namespace tesela
