#pragma once

#include <cstdint>

namespace tesela {

/// Where a random number stands: numbers depend on the seed and this position only, never on the order in which they
/// are drawn, the tile size or the number of nodes.
struct RandomPosition {
    std::uint64_t i = 0;
    std::uint64_t j = 0;
};

/// Counter-based random numbers (Philox 4x32-10 of Random123): a pure function of seed and position.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : seed_(seed) {}

    /// 64 random bits.
    [[nodiscard]] std::uint64_t bits(RandomPosition at) const noexcept;
    /// Uniform in [0, 1), 53 bits.
    [[nodiscard]] double uniform(RandomPosition at) const noexcept;
    /// Uniform integer in [0, bound), bound > 0, without modulo bias beyond 2^-64 * bound.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound, RandomPosition at) const noexcept;
    /// Standard normal (Box-Muller on the two halves of one Philox block).
    [[nodiscard]] double normal(RandomPosition at) const noexcept;

private:
    std::uint64_t seed_;
};

}  // namespace tesela
