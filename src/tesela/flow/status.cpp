#include "tesela/flow/status.hpp"

#include <fmt/format.h>

#include <utility>

namespace tesela {

std::string Status::describe() const {
    switch (failure) {
        case Failure::none: return "done";
        case Failure::not_positive_definite:
            return fmt::format("the matrix is not positive definite: pivot {} (counted from 0) is not positive", index);
        case Failure::zero_pivot:
            return fmt::format("LU without pivoting met a zero pivot at {} (counted from 0)", index);
        case Failure::out_of_memory:
            return fmt::format(
                "node {} has no memory left: use more nodes, a smaller matrix or smaller tiles, or wait more often",
                index);
        case Failure::stated: return fmt::format("{} (at {})", reason, index);
        case Failure::elsewhere: return "another node failed";
    }
    return "unknown status";
}

Status earlier_failure(const Status& a, const Status& b) {
    if (a.ok()) return b;
    if (b.ok()) return a;
    const bool memory_a = a.failure == Failure::out_of_memory;
    const bool memory_b = b.failure == Failure::out_of_memory;
    if (memory_a != memory_b) return memory_a ? a : b;
    return b.index < a.index ? b : a;
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
