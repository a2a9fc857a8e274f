#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tesela::cli {

/// Puts the options that were added since the last heading under this one in the help of a command.
void set_heading(CLI::App& command, const std::string& heading);

/// Gives a command line, and the commands that are added to it, --help-all, which shows what --help leaves out and
/// counts.
void add_help_all(CLI::App& app);

/// Leaves an option out of --help; --help-all shows it, below the others of its heading.
CLI::Option* rarely_used(CLI::Option* option);

/// Puts an example before what else stands at the end of the help.
void add_example(CLI::App& command, const std::string& example);

}  // namespace tesela::cli
