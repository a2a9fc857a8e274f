#pragma once

#include "tesela/platform/platform.hpp"

#include <string>

namespace CLI {
class App;
}

namespace tesela::cli {

/// The file that --platform names: a path as given, or the bare name of a ready-made platform, looked for in the folder
/// $TESELA_PLATFORMS, then where Tesela is installed, then in the source tree. Throws Error that lists the known names.
[[nodiscard]] std::string find_platform(const std::string& name);

/// The platform of --platform and the nodes that --nodes chooses from it; all if empty. Throws Error naming the file.
[[nodiscard]] Platform read_platform(const std::string& name, const std::string& nodes);

/// Adds --platform, which must be given, and --nodes.
void add_platform_options(CLI::App& command, std::string& platform, std::string& nodes);

}  // namespace tesela::cli
