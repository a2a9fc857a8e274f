#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tesela::sim {

/// Kernels that share a GPU go on at equal rates.
class SharedGpu {
public:
    void start(std::uint32_t task, double seconds_alone, double now);

    /// When the next kernel ends if none starts before; a number says which expectation that is.
    struct Expected {
        double time = 0;
        std::uint32_t number = 0;
    };
    /// To be asked after every start and end; nothing if no kernel runs.
    [[nodiscard]] std::optional<Expected> expect(double now);
    /// The kernel that has ended as expected; nothing if another has started or ended since.
    [[nodiscard]] std::optional<std::uint32_t> end_first(std::uint32_t expected, double now);

    /// Seconds until all kernels have ended, and others that take `more` alone.
    [[nodiscard]] double seconds_left(double more, double now) const;

private:
    struct Kernel {
        std::uint32_t task = 0;
        double left = 0;  // seconds alone, when it was last counted down
    };
    void count_down(double now);

    std::vector<Kernel> kernels_;
    double counted_ = 0;  // when they were counted down
    std::uint32_t expected_ = 0;
};

}  // namespace tesela::sim
