#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tesela {

/// What a number of a platform file measures; its base unit is the one the program computes with.
enum class Dimension : std::uint8_t {
    bytes,                ///< B; KB … TB are powers of 1000, KiB … TiB of 1024
    bytes_per_second,     ///< B/s; b/s counts bits, so "10 Gb/s" is 1.25e9
    seconds,              ///< s
    flops_per_second,     ///< FLOP/s
    elements_per_second,  ///< element/s: elements of a tile, for kernels such as the covariance's
};

/// "12 GB/s", "20 us", "256 GiB", "30 GFLOP/s", "3 Melement/s": the value in the base unit. Throws Error for text that
/// is not a number followed by a unit of that dimension.
[[nodiscard]] double parse_quantity(std::string_view text, Dimension dimension);
/// The value in its base unit, "2e-05 s", with as many digits as it needs to be read back exactly.
[[nodiscard]] std::string format_quantity(double value, Dimension dimension);
/// "12 GB/s" or "10 Gb/s": how to write one, for error messages.
[[nodiscard]] std::string_view examples_of(Dimension dimension);

}  // namespace tesela
