#pragma once

#include "tesela/sim/internal/section.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tesela::sim {

/// What the thread that submits needs for a step that concerns its node, and to pass over an item that does not.
struct SubmissionCosts {
    double step_seconds = 0;
    double passing_seconds = 0;
};

/// How streams share a section: the tasks of each that may be pending on a node, and whose each item is.
struct Throttle {
    std::vector<Index> limit;
    const std::vector<std::uint16_t>& stream_of_item;
};

/// What one node submits of a section: what comes next and when, and whether it is held back. As the StarPU engine: a
/// step is held back while too much of its stream is pending, until a quarter of that has ended.
class Submission {
public:
    explicit Submission(const SubmissionCosts& costs) : costs_(costs) {}

    /// `steps` and `throttle` stay until the next `begin`.
    void begin(std::span<const SubmissionStep> steps, std::uint32_t first_item, const Throttle& throttle, double now);
    /// When the next step is submitted, if nothing holds it back; nothing after the last. Called once per step.
    [[nodiscard]] std::optional<double> next_time(double now);
    /// The next step, which is pending from now on; nothing if it is held back.
    [[nodiscard]] std::optional<SubmissionStep> submit(double now);
    /// A task or message of a stream has ended. Where submission goes on because of it: since when it was held back.
    [[nodiscard]] std::optional<double> ended(std::uint16_t stream);
    /// How many steps have been submitted.
    [[nodiscard]] std::size_t submitted() const { return next_; }
    /// The step that comes next, where next_time() says that there is one.
    [[nodiscard]] const SubmissionStep& next() const { return steps_[next_]; }
    /// Whether there is more to submit and nothing holds it back.
    [[nodiscard]] bool busy() const { return next_ < steps_.size() && !held_since_; }
    /// When the last step was submitted.
    [[nodiscard]] double last() const { return last_; }

private:
    [[nodiscard]] bool begins_item() const { return next_ == 0 || steps_[next_ - 1].item != steps_[next_].item; }

    SubmissionCosts costs_;
    std::span<const SubmissionStep> steps_;
    const Throttle* throttle_ = nullptr;
    std::size_t next_ = 0;
    std::uint32_t next_item_ = 0;  // those before it have been passed
    std::vector<Index> pending_;   // per stream
    std::optional<double> held_since_;
    double last_ = 0;
};

}  // namespace tesela::sim
