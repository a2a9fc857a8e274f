#pragma once

#include "tesela/trace/trace.hpp"

#include <string>

namespace tesela {

/// Writes a trace for Perfetto (ui.perfetto.dev) and chrome://tracing: tasks per worker, messages, memory and the
/// application's events as JSON. The file appears whole or not at all, as with all of these.
void export_perfetto(const trace::Trace& trace, const std::string& path);

/// Writes a trace in Paje's format for ViTE, pajeng and StarVZ.
void export_paje(const trace::Trace& trace, const std::string& path);

/// Writes the dependency graph in the DOT language, a box per task coloured by kernel.
void export_dot(const trace::Trace& trace, const std::string& path);

}  // namespace tesela
