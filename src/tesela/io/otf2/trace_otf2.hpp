#pragma once

#include "tesela/trace/trace.hpp"

#include <string>

namespace tesela {

/// Writes a trace as an OTF2 archive in the folder `path`, which must not exist: a location per worker, a region per
/// kernel. Throws Error if it cannot be written or this build has no OTF2.
void export_otf2(const trace::Trace& trace, const std::string& path);

}  // namespace tesela
