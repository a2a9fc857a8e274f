#include "tesela/starpu/internal/step_log.hpp"

#include "tesela/base/fields.hpp"
#include "tesela/starpu/internal/attachment.hpp"

#include <fmt/format.h>

#include <string>

namespace tesela::starpu {

/// A step that is being added: what it is goes into its record and into the trail.
class StepLog::Entry {
public:
    Entry(StepLog& log, Kind kind, std::size_t tiles, Index node = 0)
        : log_(log),
          count_(log.steps_.load(std::memory_order_relaxed) + 1) {
        auto& chunk_of_it = log.chunks_[count_ / chunk % chunks];
        if (!chunk_of_it) chunk_of_it = std::make_unique<std::array<Record, chunk>>();
        record_ = &log.record(count_);
        if (count_ % chunk + 2 < chunk) {
            __builtin_prefetch(record_ + 1, 1);
            __builtin_prefetch(record_ + 2, 1);  // no longer in the cache, and end() waits for what was written
        }
        const std::uint64_t head =
            static_cast<std::uint64_t>(kind) | tiles << 8U | static_cast<std::uint64_t>(node) << 16U;
        record_->head.store(head, std::memory_order_relaxed);
        digest.add(head);
    }
    void kernel(const Kernel& kernel) {
        record_->kernel.store(kernel.name, std::memory_order_relaxed);
        digest.add(kernel.name_digest);
    }
    void tile(std::uint64_t datum, AccessMode mode = AccessMode::read) {
        record_->tiles[tiles_++].store(datum, std::memory_order_relaxed);
        digest.add(datum * 8 + static_cast<std::uint64_t>(mode));
    }
    std::uint64_t end() {
        log_.trail_.add(digest.value());
        record_->trail.store(log_.trail_.value(), std::memory_order_relaxed);
        log_.steps_.store(count_);
        return count_;
    }
    Digest digest;

private:
    StepLog& log_;
    std::uint64_t count_;
    Record* record_;
    std::size_t tiles_ = 0;
};

std::uint64_t StepLog::add(const Task& task) {
    Entry entry(*this, Kind::task, task.used().size(), task.node);
    entry.kernel(*task.kernel);
    for (const Access& access : task.used()) {
        entry.tile(attachment_of(access.tile).datum(access.tile.index), access.mode);
        if (access.view != TileView{}) add_fields(entry.digest, access.view);
    }
    if (task.add_arguments != nullptr) task.add_arguments(entry.digest, task.arguments.data());
    return entry.end();
}

std::uint64_t StepLog::add(TileStep step, const TileRef& tile, std::span<const std::int32_t> with) {
    const auto kind = static_cast<Kind>(static_cast<int>(Kind::move) + static_cast<int>(step));
    Entry entry(*this, kind, 1, with.empty() ? 0 : with.front());
    entry.tile(attachment_of(tile).datum(tile.index));
    entry.digest.add(with.size());
    for (const std::int32_t node : with) entry.digest.add(static_cast<std::uint64_t>(node));
    return entry.end();
}

std::uint64_t StepLog::add(const Exchange& exchange) {
    Entry entry(*this, Kind::exchange, 2);
    for (const Attachment* matrix : {exchange.from, exchange.to})
        entry.tile(static_cast<const StarpuAttachment*>(matrix)->datum({0, 0}));
    const OverlayProblem& problem = exchange.overlay->problem();
    add_fields(entry.digest, problem.from_offset);
    add_fields(entry.digest, problem.to_offset);
    add_fields(entry.digest, problem.size);
    add_fields(entry.digest, problem.part);
    add_fields(entry.digest, problem.diagonal);
    add_fields(entry.digest, problem.orientation);
    add_fields(entry.digest, exchange.options);
    return entry.end();
}

std::uint64_t StepLog::add(const StarpuAttachment& matrix) {
    Entry entry(*this, Kind::matrix, 1);
    entry.tile(matrix.datum({0, 0}));
    Digest& digest = entry.digest;
    digest.add(std::string_view(matrix.name()));
    for (const auto* cuts : {&matrix.tiling().row_cuts(), &matrix.tiling().col_cuts()}) {
        digest.add(cuts->size());
        for (const Index cut : *cuts) digest.add(static_cast<std::uint64_t>(cut));
    }
    for (const std::int32_t owner : matrix.distribution().owners()) digest.add(static_cast<std::uint64_t>(owner));
    add_fields(digest, matrix.type());
    add_fields(digest, matrix.stored());
    add_fields(digest, matrix.has_callers_memory());
    add_fields(digest, matrix.compression());
    return entry.end();
}

/// Not those that may be written over just now; a few more, since another processor may see stores in another order.
std::uint64_t StepLog::oldest() const {
    constexpr std::uint64_t told = chunk * (chunks - 1);
    const std::uint64_t now = steps_.load();
    return now < told ? 0 : now - told;
}

std::optional<std::uint64_t> StepLog::trail(std::uint64_t step) const {
    if (step == 0) return 0;
    if (step > count() || step < oldest()) return {};
    const std::uint64_t trail = record(step).trail.load(std::memory_order_relaxed);
    return step < oldest() ? std::nullopt : std::optional(trail);
}

net::Recalled StepLog::recall(std::uint64_t step, const TileNames& names) const {
    net::Recalled recalled{.oldest = oldest(), .newest = count(), .trail = trail(step)};
    if (step == 0 || !recalled.trail) return recalled;
    const Record& its = record(step);
    const std::uint64_t head = its.head.load(std::memory_order_relaxed);
    const std::uint64_t node = head >> 16U;
    const auto datum = [&](std::size_t k) { return its.tiles[k].load(std::memory_order_relaxed); };
    const auto about = [&](const char* does) { return fmt::format("{} {}", does, names.tile(datum(0))); };
    switch (static_cast<Kind>(head & 0xffU)) {
        case Kind::task: {
            recalled.text = fmt::format("submits {}", its.kernel.load(std::memory_order_relaxed));
            for (std::size_t k = 0; k < (head >> 8U & 0xffU); ++k)
                recalled.text += fmt::format("{} {}", k == 0 ? " on" : ",", names.tile(datum(k)));
            recalled.text += fmt::format(" for node {}", node);
            recalled.otherwise = "with other arguments, views or modes of access";
            break;
        }
        case Kind::move: recalled.text = fmt::format("{} to node {}", about("moves"), node); break;
        case Kind::share:
            recalled.text = about("shares");
            recalled.otherwise = "with other nodes";
            break;
        case Kind::retire: recalled.text = about("retires"); break;
        case Kind::fetch: recalled.text = about("reads"); break;
        case Kind::discard: recalled.text = about("discards"); break;
        case Kind::exchange:
            recalled.text = fmt::format("redistributes {} to {}", names.matrix(datum(0)), names.matrix(datum(1)));
            recalled.otherwise = "with other parts or options";
            break;
        case Kind::matrix:
            recalled.text = fmt::format("makes matrix {}", names.description(datum(0)));
            recalled.otherwise = "with other cuts or owners";
            break;
    }
    if (step < oldest()) recalled.trail.reset();  // it was written over meanwhile
    return recalled;
}

}  // namespace tesela::starpu
