#include "tesela/cli/command_line.hpp"

#include "tesela/base/near_word.hpp"
#include "tesela/cli/completion.hpp"
#include "tesela/cli/interrupt.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/written_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
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
    const bool has_commands = !at.command->get_subcommands([](const CLI::App*) { return true; }).empty();
    const char* kind = option ? "an option" : has_commands ? "a command" : "expected here";
    return fmt::format("{} is not {}{}", word, kind, did_you_mean(word, known));
}

}  // namespace

namespace {

/// A file that is opened must not get the number of a standard file that was closed. What goes to a closed standard
/// output is lost, which has to be noticed: what can only be read takes nothing.
void open_what_was_closed() {
    for (int number = 0; number < 3; ++number)
        if (fcntl(number, F_GETFD) == -1 && errno == EBADF)
            (void)open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/// The exit code, unless results could not be written: of commands that fail, the reason has been said.
int after_output(int exit_code) {
    if (exit_code != success) return exit_code;
    return run_guarded("tesela", [] { return static_cast<int>(success); });
}

}  // namespace

int parse_and_run(CLI::App& app, int argc, char** argv, const int& exit_code) {
    open_what_was_closed();
    leave_no_files_when_ended();
    if (answered_completion(app, argc, argv)) return after_output(success);
    app.parse_complete_callback([&] { require_files_of_their_own(*reached(app).command); });
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return after_output(app.exit(error));  // --help, --version
        const Reached at = reached(app);
        const std::vector<std::string> unknown = at.command->remaining();
        const std::string text = unknown.empty() ? error.what() : describe_unknown(unknown.front(), at);
        print_error(at.name.c_str(), fmt::format("{}{} See {} --help", text, text.ends_with('?') ? "" : ".", at.name));
        return bad_input;
    }
    return after_output(exit_code);
}

}  // namespace tesela::cli
