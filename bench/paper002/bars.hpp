#pragma once

#include "table.hpp"

#include <string>
#include <vector>

namespace tesela::bench {

/// What an experiment of full size must show on the nodes that its rows are of: a list of checks, empty where there is
/// nothing to hold it to.
///   scalapack          960 to 400, n = 8000: 2.5 times as fast as pdgemr2d on 2 nodes, 1.6 times on 4; 128 to 64,
///                      n = 4000: 1.5 times on 4
///   overlap            all sizes together take less time without a barrier than with one
///   overlap_simulated  every case takes less time without a barrier
///   cholesky           a tile size that is corrected, both redistributions included, makes it faster
///   random             random to random takes at most 1.25 times as long as block-cyclic, in the median
///   categories         at the largest messages on 2 nodes at least 0.6 of the bound, in the median
///   switches           dynamic_volume makes the case with most unused volume at least twice as fast
[[nodiscard]] std::vector<Row> paper002_checks(const std::string& experiment, const std::vector<Row>& rows);

}  // namespace tesela::bench
