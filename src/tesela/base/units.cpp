#include "tesela/base/units.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tesela {
namespace {

std::string three_digits(double value) {
    const double size = std::abs(value);
    return fmt::format("{:.{}f}", value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

template <std::size_t N>
std::string scaled(double value, double step, const std::array<std::string_view, N>& units) {
    std::size_t unit = 0;
    while (std::abs(value) >= step && unit + 1 < N) {
        value /= step;
        ++unit;
    }
    return fmt::format("{} {}", three_digits(value), units[unit]);
}

}  // namespace

std::string format_bytes(double bytes) {
    if (std::abs(bytes) < 1024) return fmt::format("{:.0f} B", bytes);
    return scaled(bytes / 1024, 1024, std::array<std::string_view, 5>{"KiB", "MiB", "GiB", "TiB", "PiB"});
}

double parse_bytes(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 10> units{{{"", 1},
                                                                         {"B", 1},
                                                                         {"kB", 1e3},
                                                                         {"MB", 1e6},
                                                                         {"GB", 1e9},
                                                                         {"TB", 1e12},
                                                                         {"KiB", 1024},
                                                                         {"MiB", 0x1p20},
                                                                         {"GiB", 0x1p30},
                                                                         {"TiB", 0x1p40}}};
    double number = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string_view unit = text.substr(static_cast<std::size_t>(stopped - text.data()));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    if (error == std::errc{} && std::isfinite(number) && number >= 0)
        for (const auto& [name, bytes] : units)
            if (name == unit) return number * bytes;
    throw Error("\"{}\" is no number of bytes, such as 2GB, 512MiB or 1000000", text);
}

std::string format_seconds(double seconds) {
    if (seconds >= 5400) return fmt::format("{} h", three_digits(seconds / 3600));
    if (seconds >= 300) return fmt::format("{} min", three_digits(seconds / 60));
    if (seconds >= 1 || seconds == 0) return fmt::format("{} s", three_digits(seconds));
    return scaled(seconds * 1e9, 1000, std::array<std::string_view, 3>{"ns", "us", "ms"});
}

std::string format_flops(double flops_per_second) {
    return scaled(flops_per_second, 1000,
                  std::array<std::string_view, 6>{"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"});
}

}  // namespace tesela
