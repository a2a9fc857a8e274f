#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tesela::cli {

/// The command with which a shell's script asks for the words that may stand next.
inline constexpr const char* complete_words = "complete-words";

/// The names of a command's subcommands and options, and of what it takes where that is one of some names.
[[nodiscard]] std::vector<std::string> commands_and_options(const CLI::App& app);

/// What the last of the words, as far as it is typed, may become: commands, options, or the names that an option takes.
/// Empty where that is up to the user (a file, a number).
[[nodiscard]] std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words);

/// If the program was called as `PROGRAM complete-words WORDS…`: prints them, a line each, and returns true.
[[nodiscard]] bool answered_completion(const CLI::App& app, int argc, char** argv);

}  // namespace tesela::cli
