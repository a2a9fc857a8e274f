#pragma once

#include "harness/report.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// What a section of full size must show on the nodes that its rows are of; empty where there is nothing to hold it
/// to.
///   scalapack          960 to 400, n = 8000: 2.5 times as fast as pdgemr2d on 2 nodes, 1.6 times on 4; 128 to 64,
///                      n = 4000: 1.5 times on 4
///   overlap            all sizes together take less time without a barrier than with one
///   overlap_simulated  every case takes less time without a barrier
///   cholesky           a tile size that is corrected, both redistributions included, makes it faster
///   random             random to random takes at most 1.25 times as long as block-cyclic, in the median
///   categories         at the largest messages on 2 nodes at least 0.6 of the bound, in the median
///   switches           dynamic_volume makes the case with most unused volume at least twice as fast
/// And simulated, on the paper's numbers of nodes, the paper's findings at its largest sizes:
///   messages_simulated      tiles of 800 bytes that share messages are faster than a message each
///   patterns_simulated      segments of 1.28 MB achieve 0.8 of the bound, scatter and gather, in the median
///   random_simulated        tiles of 1.28 MB: block-cyclic achieves at most 1.25 times what random does
///   scalapack_simulated     segments of 1.28 MB: gather is faster than a model of pdgemr2d on every number of nodes
///   applications_simulated  between equal tiles both redistributions cost at most a tenth at the largest orders
[[nodiscard]] std::vector<Check> paper002_checks(const std::string& section, const std::vector<Row>& rows);

}  // namespace tesela::bench
