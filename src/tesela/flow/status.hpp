#pragma once

#include "tesela/kernels/kernel.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace tesela {

/// How the work of a stream ended: well, or with the first pivot (global index, from 0) at which it could not go on,
/// the node (`index`) that had no memory left, or a kernel's own reason and where. The same value on every node.
struct Status {
    Failure failure = Failure::none;
    Index index = 0;
    std::string reason{};  ///< of Failure::stated and outside

    [[nodiscard]] bool ok() const { return failure == Failure::none; }
    /// One line for a person, e.g. "the matrix is not positive definite: pivot 17 (counted from 0) is not positive".
    [[nodiscard]] std::string describe() const;
    friend bool operator==(const Status&, const Status&) = default;
};

/// How a task ends whose kernel returned this, which is no success.
[[nodiscard]] Status status_of(const Kernel& kernel, const KernelResult& result);

/// Collects the failures of one stream from any thread; see earlier_failure for which wins, so the result does not
/// depend on the order in which workers report.
class FailureFlag {
public:
    [[nodiscard]] bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }
    void raise(const Status& status) noexcept;
    /// What has been raised so far.
    [[nodiscard]] Status status() const noexcept;
    /// What was raised since the last call, and lowers the flag.
    [[nodiscard]] Status take() noexcept;

private:
    std::atomic<bool> raised_{false};
    mutable std::mutex mutex_;
    Status status_;
};

/// Of two outcomes, the failed one; of two failures, the want of memory (what comes after it on its node may follow
/// from it), otherwise the one with the smaller pivot.
[[nodiscard]] Status earlier_failure(const Status& a, const Status& b);

/// Throws Error, which describes it, unless the work ended well.
void require_done(const Status& status);

/// That order as numbers: the earlier failure has the smaller one, no failure the largest. Nodes agree on the least.
[[nodiscard]] std::int64_t rank_of(const Status& status);
/// The status with a rank, without its reason.
[[nodiscard]] Status status_of_rank(std::int64_t rank);

}  // namespace tesela
