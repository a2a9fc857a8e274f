#include "tesela/cli/help_groups.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace tesela::cli {

void set_heading(CLI::App& command, const std::string& heading) {
    const auto without_heading = [&](const CLI::Option* option) {
        return option->get_group() == "Options" && option != command.get_help_ptr();
    };
    for (CLI::Option* option : command.get_options(without_heading)) option->group(heading);
}

CLI::Option* rarely_used(CLI::Option* option) { return option; }

void add_example(CLI::App& command, const std::string& example) {
    const std::string rest = command.get_footer();
    command.footer(fmt::format("Example:\n  {}{}{}", example, rest.empty() ? "" : "\n\n", rest));
}

}  // namespace tesela::cli
