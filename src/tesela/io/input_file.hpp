#pragma once

#include <string>
#include <string_view>

namespace tesela {

/// The whole content of a file; `-` is standard input. Throws Error naming the path and the reason.
[[nodiscard]] std::string read_file(const std::string& path);

/// "text" for an error message: always one line, with control characters written as in C++.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Like in_quotes(), cut after about forty bytes.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace tesela
