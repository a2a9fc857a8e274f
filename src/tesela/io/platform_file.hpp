#pragma once

#include "tesela/platform/platform.hpp"

#include <string>

namespace tesela {

/// The file of a platform: a path as given, or the bare name of a ready-made platform, looked for in the folder
/// $TESELA_PLATFORMS, then where Tesela is installed, then in the source tree. Throws Error that lists the known names.
[[nodiscard]] std::string find_platform(const std::string& name);

/// The platform in the file that find_platform() names, and the nodes of it that are chosen, as 6che+6chi; all if
/// empty. Throws Error naming the file.
[[nodiscard]] Platform read_platform(const std::string& name, const std::string& nodes);

}  // namespace tesela
