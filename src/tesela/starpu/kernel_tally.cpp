#include "tesela/starpu/internal/kernel_tally.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::starpu {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Operations, or bytes of a kernel that has none.
double work_of(const KernelCost& cost) { return cost.flops > 0 ? cost.flops : cost.bytes; }

std::size_t size_class(double work, std::size_t classes) {
    const int power = work >= 1 ? std::ilogb(work) / 2 : 0;
    return std::min(static_cast<std::size_t>(power), classes - 1);
}

}  // namespace

KernelTally::Form KernelTally::form_of(std::span<const TileShape> shapes) {
    const auto is_low_rank = [](const TileShape& shape) { return shape.rank != dense_rank; };
    return std::ranges::any_of(shapes, is_low_rank) ? Form::low_rank : Form::whole;
}

void KernelTally::add(const KernelCost& cost, Form form, std::chrono::nanoseconds taken) noexcept {
    const double work = work_of(cost);
    Calls& alike = by_size_[static_cast<std::size_t>(form)][size_class(work, sizes)];
    calls_.fetch_add(1, relaxed);
    flops_.fetch_add(cost.flops, relaxed);
    bytes_.fetch_add(cost.bytes, relaxed);
    alike.nanoseconds.fetch_add(static_cast<std::uint64_t>(taken.count()), relaxed);
    alike.work.fetch_add(work, relaxed);
}

void KernelTally::add_to(KernelUse& use) const {
    use.calls += static_cast<Index>(calls_.load(relaxed));
    use.flops += flops_.load(relaxed);
    use.bytes += bytes_.load(relaxed);
    for (const BySize& form : by_size_)
        for (const Calls& calls : form) use.seconds += 1e-9 * static_cast<double>(calls.nanoseconds.load(relaxed));
}

double KernelTally::expected_seconds(const KernelCost& cost, Form form) const {
    const double work = work_of(cost);
    const std::size_t wanted = size_class(work, sizes);
    const auto by_rate_of = [&](const Calls& calls) {
        const double done = calls.work.load(relaxed);
        return done > 0 ? 1e-9 * static_cast<double>(calls.nanoseconds.load(relaxed)) / done * work : 0.0;
    };
    for (std::size_t distance = 0; distance < sizes; ++distance)
        for (const BySize* calls :
             {&by_size_[static_cast<std::size_t>(form)], &by_size_[1 - static_cast<std::size_t>(form)]}) {
            if (wanted >= distance)
                if (const double seconds = by_rate_of((*calls)[wanted - distance]); seconds > 0) return seconds;
            if (wanted + distance < sizes)
                if (const double seconds = by_rate_of((*calls)[wanted + distance]); seconds > 0) return seconds;
        }
    constexpr double guessed_rate = 1e10;  // of a core, per second: what counts is that more work takes longer
    return std::max(work, 1.0) / guessed_rate;
}

}  // namespace tesela::starpu
