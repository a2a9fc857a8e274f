#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace tesela {

/// A number that stands for many, in their order, to compare what two nodes have without sending it. Not for secrets.
class Digest {
public:
    constexpr void add(std::uint64_t number) {
        value_ = (value_ ^ number) * 0x9e3779b97f4a7c15U;
        value_ ^= value_ >> 32U;
    }
    constexpr void add(std::span<const double> numbers) {
        for (const double number : numbers) add(std::bit_cast<std::uint64_t>(number));
    }
    constexpr void add(std::string_view text) {
        add(std::uint64_t{text.size()});
        for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0;
};

/// Of what a digest takes: a number, numbers or a text.
template <class... What>
[[nodiscard]] constexpr std::uint64_t digest_of(const What&... what) {
    Digest digest;
    (digest.add(what), ...);
    return digest.value();
}

}  // namespace tesela
