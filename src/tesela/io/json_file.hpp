#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tesela {

/// The JSON value that is the whole of a file (`-`: standard input). Throws Error naming file, line and column.
[[nodiscard]] nlohmann::json read_json_file(const std::string& path);

/// The same for text already in memory; `file` is its name in error messages. Values within values to a depth of 100:
/// what is done with them afterwards recurses.
[[nodiscard]] nlohmann::json parse_json(const std::string& text, const std::string& file);

/// Writes a value with two-space indentation, whole or not at all; takes ordered_json so that keys keep their order
/// where that matters (a plain json converts). NaN and infinity become null, since JSON has neither.
void write_json_file(const std::string& path, const nlohmann::ordered_json& value);

}  // namespace tesela
