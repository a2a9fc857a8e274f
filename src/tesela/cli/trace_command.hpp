#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela trace`: what a traced run came to (summary), its tables (table), what changed between two (diff), and its
/// conversion for other tools (export).
void add_trace_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
