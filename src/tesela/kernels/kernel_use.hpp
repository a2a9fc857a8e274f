#pragma once

#include "tesela/base/index.hpp"

#include <string>

namespace tesela {

/// What a kernel has done on a node: how many calls, how long they took by the clock on the wall, and what its cost
/// function says that they amount to.
struct KernelUse {
    std::string kernel;
    Index calls = 0;
    double seconds = 0;
    double flops = 0;
    double bytes = 0;
};

}  // namespace tesela
