#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela compare`: models of the same data by likelihood and criteria, and by what their predictions lose.
void add_compare_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
