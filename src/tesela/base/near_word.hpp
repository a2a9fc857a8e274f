#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tesela {

/// Of the words that there are the one that was probably meant: the one in which the fewest letters are inserted,
/// removed, replaced or exchanged with their neighbour, at most half of them (a third in an option, without its
/// dashes); whether they are capital does not matter. None if all are too far away.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

/// "; did you mean dgemm?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace tesela
