#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>

namespace tesela::cli {

/// The number that is all of a text, or nothing.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(const std::string& text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

namespace internal {

template <class Number, class Accepts>
CLI::Option* take(CLI::Option* option, Accepts accepts, const std::string& wanted) {
    const auto complaint = [accepts, wanted](const std::string& text) {
        const auto number = number_in<Number>(text);
        return number && accepts(*number) ? std::string() : fmt::format("{} is not {}", text, wanted);
    };
    return option->check(CLI::Validator(complaint, ""));
}

}  // namespace internal

/// Lets an option take numbers from `least` on; others are refused in plain words before anything runs. Whole numbers
/// if `least` is one.
template <class Number>
CLI::Option* at_least(CLI::Option* option, Number least) {
    const char* kind = std::integral<Number> ? "a whole number" : "a number";
    return internal::take<Number>(
        option, [least](Number x) { return std::isfinite(static_cast<double>(x)) && x >= least; },
        fmt::format("{} of at least {}", kind, least));
}

/// Lets an option take numbers greater than 0.
inline CLI::Option* above_zero(CLI::Option* option) {
    return internal::take<double>(
        option, [](double x) { return std::isfinite(x) && x > 0; }, "a number above 0");
}

}  // namespace tesela::cli
