#include "tesela/flow/status.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tesela {

std::string Status::describe() const {
    switch (failure) {
        case Failure::none: return "done";
        case Failure::not_positive_definite:
            return fmt::format(
                "the matrix is not positive definite: pivot {} (counted from 0) is not a positive number", index);
        case Failure::zero_pivot:
            return fmt::format("LU without pivoting met a pivot at {} (counted from 0) that is zero or no number",
                               index);
        case Failure::out_of_memory:
            return fmt::format(
                "node {} has no memory left: use more nodes, a smaller matrix or smaller tiles, or let the program "
                "wait for its "
                "stream more often",
                index);
        case Failure::stated: return fmt::format("{} (at {})", reason, index);
        case Failure::outside: return reason;
        case Failure::elsewhere: return "another node failed";
    }
    return "unknown status";
}

Status status_of(const Kernel& kernel, const KernelResult& result) {
    if (result.failure == Failure::outside)
        return {result.failure, 0, fmt::format("{} {}", kernel.name, result.reason)};
    return {result.failure, result.index, result.reason};
}

Status earlier_failure(const Status& a, const Status& b) { return rank_of(b) < rank_of(a) ? b : a; }

void require_done(const Status& status) {
    if (!status.ok()) throw Error("{}", status.describe());
}

namespace {
constexpr std::int64_t no_failure = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t failed_elsewhere = no_failure - 1;
constexpr std::int64_t no_memory = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kinds = 16;
}  // namespace

std::int64_t rank_of(const Status& status) {
    switch (status.failure) {
        case Failure::none: return no_failure;
        case Failure::elsewhere: return failed_elsewhere;
        case Failure::out_of_memory: return no_memory + status.index;
        default: return std::max<Index>(status.index, 0) * kinds + static_cast<std::int64_t>(status.failure);
    }
}

Status status_of_rank(std::int64_t rank) {
    if (rank == no_failure) return {};
    if (rank == failed_elsewhere) return {Failure::elsewhere, std::numeric_limits<Index>::max(), {}};
    if (rank < 0) return {Failure::out_of_memory, rank - no_memory, {}};
    return {static_cast<Failure>(rank % kinds), rank / kinds, {}};
}

void FailureFlag::raise(const Status& status) noexcept {
    const std::lock_guard lock(mutex_);
    status_ = earlier_failure(status_, status);
    raised_.store(!status_.ok(), std::memory_order_release);
}

Status FailureFlag::status() const noexcept {
    const std::lock_guard lock(mutex_);
    return status_;
}

Status FailureFlag::take() noexcept {
    const std::lock_guard lock(mutex_);
    raised_.store(false, std::memory_order_release);
    return std::exchange(status_, Status{});
}

}  // namespace tesela
