#pragma once

#include "tesela/base/names.hpp"
#include "tesela/kernels/tile.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace tesela::cli {

/// What --precision takes.
inline constexpr Names<ElementType, 2> precision_names{{{ElementType::f64, "double"}, {ElementType::f32, "single"}}};

/// Adds an option that takes one of the names of an enumeration, and shows the default, if there is one. `value` is an
/// Enum or an optional one.
template <class Value, class Enum, std::size_t N>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value, const Names<Enum, N>& names,
                        const std::string& help) {
    std::vector<std::string> known;
    for (const auto& entry : names) known.emplace_back(entry.second);
    auto* option = command.add_option_function<std::string>(
        name, [&value, &names, name](const std::string& text) { value = parse_name(names, text, name); }, help);
    option->check(CLI::IsMember(known).description(""))->type_name(fmt::format("{}", fmt::join(known, "|")));
    if constexpr (std::is_same_v<Value, Enum>) option->default_str(std::string(name_in(names, value)));
    return option;
}

}  // namespace tesela::cli
