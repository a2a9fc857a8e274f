#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tesela {

/// The value of an environment variable; none where it is unset or empty.
[[nodiscard]] inline std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace tesela
