#pragma once

#include "tesela/plan/plan_file.hpp"

#include <string>

namespace tesela {
class StarpuEngine;
}

namespace tesela::cli {

/// A plan of a file for an application whose matrix has n rows, on the nodes of the engine; every node calls it. Throws
/// Error naming the difference where the plan is for another application, other nodes or other tiles, or files differ.
[[nodiscard]] plan::Plan read_plan_for(StarpuEngine& engine, const std::string& file, const std::string& application,
                                       Index n);

}  // namespace tesela::cli
