#pragma once

#include "tesela/platform/platform.hpp"

#include <string>
#include <vector>

namespace tesela {

/// The file of a platform: a path as given, or the bare name of a ready-made platform, looked for in the folder
/// $TESELA_PLATFORMS, then where Tesela is installed, then in the source tree. Throws Error that lists the known names.
[[nodiscard]] std::string find_platform(const std::string& name);

/// The platform in the file that find_platform() names, and the nodes of it that are chosen, as 6che+6chi; all if
/// empty. Throws Error naming the file.
[[nodiscard]] Platform read_platform(const std::string& name, const std::string& nodes);

/// Durations of kernels on the cores of a type of node.
struct TypeDurations {
    std::string type;  ///< by its name in a platform; empty: the only one that there is
    std::vector<KernelTime> kernels;
};

/// Puts durations into the file of a platform, in place of those that it has of the same kernels there, and leaves all
/// else in it as it stands. Throws Error naming the file, which then is as it was, where it has no such type of node,
/// or no cores of it.
void merge_durations(const std::string& file, const std::vector<TypeDurations>& measured);

}  // namespace tesela
