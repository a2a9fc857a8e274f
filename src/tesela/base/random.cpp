#include "tesela/base/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace tesela {
namespace {

struct Block {
    std::uint64_t first;
    std::uint64_t second;
};

Block philox(std::uint64_t seed, RandomPosition at) noexcept {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
    const r123::Philox4x32::ctr_type counter{{low(at.i), high(at.i), low(at.j), high(at.j)}};
    const r123::Philox4x32::key_type key{{low(seed), high(seed)}};
    const auto r = r123::Philox4x32{}(counter, key);
    const auto join = [](std::uint32_t a, std::uint32_t b) { return (static_cast<std::uint64_t>(b) << 32U) | a; };
    return {join(r[0], r[1]), join(r[2], r[3])};
}

double unit_interval(std::uint64_t bits) noexcept { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }

}  // namespace

std::uint64_t Random::bits(RandomPosition at) const noexcept { return philox(seed_, at).first; }

double Random::uniform(RandomPosition at) const noexcept { return unit_interval(bits(at)); }

std::uint64_t Random::below(std::uint64_t bound, RandomPosition at) const noexcept {
    // floor(bits * bound / 2^64) by 32-bit halves, portable without a 128-bit type.
    const std::uint64_t x = bits(at);
    const std::uint64_t x_low = x & 0xffffffffU;
    const std::uint64_t x_high = x >> 32U;
    const std::uint64_t b_low = bound & 0xffffffffU;
    const std::uint64_t b_high = bound >> 32U;
    const std::uint64_t middle = x_high * b_low + ((x_low * b_low) >> 32U);
    const std::uint64_t carry = x_low * b_high + (middle & 0xffffffffU);
    return x_high * b_high + (middle >> 32U) + (carry >> 32U);
}

double Random::normal(RandomPosition at) const noexcept {
    const Block block = philox(seed_, at);
    const double u = 1.0 - unit_interval(block.first);  // in (0, 1]: the logarithm is finite
    const double v = unit_interval(block.second);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace tesela
