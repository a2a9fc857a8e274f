#pragma once

#include "tesela/base/names.hpp"
#include "tesela/kernels/tile.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace tesela::cli {

/// What --precision takes.
inline constexpr Names<ElementType, 2> precision_names{{{ElementType::f64, "double"}, {ElementType::f32, "single"}}};

/// An option that takes several values as one word with commas between them, and leaves the next word alone.
inline CLI::Option* comma_separated(CLI::Option* option) { return option->delimiter(',')->allow_extra_args(false); }

/// Lets an option take these words alone, which its help and the completion of shells show.
inline CLI::Option* allow_only(CLI::Option* option, const std::vector<std::string>& words) {
    const auto complaint = [words](const std::string& given) {
        if (std::ranges::find(words, given) != words.end()) return std::string();
        return fmt::format("\"{}\" is not one of {}", given, fmt::join(words, ", "));
    };
    return option->check(CLI::Validator(complaint, ""))->type_name(fmt::format("{}", fmt::join(words, "|")));
}

template <class Enum, std::size_t N>
[[nodiscard]] std::vector<std::string> words_of(const Names<Enum, N>& names) {
    std::vector<std::string> words;
    for (const auto& entry : names) words.emplace_back(entry.second);
    return words;
}

/// Adds an option that takes one of the names of an enumeration, and shows the default, if there is one. `value` is an
/// Enum or an optional one.
template <class Value, class Enum, std::size_t N>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value, const Names<Enum, N>& names,
                        const std::string& help) {
    auto* option = command.add_option_function<std::string>(
        name, [&value, &names, name](const std::string& text) { value = parse_name(names, text, name); }, help);
    allow_only(option, words_of(names));
    if constexpr (std::is_same_v<Value, Enum>) option->default_str(std::string(name_in(names, value)));
    return option;
}

}  // namespace tesela::cli
