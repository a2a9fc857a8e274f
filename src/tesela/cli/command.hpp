#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tesela::cli {

/// A command: its name, what it is for, and how its options lead to what it runs; or the commands below it.
struct Command {
    std::string name;
    std::string summary;
    /// Adds its options; what is returned runs it once they have been read, and returns what the program ends with.
    std::function<std::function<int()>(CLI::App&)> prepare{};
    std::vector<Command> commands{};
};

/// A command of a function that adds options to a command line and one that runs with them.
template <class Options, class Run>
[[nodiscard]] Command command(const std::string& name, const std::string& summary, void (*add)(CLI::App&, Options&),
                              Run run) {
    return {.name = name, .summary = summary, .prepare = [add, run](CLI::App& app) {
                const auto options = std::make_shared<Options>();
                add(app, *options);
                return std::function<int()>([options, run] { return run(*options); });
            }};
}

/// Adds commands to those of a command line; the one that is named runs while the line is parsed, and `exit_code` is
/// then its own. An Error becomes one line on stderr.
void add_commands(CLI::App& app, const std::vector<Command>& commands, int& exit_code);

}  // namespace tesela::cli
