#include "tesela/cli/completion.hpp"
#include "tesela/cli/commands.hpp"

#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/output.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tesela::cli {
namespace {

enum class Shell : std::uint8_t { bash, zsh, fish };
constexpr Names<Shell, 3> shell_names{{{Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}}};

// The scripts know nothing of the options: they ask the program.
constexpr std::string_view script_of(Shell shell) {
    switch (shell) {
        case Shell::bash:
            return R"(_tesela() {
    mapfile -t COMPREPLY < <("$1" complete-words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _tesela tesela
)";
        case Shell::zsh:
            return R"(#compdef tesela
_tesela() {
    local -a found
    found=("${(@f)$(tesela complete-words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
if [[ ${funcstack[1]} == _tesela ]]; then _tesela "$@"; else compdef _tesela tesela; fi
)";
        case Shell::fish:
            return "complete -c tesela -a '(tesela complete-words (commandline -opc)[2..] (commandline -ct) "
                   "2>/dev/null)'\n";
    }
    return {};
}

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (command->get_name() == name) return command;
    return nullptr;
}

const CLI::Option* option_called(const CLI::App& app, const std::string& name) {
    for (const CLI::Option* option : app.get_options())
        if (option->check_name(name)) return option;
    return nullptr;
}

/// "ports|simgrid" of an option that takes one of these (see add_choice); a word in capitals stands for others.
std::vector<std::string> choices(const CLI::Option& option) {
    const std::string names = option.get_type_name();
    if (names.find('|') == std::string::npos) return {};
    std::vector<std::string> words = CLI::detail::split(names, '|');
    std::erase_if(words, [](const std::string& word) {
        return std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
    });
    return words;
}

void add_completion_options(CLI::App& command, Shell& shell) {
    add_choice(command, "shell", shell, shell_names, "Whose script")->required()->default_str("");
    command.footer(
        "For bash:  tesela completion bash > ~/.local/share/bash-completion/completions/tesela\n"
        "For zsh:   tesela completion zsh > FOLDER/_tesela, where FOLDER is one of $fpath\n"
        "For fish:  tesela completion fish > ~/.config/fish/completions/tesela.fish");
}

int print_script(Shell shell) {
    fmt::print("{}", script_of(shell));
    return success;
}

}  // namespace

std::vector<std::string> commands_and_options(const CLI::App& app) {
    std::vector<std::string> all;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) all.push_back(command->get_name());
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames()) all.push_back("--" + name);
        if (option->get_positional())
            for (const std::string& name : choices(*option)) all.push_back(name);
    }
    return all;
}

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const CLI::App* command = &app;
    const CLI::Option* asking = nullptr;
    for (std::size_t w = 0; w + 1 < words.size(); ++w) {
        const bool value = asking != nullptr;
        asking = nullptr;
        if (value) continue;
        if (const CLI::App* next = subcommand(*command, words[w])) {
            command = next;
        } else if (words[w].starts_with("-")) {
            const CLI::Option* option = option_called(*command, words[w]);
            if (option != nullptr && option->get_items_expected_max() > 0) asking = option;
        }
    }
    std::vector<std::string> found;
    for (const std::string& candidate : asking != nullptr ? choices(*asking) : commands_and_options(*command))
        // Options are offered when asked for: else they would be in the way of files.
        if (candidate.starts_with(words.back()) && (!candidate.starts_with("-") || words.back().starts_with("-")))
            found.push_back(candidate);
    return found;
}

bool answered_completion(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != complete_words) return false;
    for (const std::string& word : completions(app, {argv + 2, argv + argc})) fmt::print("{}\n", word);
    return true;
}

Command completion_command() {
    return command("completion", "Print a script with which a shell completes words", add_completion_options,
                   print_script);
}

}  // namespace tesela::cli
