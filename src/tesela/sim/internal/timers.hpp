#pragma once

#include <cstddef>
#include <cstdint>

namespace tesela::sim {

/// What a timer says, packed into one word.
enum class TimerKind : std::uint8_t { submission, task_end, gpu, to_device, to_host, memory_there };
struct TimerWord {
    TimerKind kind = TimerKind::submission;
    std::int32_t node = 0;
    std::size_t part = 0;  ///< of the node: a place or a memory
    std::uint32_t id = 0;
};
[[nodiscard]] constexpr std::uint64_t pack(const TimerWord& word) {
    return static_cast<std::uint64_t>(word.kind) << 60U | static_cast<std::uint64_t>(word.node) << 38U |
           static_cast<std::uint64_t>(word.part) << 32U | word.id;
}
[[nodiscard]] constexpr TimerWord unpack(std::uint64_t word) {
    return {static_cast<TimerKind>(word >> 60U), static_cast<std::int32_t>(word >> 38U & 0x3fffffU),
            static_cast<std::size_t>(word >> 32U & 0x3fU), static_cast<std::uint32_t>(word)};
}

}  // namespace tesela::sim
