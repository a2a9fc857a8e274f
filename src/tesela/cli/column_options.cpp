#include "tesela/cli/column_options.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/csv.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tesela::cli {

CLI::Option* add_columns_option(CLI::App& command, const std::string& name, std::vector<std::string>& columns,
                                const std::string& help) {
    const auto complaint = [name](const std::string& text) -> std::string {
        try {
            (void)parse_csv_names(text, name);
            return {};
        } catch (const Error& error) {
            return error.what();
        }
    };
    const auto keep = [&columns, name](const std::vector<std::string>& texts) {
        columns.clear();
        for (const std::string& text : texts)
            for (std::string& column : parse_csv_names(text, name)) columns.push_back(std::move(column));
    };
    return command.add_option_function<std::vector<std::string>>(name, keep, help)
        ->allow_extra_args(false)
        ->check(CLI::Validator(complaint, ""))
        ->type_name("NAME,…");
}

void require_different_columns(const std::vector<std::string>& coordinates, const std::string& value) {
    for (auto column = coordinates.begin(); column != coordinates.end(); ++column)
        if (std::find(column + 1, coordinates.end(), *column) != coordinates.end())
            throw Error("--coords names the column {} twice", *column);
    if (!value.empty() && std::find(coordinates.begin(), coordinates.end(), value) != coordinates.end())
        throw Error("--value {} is also a coordinate (--coords): a column cannot be its own coordinate", value);
}

}  // namespace tesela::cli
