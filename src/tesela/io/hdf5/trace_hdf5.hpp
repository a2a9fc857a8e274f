#pragma once

#include "tesela/trace/trace.hpp"

#include <string>

namespace tesela {

/// Writes a trace as one HDF5 file that pandas.read_hdf and h5py read: a table each for tasks, comms, memory, waits,
/// workers, edges and counters, and one per kind of application event under events/. Times are seconds. The file
/// appears whole or not at all. Throws Error if it cannot be written or this build has no HDF5.
void export_hdf5(const trace::Trace& trace, const std::string& path);

}  // namespace tesela
