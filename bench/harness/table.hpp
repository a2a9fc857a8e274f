#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

using Row = nlohmann::ordered_json;  ///< an object: column name to number, text or null

/// How many digits of a number mean something: of a measurement few; what is computed from seeds is written so that a
/// test can compare it to 1e-9.
enum class Digits { measured = 5, computed = 12 };

/// A table of docs/tables, as CSV: lines "# …" that say where rows come from, the names of columns, rows.
struct Table {
    std::vector<std::string> origins;
    std::vector<Row> rows;  ///< all with the same columns
};

[[nodiscard]] std::vector<std::string> columns_of(const Row& row);

/// Rows that are made now, under one line of origin().
void write_table(const std::string& path, const std::vector<Row>& rows, Digits digits);
void write_table(const std::string& path, const Table& table, Digits digits);

/// What write_table() wrote, or a CSV file without such lines. Throws Error naming what is wrong.
[[nodiscard]] Table read_table(const std::string& path);

/// A row per case: rows that are alike in `keys`, one after another, become the means of their other columns (none
/// where one has none), with "seeds", their number, in place of the column "seed".
[[nodiscard]] std::vector<Row> means_over_seeds(const std::vector<Row>& rows, const std::vector<std::string>& keys);

}  // namespace tesela::bench
