#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela fit`, `loglik`, `predict` and `sample`: Gaussian processes from a CSV file to a fitted model and a map.
void add_geo_commands(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
