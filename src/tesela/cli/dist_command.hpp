#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela dist make|compare|moves|show`: distributions made, measured and drawn.
void add_dist_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
