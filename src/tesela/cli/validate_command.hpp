#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// `tesela validate`: how well a model predicts observations that it is not shown.
void add_validate_command(CLI::App& app, int& exit_code);

}  // namespace tesela::cli
