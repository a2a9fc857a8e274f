#pragma once

#include "tesela/trace/collector.hpp"

#include <bit>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tesela::trace {

enum class FieldType : std::uint8_t { integer, real };

/// One field of an application's event.
struct Field {
    std::string name;
    FieldType type = FieldType::integer;
    friend bool operator==(const Field&, const Field&) = default;
};

/// The value of a field; integers and reals convert into each other as the field was declared.
class Value {
public:
    template <std::integral T>
    Value(T value)
        : integer_(static_cast<std::int64_t>(value)),
          real_(static_cast<double>(value)) {}                          // NOLINT(*-explicit-*): a number is a value
    Value(double value) : integer_(to_integer(value)), real_(value) {}  // NOLINT(*-explicit-*): so is this
    [[nodiscard]] std::uint64_t bits(FieldType type) const {
        return type == FieldType::real ? std::bit_cast<std::uint64_t>(real_) : static_cast<std::uint64_t>(integer_);
    }

private:
    [[nodiscard]] static std::int64_t to_integer(double value) {
        constexpr double limit = 9.2e18;
        return value > -limit && value < limit ? static_cast<std::int64_t>(value) : 0;
    }
    std::int64_t integer_;
    double real_;
};

inline constexpr std::size_t max_event_fields = 16;

/// An event that an application registered; a small value to keep in a static variable.
struct EventType {
    std::uint16_t id = 0;
    std::uint16_t field_count = 0;
    std::uint32_t reals = 0;  ///< bit k: field k is real
};

/// Registers an event with its own fields, whether or not a trace is being written; the same again gives the same.
/// Throws Error for more than 16 fields, or a name that is known with other fields.
[[nodiscard]] EventType register_event(const std::string& name, const std::vector<Field>& fields);

/// Records an event with one value per field; nothing when no trace is written or the module `app` is off.
void emit(const EventType& type, std::initializer_list<Value> values) noexcept;

/// The collector of this process, or null when nothing is traced.
[[nodiscard]] Collector* active() noexcept;

/// Makes a collector the one of this process; null ends that. Nothing may be recording meanwhile.
void set_active(Collector* collector);

}  // namespace tesela::trace
