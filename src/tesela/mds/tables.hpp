#pragma once

#include "tesela/mds/components.hpp"
#include "tesela/mds/correspondence.hpp"
#include "tesela/mds/scaling.hpp"

#include <string>
#include <vector>

namespace tesela::mds {

/// Numbers with names, as they are written to a CSV file.
struct Table {
    std::vector<std::string> labels{};  ///< of the rows: the first column, `label`; none: there is no such column
    std::vector<std::string> names{};
    std::vector<std::vector<double>> columns{};
};

/// Writes a table, whole or not at all; `-` is standard output. Throws Error.
void write(const std::string& path, const Table& table);

/// Points x dimensions, columns one after the other, as columns `prefix`1, `prefix`2, …
[[nodiscard]] Table coordinate_table(const std::string& prefix, const std::vector<double>& coordinates,
                                     std::vector<std::string> labels, Index points);

/// A row per column of the data: `column`s' names, and loadings PC1, PC2, …
[[nodiscard]] Table loading_table(const Components& components, std::vector<std::string> names);

/// A row per row, or column, of the table: mass, distance, inertia; then dim1, …, contribution1, …, cos2_1, …
[[nodiscard]] Table profile_table(const ProfilePoints& points, std::vector<std::string> labels);

}  // namespace tesela::mds
