#pragma once

#include "tesela/flow/task.hpp"
#include "tesela/sim/internal/allowed_workers.hpp"
#include "tesela/sim/internal/shared_gpu.hpp"
#include "tesela/sim/internal/vertex_queue.hpp"

#include <cstdint>

namespace tesela::sim {

/// Cores of a place that are busy, as far as an estimate of when they are free needs them.
class BusyCores {
public:
    void start(double seconds, double now);
    void end(double now);
    /// One of them needs more than was expected.
    void go_on(double seconds);
    /// Seconds that they still need, summed over them, and `more`.
    [[nodiscard]] double seconds_left(double more, double now) const { return more + ends_ - count_ * now; }

private:
    std::int32_t count_ = 0;
    double ends_ = 0;  // the sum of the times when they end
};

/// What goes on in a place: its free workers, what was chosen for it, and what it is expected to need for that.
struct PlaceState {
    explicit PlaceState(const Place& where);

    const Place* place;
    FreeWorkers free;
    FreeWorkers free_critical;
    BusyCores cores{};
    SharedGpu gpu{};
    double load = 0;            ///< expected seconds of what is queued or staged
    std::int32_t queued = 0;    ///< tasks that only this place may take
    std::int32_t staged = 0;    ///< tasks that it has taken and not started
    VertexQueue complete[2]{};  ///< those of them that have all their data, by urgency

    /// Whether its critical worker, which serves every stream, takes such tasks.
    [[nodiscard]] bool takes_critical(Urgency urgency) const {
        return place->critical_slots > 0 && urgency == Urgency::critical;
    }
    /// Seconds until it has done what it has, as far as that keeps a new task waiting.
    [[nodiscard]] double expected_wait(double now) const;
    /// A staged task starts, or goes elsewhere.
    void leave_stage(double seconds);
    void give_back(std::int32_t worker);
};

}  // namespace tesela::sim
