#include "tesela/cli/written_files.hpp"

#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tesela::cli {
namespace {

namespace fs = std::filesystem;

/// Options of any command that name a file to write.
constexpr std::array<std::string_view, 13> written_options{
    "checkpoint", "column-output", "loadings",  "map",   "new-output", "out",  "output",
    "plot",       "points",        "residuals", "scree", "svg",        "trace"};

struct Argument {
    std::string option;  ///< as it is called in messages
    bool written = false;
    std::string file;
};

/// What stands before the name of a data set.
std::string file_of(const std::string& name) {
    return name.find(".h5:") == std::string::npos ? name : parse_matrix_name(name).file;
}

/// Whether an option is given that this one cannot stand beside: its default does not count then.
bool is_excluded(const CLI::Option& option) {
    const auto& excluding = option.get_excludes();
    return std::ranges::any_of(excluding, [](const CLI::Option* other) { return other->count() > 0; });
}

std::vector<Argument> arguments_of(const CLI::App& command) {
    std::vector<Argument> all;
    for (const CLI::Option* option : command.get_options()) {
        const auto& names = option->get_lnames();
        const std::string name = names.empty() ? option->get_name() : "--" + names.front();
        const bool written =
            !names.empty() && std::ranges::find(written_options, names.front()) != written_options.end();
        if (name == "--title" || name == "--titles") continue;
        std::vector<std::string> values = option->results();
        if (values.empty() && written && !is_excluded(*option)) values.push_back(option->get_default_str());
        for (const std::string& value : values)
            if (!value.empty() && !is_standard_output(value)) all.push_back({name, written, file_of(value)});
    }
    return all;
}

/// Whether both name one file, there already or to be made; a device or a pipe may have several.
bool are_one_file(const Argument& written, const Argument& other) {
    std::error_code none;
    if (fs::exists(written.file, none))
        return fs::is_regular_file(written.file, none) && fs::equivalent(written.file, other.file, none);
    const auto place = [&](const std::string& file) { return fs::weakly_canonical(fs::absolute(file, none), none); };
    return other.written && place(written.file) == place(other.file);
}

}  // namespace

void require_files_of_their_own(const CLI::App& command) {
    const std::vector<Argument> all = arguments_of(command);
    for (const Argument& written : all)
        for (const Argument& other : all)
            if (written.written && other.option != written.option && are_one_file(written, other))
                throw CLI::ValidationError(fmt::format("{} would be written over: it is also {}; {} needs another file",
                                                       written.file, other.option, written.option));
}

}  // namespace tesela::cli
