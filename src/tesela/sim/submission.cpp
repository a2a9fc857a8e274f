#include "tesela/sim/internal/submission.hpp"

#include "tesela/flow/engine.hpp"

#include <utility>

namespace tesela::sim {

void Submission::begin(std::span<const SubmissionStep> steps, std::uint32_t first_item, const Throttle& throttle,
                       double now) {
    steps_ = steps;
    throttle_ = &throttle;
    next_ = 0;
    next_item_ = first_item;
    pending_.assign(throttle.limit.size(), 0);
    held_since_.reset();
    last_ = now;
}

/// A node looks at every item of the stream; what does not concern it costs it little.
std::optional<double> Submission::next_time(double now) {
    if (next_ == steps_.size()) return {};
    const std::uint32_t item = steps_[next_].item;
    const double passed = item > next_item_ ? static_cast<double>(item - next_item_) : 0;
    next_item_ = item + 1;
    return now + passed * costs_.passing_seconds + costs_.step_seconds;
}

std::optional<SubmissionStep> Submission::submit(double now) {
    const SubmissionStep step = steps_[next_];
    if (step.vertex != SubmissionStep::worker_set) {
        const std::uint16_t stream = throttle_->stream_of_item[step.item];
        if (begins_item() && pending_[stream] >= throttle_->limit[stream]) {
            held_since_ = now;
            return {};
        }
        if (step.has_vertex()) ++pending_[stream];
    }
    ++next_;
    last_ = now;
    return step;
}

std::optional<double> Submission::ended(std::uint16_t stream) {
    --pending_[stream];
    // What other streams have pending does not matter to the step that is held back.
    if (!held_since_ || throttle_->stream_of_item[steps_[next_].item] != stream) return {};
    if (pending_[stream] > resume_level(throttle_->limit[stream])) return {};
    return std::exchange(held_since_, std::nullopt);
}

}  // namespace tesela::sim
