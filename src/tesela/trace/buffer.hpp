#pragma once

#include "tesela/trace/schema.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

namespace tesela::trace {

/// A ring of records with one thread that fills it and one that empties it; neither ever locks.
class Buffer {
public:
    /// `capacity` is a power of two.
    Buffer(std::size_t capacity, std::uint16_t thread) : ring_(capacity), thread_(thread) {}

    [[nodiscard]] std::size_t capacity() const { return ring_.size(); }
    [[nodiscard]] std::uint16_t thread() const { return thread_; }

    /// By the thread that fills it: false when there is no room for all of them. They become visible together.
    [[nodiscard]] bool put(std::span<const Record> records) noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head + records.size() - seen_tail_ > ring_.size()) {
            seen_tail_ = tail_.load(std::memory_order_acquire);
            if (head + records.size() - seen_tail_ > ring_.size()) return false;
        }
        for (std::size_t k = 0; k < records.size(); ++k) ring_[(head + k) & (ring_.size() - 1)] = records[k];
        head_.store(head + records.size(), std::memory_order_release);
        return true;
    }

    /// By the thread that empties it: what is there, in order, in at most two pieces. Valid until `taken`.
    [[nodiscard]] std::array<std::span<const Record>, 2> waiting() const noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        const std::size_t count = head_.load(std::memory_order_acquire) - tail;
        const std::size_t at = tail & (ring_.size() - 1);
        const std::size_t first = std::min(count, ring_.size() - at);
        return {std::span{ring_.data() + at, first}, std::span{ring_.data(), count - first}};
    }
    void taken(std::size_t count) noexcept {
        tail_.store(tail_.load(std::memory_order_relaxed) + count, std::memory_order_release);
    }

    /// Whether a thread writes to it now; a buffer that was left goes to the next thread.
    std::atomic<bool> owned{true};

private:
    std::vector<Record> ring_;
    std::uint16_t thread_;
    alignas(64) std::atomic<std::size_t> head_{0};
    std::size_t seen_tail_ = 0;
    alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace tesela::trace
