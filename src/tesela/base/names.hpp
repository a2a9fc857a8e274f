#pragma once

#include "tesela/base/error.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace tesela {

/// The names of an enumeration's values, in the order in which a text lists them.
template <class Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

template <class Enum, std::size_t N>
[[nodiscard]] constexpr std::string_view name_in(const Names<Enum, N>& names, Enum wanted) {
    for (const auto& [value, text] : names)
        if (value == wanted) return text;
    return "?";
}

/// "none, constant, linear"
template <class Enum, std::size_t N>
[[nodiscard]] std::string list_names(const Names<Enum, N>& names) {
    std::string list;
    for (const auto& [value, text] : names) list.append(list.empty() ? "" : ", ").append(text);
    return list;
}

/// The value of a name; throws Error that says what it should be ("trend") and which there are.
template <class Enum, std::size_t N>
[[nodiscard]] Enum parse_name(const Names<Enum, N>& names, std::string_view wanted, std::string_view what) {
    for (const auto& [value, text] : names)
        if (text == wanted) return value;
    throw Error("\"{}\" is not a {}; there are {}", wanted, what, list_names(names));
}

}  // namespace tesela
