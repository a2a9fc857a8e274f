#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela plan`: where each tile goes in each phase, on nodes that differ.
void add_plan_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
