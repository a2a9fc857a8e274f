#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tesela::sim {

/// The core of each node that submission shares with the critical worker: whoever begins while the other is at work has
/// half of it until its task or step ends (paper 000, "oversubscribe" of section 4.2.1).
class SubmissionCore {
public:
    explicit SubmissionCore(std::size_t nodes) : critical_(nodes, 0) {}

    /// A critical task starts beside submission, or without it; returns how many times its time it takes.
    [[nodiscard]] double critical_starts(std::int32_t node, bool submitting) {
        ++critical_[static_cast<std::size_t>(node)];
        return submitting ? shared : alone;
    }
    void critical_ends(std::int32_t node) { --critical_[static_cast<std::size_t>(node)]; }
    /// What a step of submission takes longer than its own time.
    [[nodiscard]] double delay_of_submission(std::int32_t node, double seconds) const {
        return critical_[static_cast<std::size_t>(node)] > 0 ? (shared - alone) * seconds : 0;
    }

private:
    static constexpr double alone = 1;
    static constexpr double shared = 2;
    std::vector<std::int32_t> critical_;  // critical tasks under way on that core
};

}  // namespace tesela::sim
