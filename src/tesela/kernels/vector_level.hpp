#pragma once

#include "tesela/base/names.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// Which of the processor's vector instructions the loops use that are not BLAS's: every level gives the same digits,
/// to the last bit. Off x86-64 there is one level.
enum class VectorLevel : std::uint8_t { baseline, v3, v4 };

/// Names as `tesela info` prints them and vector_level_variable takes them.
#if defined(__x86_64__)
inline constexpr Names<VectorLevel, 3> vector_level_names{{
    {VectorLevel::baseline, "x86-64"},
    {VectorLevel::v3, "x86-64-v3"},
    {VectorLevel::v4, "x86-64-v4"},
}};
#else
inline constexpr Names<VectorLevel, 1> vector_level_names{{{VectorLevel::baseline, "baseline"}}};
#endif

/// The levels that this processor and its operating system have, from the lowest on.
[[nodiscard]] std::vector<VectorLevel> vector_levels();

/// The level in use: the highest there is, unless use_vector_level or the environment asked for less.
[[nodiscard]] VectorLevel vector_level() noexcept;

/// Goes on with a level that the processor has: for comparisons. Throws Error if it has not.
void use_vector_level(VectorLevel level);

/// Names the level to use at most.
inline constexpr const char* vector_level_variable = "TESELA_VECTORS";

/// Throws Error where vector_level_variable is set to something that is not the name of a level; the loops take no
/// notice of it then.
void validate_vector_level_variable();

}  // namespace tesela
