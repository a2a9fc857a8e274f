#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela simulate`: an algorithm or application on a described cluster.
void add_simulate_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
