#include "tesela/platform/quantity.hpp"

#include "tesela/base/error.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <span>

namespace tesela {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr std::array decimal_prefixes{Unit{"", 1},    Unit{"K", 1e3}, Unit{"k", 1e3},
                                      Unit{"M", 1e6}, Unit{"G", 1e9}, Unit{"T", 1e12}};
constexpr std::array binary_prefixes{Unit{"Ki", 1024.}, Unit{"Mi", 1048576.}, Unit{"Gi", 1073741824.},
                                     Unit{"Ti", 1099511627776.}};
constexpr std::array small_prefixes{Unit{"", 1}, Unit{"m", 1e-3}, Unit{"u", 1e-6}, Unit{"µ", 1e-6}, Unit{"n", 1e-9}};

/// The factor of "<prefix><base>" where `unit` is written so with one of the prefixes.
std::optional<double> prefixed(std::string_view unit, std::string_view base, std::span<const Unit> prefixes) {
    if (!unit.ends_with(base)) return std::nullopt;
    unit.remove_suffix(base.size());
    for (const auto& [prefix, factor] : prefixes)
        if (unit == prefix) return factor;
    return std::nullopt;
}

std::optional<double> byte_factor(std::string_view unit) {
    if (const auto decimal = prefixed(unit, "B", decimal_prefixes)) return decimal;
    return prefixed(unit, "B", binary_prefixes);
}

std::optional<double> rate_factor(std::string_view unit) {
    if (!unit.ends_with("/s")) return std::nullopt;
    unit.remove_suffix(2);
    if (const auto bytes = byte_factor(unit)) return bytes;
    if (const auto bits = prefixed(unit, "b", decimal_prefixes)) return *bits / 8;
    return std::nullopt;
}

std::optional<double> factor_of(std::string_view unit, Dimension dimension) {
    switch (dimension) {
        case Dimension::bytes: return byte_factor(unit);
        case Dimension::bytes_per_second: return rate_factor(unit);
        case Dimension::seconds: return prefixed(unit, "s", small_prefixes);
        case Dimension::flops_per_second: return prefixed(unit, "FLOP/s", decimal_prefixes);
        case Dimension::elements_per_second: return prefixed(unit, "element/s", decimal_prefixes);
    }
    return std::nullopt;
}

std::string_view base_unit(Dimension dimension) {
    switch (dimension) {
        case Dimension::bytes: return "B";
        case Dimension::bytes_per_second: return "B/s";
        case Dimension::seconds: return "s";
        case Dimension::flops_per_second: return "FLOP/s";
        case Dimension::elements_per_second: return "element/s";
    }
    return "";
}

}  // namespace

std::string_view examples_of(Dimension dimension) {
    switch (dimension) {
        case Dimension::bytes: return "\"256 GiB\" or \"4 GB\"";
        case Dimension::bytes_per_second: return "\"12 GB/s\" or \"10 Gb/s\"";
        case Dimension::seconds: return "\"1.5 ms\" or \"20 us\"";
        case Dimension::flops_per_second: return "\"30 GFLOP/s\"";
        case Dimension::elements_per_second: return "\"3 Melement/s\"";
    }
    return "";
}

std::string format_quantity(double value, Dimension dimension) {
    return fmt::format("{} {}", value, base_unit(dimension));
}

double parse_quantity(std::string_view text, Dimension dimension) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        throw Error("\"{}\" does not begin with a number; write {}", text, examples_of(dimension));
    std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    const auto factor = factor_of(unit, dimension);
    if (!factor) throw Error("\"{}\" has the unknown unit \"{}\"; write {}", text, unit, examples_of(dimension));
    return value * *factor;
}

}  // namespace tesela
