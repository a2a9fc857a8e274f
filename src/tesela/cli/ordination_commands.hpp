#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// Adds `tesela mds`, `tesela pca` and `tesela ca`.
void add_ordination_commands(CLI::App& app, int& exit_code);

void add_mds_command(CLI::App& app, int& exit_code);
void add_pca_command(CLI::App& app, int& exit_code);
void add_ca_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
