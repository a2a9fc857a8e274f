#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tesela::cli {

/// Adds an option that takes names of columns, as the header of a CSV file has them: a name with a comma in it stands
/// in quotes, `"east, m",north`. It may be given several times.
CLI::Option* add_columns_option(CLI::App& command, const std::string& name, std::vector<std::string>& columns,
                                const std::string& help);

/// Throws Error if a column is a coordinate twice, or a coordinate and the value (empty: there is none).
void require_different_columns(const std::vector<std::string>& coordinates, const std::string& value);

}  // namespace tesela::cli
