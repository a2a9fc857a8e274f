#pragma once

#include "tesela/kernels/kernel.hpp"
#include "tesela/kernels/kernel_use.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

namespace tesela::starpu {

/// What the calls of a kernel have amounted to, and what one more may be expected to take. Tasks that end at the same
/// time add to it.
class KernelTally {
public:
    /// Whether a call had tiles of low rank: their operations run at a rate of their own.
    enum class Form : std::uint8_t { whole, low_rank };
    [[nodiscard]] static Form form_of(std::span<const TileShape> shapes);

    void add(const KernelCost& cost, Form form, std::chrono::nanoseconds taken) noexcept;
    void add_to(KernelUse& use) const;
    /// By the rate of calls that were alike; where there were none yet, of those that come nearest; else a guess.
    [[nodiscard]] double expected_seconds(const KernelCost& cost, Form form) const;

private:
    /// Calls whose work is within a factor of four.
    struct Calls {
        std::atomic<std::uint64_t> nanoseconds{0};
        std::atomic<double> work{0};
    };
    static constexpr std::size_t sizes = 32;
    using BySize = std::array<Calls, sizes>;

    std::atomic<std::uint64_t> calls_{0};
    std::atomic<double> flops_{0};
    std::atomic<double> bytes_{0};
    std::array<BySize, 2> by_size_{};  // by form
};

}  // namespace tesela::starpu
