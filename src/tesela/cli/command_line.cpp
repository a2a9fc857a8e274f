#include "tesela/cli/command_line.hpp"

#include "tesela/base/near_word.hpp"
#include "tesela/cli/completion.hpp"
#include "tesela/cli/output.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tesela::cli {
namespace {

/// The command that was being parsed, and its name with those above it.
struct Reached {
    const CLI::App* command;
    std::string name;
};
Reached reached(const CLI::App& app) {
    Reached at{&app, app.get_name()};
    while (!at.command->get_subcommands().empty()) {
        at.command = at.command->get_subcommands().back();
        at.name += " " + at.command->get_name();
    }
    return at;
}

std::string describe_unknown(const std::string& word, const Reached& at) {
    std::vector<std::string> known;
    const bool option = word.starts_with("-");
    for (const std::string& name : commands_and_options(*at.command))
        if (name.starts_with("-") == option) known.push_back(name);
    const char* kind = option ? "an option" : known.empty() ? "expected here" : "a command";
    return fmt::format("{} is not {}{}", word, kind, did_you_mean(word, known));
}

}  // namespace

int parse_and_run(CLI::App& app, int argc, char** argv, const int& exit_code) {
    if (answered_completion(app, argc, argv)) return success;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        const Reached at = reached(app);
        const std::vector<std::string> unknown = at.command->remaining();
        const std::string text = unknown.empty() ? error.what() : describe_unknown(unknown.front(), at);
        print_error(at.name.c_str(), fmt::format("{}. See {} --help", text, at.name));
        return bad_input;
    }
    return exit_code;
}

}  // namespace tesela::cli
