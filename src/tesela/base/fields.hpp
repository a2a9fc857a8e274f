#pragma once

#include "tesela/base/digest.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tesela {
namespace detail {

/// Stands for the value of any field, so that fields can be counted: as many as it initialises.
struct AnyField {
    template <class Field>
    operator Field&() const noexcept;  // NOLINT(google-explicit-constructor): that is its use
};

inline constexpr std::size_t most_fields = 16;

template <class T, std::size_t... K>
constexpr bool takes_fields(std::index_sequence<K...>) {
    return requires { T{((void)K, AnyField{})...}; };
}
/// Beyond `most_fields`: more.
template <class T, std::size_t Most = most_fields + 1>
constexpr std::size_t count_fields() {
    if constexpr (Most == 0 || takes_fields<T>(std::make_index_sequence<Most>{}))
        return Most;
    else
        return count_fields<T, Most - 1>();
}

/// Whether field K is an array, whose elements were counted as fields: in braces of its own it takes two values, and
/// the fields behind it are fewer.
template <class T, std::size_t... Before, std::size_t... Behind>
constexpr bool is_array_field(std::index_sequence<Before...>, std::index_sequence<Behind...>) {
    const bool takes_two = requires { T{((void)Before, AnyField{})..., {AnyField{}, AnyField{}}}; };
    const bool takes_one = requires { T{((void)Before, AnyField{})..., {AnyField{}}, ((void)Behind, AnyField{})...}; };
    return takes_two && !takes_one;
}
template <class T, std::size_t Fields, std::size_t... K>
constexpr bool has_array_field(std::index_sequence<K...>) {
    return (is_array_field<T>(std::make_index_sequence<K>{}, std::make_index_sequence<Fields - K - 1>{}) || ...);
}

/// Whether the fields of a struct can be found without its help. Members that are const or references, and so cannot be
/// assigned, are for itself to list or to leave out.
template <class T>
constexpr bool has_plain_fields() {
    if constexpr (!std::is_aggregate_v<T> || std::is_union_v<T> || std::is_array_v<T> ||
                  !std::is_copy_assignable_v<T>) {
        return false;
    } else {
        constexpr std::size_t fields = count_fields<T>();
        return fields > 0 && fields <= most_fields && !has_array_field<T, fields>(std::make_index_sequence<fields>{});
    }
}

/// Calls visit(fields…) for a struct with plain fields.
template <class T, class Visit>
constexpr void visit_fields(const T& s, const Visit& visit) {
    constexpr std::size_t count = count_fields<T>();
    if constexpr (count == 1) {
        const auto& [a] = s;
        visit(a);
    } else if constexpr (count == 2) {
        const auto& [a, b] = s;
        visit(a, b);
    } else if constexpr (count == 3) {
        const auto& [a, b, c] = s;
        visit(a, b, c);
    } else if constexpr (count == 4) {
        const auto& [a, b, c, d] = s;
        visit(a, b, c, d);
    } else if constexpr (count == 5) {
        const auto& [a, b, c, d, e] = s;
        visit(a, b, c, d, e);
    } else if constexpr (count == 6) {
        const auto& [a, b, c, d, e, f] = s;
        visit(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        const auto& [a, b, c, d, e, f, g] = s;
        visit(a, b, c, d, e, f, g);
    } else if constexpr (count == 8) {
        const auto& [a, b, c, d, e, f, g, h] = s;
        visit(a, b, c, d, e, f, g, h);
    } else if constexpr (count == 9) {
        const auto& [a, b, c, d, e, f, g, h, i] = s;
        visit(a, b, c, d, e, f, g, h, i);
    } else if constexpr (count == 10) {
        const auto& [a, b, c, d, e, f, g, h, i, j] = s;
        visit(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (count == 11) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (count == 12) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l);
    } else if constexpr (count == 13) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m);
    } else if constexpr (count == 14) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    } else if constexpr (count == 15) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    } else {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    }
}

template <class T>
inline constexpr bool is_std_array = false;
template <class T, std::size_t Size>
inline constexpr bool is_std_array<std::array<T, Size>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

}  // namespace detail

/// Whether a value points elsewhere, which says nothing on another node.
template <class T>
inline constexpr bool points_elsewhere =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;

/// Adds the fields of a value to a digest, and theirs: numbers by their bits and enumerators, but not what pointers
/// point to, nor where. A struct of up to 16 fields lists them by itself; any other class has a member
///     auto fields() const { return std::tie(first_, second_); }
template <class T>
constexpr void add_fields(Digest& digest, const T& value) {
    if constexpr (points_elsewhere<T> || std::is_empty_v<T>) {
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
        digest.add(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
        digest.add(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<T, float>) {
        digest.add(std::bit_cast<std::uint32_t>(value));
    } else if constexpr (detail::is_std_array<T>) {
        for (const auto& element : value) add_fields(digest, element);
    } else if constexpr (detail::is_optional<T>) {
        add_fields(digest, value.has_value());
        if (value) add_fields(digest, *value);
    } else {
        const auto add_all = [&](const auto&... fields) { (add_fields(digest, fields), ...); };
        if constexpr (requires { value.fields(); }) {
            std::apply(add_all, value.fields());
        } else {
            constexpr bool listed = detail::has_plain_fields<T>();
            static_assert(
                listed,
                "what nodes compare lists its fields, as a struct of up to 16 numbers, enumerators, pointers, "
                "std::arrays and other such structs does by itself: use one, or write a member "
                "`auto fields() const { return std::tie(first_, second_); }`");
            if constexpr (listed) detail::visit_fields(value, add_all);
        }
    }
}

/// The same of a value whose type only the caller knows.
template <class T>
void add_fields_at(Digest& digest, const void* value) {
    add_fields(digest, *static_cast<const T*>(value));
}

}  // namespace tesela
