#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela info`: what this build and these nodes are; with --idle, what the engine costs when it has nothing to do.
void add_info_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
