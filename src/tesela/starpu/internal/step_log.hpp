#pragma once

#include "tesela/base/digest.hpp"
#include "tesela/flow/exchange.hpp"
#include "tesela/flow/task.hpp"
#include "tesela/net/first_difference.hpp"
#include "tesela/starpu/internal/tile_names.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace tesela::starpu {

/// Steps that are about one tile.
enum class TileStep : std::uint8_t { move, share, retire, fetch, discard };

/// The steps of a stream since it was opened: how many; a hash of them, the trail, which is the same on every node as
/// long as nodes do the same; and what the last of them were. One thread at a time adds; any may ask.
class StepLog {
public:
    /// One more step. Returns its count.
    std::uint64_t add(const Task& task);
    /// `with`: the nodes that it is about, besides.
    std::uint64_t add(TileStep step, const TileRef& tile, std::span<const std::int32_t> with = {});
    std::uint64_t add(const Exchange& exchange);
    std::uint64_t add(const StarpuAttachment& matrix);
    /// The same where nobody compares.
    std::uint64_t add_uncompared() {
        const std::uint64_t now = steps_.load(std::memory_order_relaxed) + 1;
        steps_.store(now, std::memory_order_relaxed);
        return now;
    }

    [[nodiscard]] std::uint64_t count() const { return steps_.load(); }
    /// Of all steps so far; for who adds them.
    [[nodiscard]] std::uint64_t trail() const { return trail_.value(); }
    /// That of the steps up to this one; nothing if it is not remembered.
    [[nodiscard]] std::optional<std::uint64_t> trail(std::uint64_t step) const;
    /// What is remembered of a step, in words with names for its tiles.
    [[nodiscard]] net::Recalled recall(std::uint64_t step, const TileNames& names) const;

private:
    enum class Kind : std::uint8_t { task = 1, move, share, retire, fetch, discard, exchange, matrix };
    /// A step. Another thread may look while it is written over, which it notices by the count.
    struct Record {
        std::atomic<std::uint64_t> trail{0};
        std::atomic<std::uint64_t> head{0};
        std::atomic<const char*> kernel{nullptr};
        std::array<std::atomic<std::uint64_t>, Task::max_accesses> tiles{};
    };
    class Entry;
    [[nodiscard]] std::uint64_t oldest() const;
    [[nodiscard]] Record& record(std::uint64_t step) const { return (*chunks_[step / chunk % chunks])[step % chunk]; }

    static constexpr std::uint64_t chunk = 256;
    static constexpr std::uint64_t chunks = 64;
    std::atomic<std::uint64_t> steps_{0};
    Digest trail_;
    /// Of all steps, or the last so many: made as they are needed.
    std::array<std::unique_ptr<std::array<Record, chunk>>, chunks> chunks_;
};

}  // namespace tesela::starpu
