#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela calibrate`: times kernels, memory and network of the nodes at hand and writes a platform file.
void add_calibrate_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
