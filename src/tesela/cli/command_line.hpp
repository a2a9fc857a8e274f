#pragma once

namespace CLI {
class App;
}

namespace tesela::cli {

/// Parses the command line, which runs the command that it names; `exit_code` is then the command's. Returns what the
/// program ends with. What is wrong is said in one line: a word that is not known first, since others may be missing
/// only because of it.
[[nodiscard]] int parse_and_run(CLI::App& app, int argc, char** argv, const int& exit_code);

}  // namespace tesela::cli
