#pragma once

#include "tesela/platform/platform.hpp"

#include <string>

namespace CLI {
class App;
}

namespace tesela::cli {

/// tesela::read_platform() of --platform and --nodes; kernels that Tesela does not know are warned of.
[[nodiscard]] Platform read_platform(const std::string& name, const std::string& nodes);

/// Adds --platform, which must be given, and --nodes.
void add_platform_options(CLI::App& command, std::string& platform, std::string& nodes);

}  // namespace tesela::cli
