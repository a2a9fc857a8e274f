#pragma once

#include "tesela/base/names.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// Several values as one word with commas between them.
inline CLI::Option* comma_separated(CLI::Option* option) {
    option->delimiter(',')->allow_extra_args(false)->capture_default_str();
    if (option->get_default_str() == "[]") option->default_str("");
    return option;
}

/// An option that takes one of the names of an enumeration.
template <class Enum, std::size_t N>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Enum& value, const Names<Enum, N>& names,
                        const std::string& help) {
    std::vector<std::string> words;
    for (const auto& entry : names) words.emplace_back(entry.second);
    return command
        .add_option_function<std::string>(
            name, [&value, &names, name](const std::string& text) { value = parse_name(names, text, name); }, help)
        ->check(CLI::IsMember(words))
        ->default_str(std::string(name_in(names, value)));
}

}  // namespace tesela::bench
