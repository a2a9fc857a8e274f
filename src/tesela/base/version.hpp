#pragma once

namespace tesela {

/// "0.1.0"
inline constexpr const char* version = "0.1.0";

}  // namespace tesela
