#include "tesela/cli/help_groups.hpp"

#include "tesela/base/units.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace tesela::cli {
namespace {

constexpr const char* usual_heading = "Options";  // CLI11's
constexpr std::string_view rare = ", rarely used";
constexpr const char* help_all = "--help-all";

bool is_rare(const CLI::Option* option) { return option->get_group().ends_with(rare); }

/// CLI11's help without what is rarely used.
class ShortHelp : public CLI::Formatter {
public:
    std::string make_group(std::string heading, bool positional,
                           std::vector<const CLI::Option*> options) const override {
        return heading.ends_with(rare) ? "" : Formatter::make_group(heading, positional, options);
    }
    std::string make_option(const CLI::Option* option, bool positional) const override {
        return option->check_name(help_all) ? "" : Formatter::make_option(option, positional);
    }
};

class HelpInTwoLengths : public CLI::Formatter {
public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        if (mode != CLI::AppFormatMode::Normal) return without_gaps(Formatter::make_help(app, name, mode));
        const std::string help = ShortHelp().make_help(app, name, mode);
        const std::size_t hidden = app->get_options(is_rare).size();
        if (hidden == 0) return without_gaps(help);
        return without_gaps(fmt::format("{}\n{} shows {} more option{}.\n", help, help_all, hidden, plural(hidden)));
    }

private:
    static std::string without_gaps(std::string text) {
        for (std::size_t gap = 0; (gap = text.find("\n\n\n", gap)) != std::string::npos;) text.erase(gap, 1);
        return text;
    }
};

}  // namespace

void add_help_all(CLI::App& app) {
    app.formatter(std::make_shared<HelpInTwoLengths>());
    app.set_help_all_flag(help_all, "Print all options and exit");
}

void set_heading(CLI::App& command, const std::string& heading) {
    const std::string usual = usual_heading;
    for (CLI::Option* option : command.get_options()) {
        if (option == command.get_help_ptr() || option == command.get_help_all_ptr()) continue;
        if (option->get_group() == usual) option->group(heading);
        if (option->get_group() == usual + std::string(rare)) option->group(heading + std::string(rare));
    }
}

CLI::Option* rarely_used(CLI::Option* option) {
    return is_rare(option) ? option : option->group(option->get_group() + std::string(rare));
}

void add_example(CLI::App& command, const std::string& example) {
    const std::string rest = command.get_footer();
    command.footer(fmt::format("Example:\n  {}{}{}", example, rest.empty() ? "" : "\n\n", rest));
}

}  // namespace tesela::cli
