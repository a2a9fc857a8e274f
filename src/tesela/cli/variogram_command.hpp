#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela variogram`: the sample variogram of observations, beside a model's.
void add_variogram_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
