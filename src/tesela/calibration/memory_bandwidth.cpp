#include "tesela/calibration/memory_bandwidth.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/calibration/internal/crew.hpp"
#include "tesela/calibration/internal/tile_supply.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace tesela::calibration {
namespace {

constexpr int passes = 9;

/// What one thread copies; touched by that thread first, so that the pages are near its core.
struct Part {
    std::unique_ptr<std::byte[]> from;
    std::unique_ptr<std::byte[]> to;
    std::size_t bytes = 0;

    void allocate() {
        from = std::make_unique_for_overwrite<std::byte[]>(bytes);
        to = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::memset(from.get(), 1, bytes);
        std::memset(to.get(), 0, bytes);
    }
    void copy() const { std::memcpy(to.get(), from.get(), bytes); }
};

}  // namespace

Index bytes_beyond_caches() {
    constexpr Index most = Index{1} << 30U;
    return std::min(most, static_cast<Index>(4 * last_cache_bytes()));
}

double measure_copy_bandwidth(Index bytes, int threads) {
    if (bytes < 1 || threads < 1)
        throw Error("a copy of {} bytes by {} threads cannot be timed: both must be at least 1", bytes, threads);
    std::vector<Part> parts(static_cast<std::size_t>(threads));
    for (auto& part : parts) part.bytes = static_cast<std::size_t>(ceil_div(bytes, threads));
    std::vector<Clock::time_point> marks(passes + 1);
    std::size_t reached = 0;
    std::barrier pass_ends(threads, [&]() noexcept { marks[reached++] = Clock::now(); });
    run_crew(threads, [&](int t) {
        Part& part = parts[static_cast<std::size_t>(t)];
        part.allocate();
        pass_ends.arrive_and_wait();
        for (int pass = 0; pass < passes; ++pass) {
            part.copy();
            pass_ends.arrive_and_wait();
        }
    });
    auto best = Clock::duration::max();
    for (std::size_t pass = 0; pass < passes; ++pass) best = std::min(best, marks[pass + 1] - marks[pass]);
    return static_cast<double>(parts[0].bytes) * threads / std::chrono::duration<double>(best).count();
}

}  // namespace tesela::calibration
