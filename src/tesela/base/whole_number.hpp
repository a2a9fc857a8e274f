#pragma once

#include "tesela/base/index.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace tesela {

/// The whole number that a JSON value is, or nothing: also where it is beyond an Index, to which the library would
/// convert it without a word. A template, so that not everything depends on that library.
template <class Json>
[[nodiscard]] std::optional<Index> whole_number(const Json& json) {
    if (!json.is_number_integer()) return std::nullopt;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    if (json.is_number_unsigned() && json.template get<std::uint64_t>() > most) return std::nullopt;
    return json.template get<Index>();
}

}  // namespace tesela
