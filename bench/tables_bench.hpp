#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tesela::bench {

/// Makes rows of the computed tables in a folder again and compares them (computed_table.hpp). Every other CSV file
/// there must be known as a table of measurements, and all must say where they come from: {"checks"}.
[[nodiscard]] nlohmann::ordered_json tables_benchmark(const std::string& folder);

}  // namespace tesela::bench
