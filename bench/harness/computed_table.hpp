#pragma once

#include "harness/report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tesela::bench {

/// A table of docs/tables that is computed and not measured: each of its rows says what it is the result of, and can be
/// made again.
struct ComputedTable {
    std::string file;                       ///< "hybrid.csv"
    std::function<Row(const Row&)> remake;  ///< the same row, made again from the columns that say what it is of
    std::function<bool(const Row&)> quick;  ///< rows that a test has time for
    std::vector<std::string> cases{};  ///< columns that tell cases apart, if FILE_means.csv has their means over seeds
    std::vector<std::string> times{};  ///< columns that are measured all the same, and not compared
};

/// Makes the quick rows again, of the first seed where there are several, and compares them with those in the folder,
/// and the means with those of the rows: its value is the largest difference,
/// relative where numbers are above 1, which must be at most 1e-9; all rows must have the same columns and texts, and
/// there must be a row to compare.
[[nodiscard]] Check check_table(const ComputedTable& table, const std::string& folder);

}  // namespace tesela::bench
