#pragma once

#include <string>
#include <string_view>

namespace tesela {

/// "1.50 GiB": bytes with a binary unit and three significant digits.
[[nodiscard]] std::string format_bytes(double bytes);

/// The bytes of "2GB", "512 MiB" or "1000000": units are powers of 1000 or, with an i, of 1024. Throws Error if it is
/// no such text.
[[nodiscard]] double parse_bytes(std::string_view text);

/// "12.3 ms": a duration with a unit that keeps the number between 1 and 1000 where possible.
[[nodiscard]] std::string format_seconds(double seconds);

/// "58.1 GFLOP/s": a rate of floating-point operations.
[[nodiscard]] std::string format_flops(double flops_per_second);

/// The ending of a noun after a number: "1 node", "2 nodes".
[[nodiscard]] constexpr const char* plural(auto count) { return count == 1 ? "" : "s"; }

}  // namespace tesela
