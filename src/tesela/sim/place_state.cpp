#include "tesela/sim/internal/place_state.hpp"

#include <algorithm>

namespace tesela::sim {

void BusyCores::start(double seconds, double now) {
    ++count_;
    ends_ += now + seconds;
}

void BusyCores::go_on(double seconds) { ends_ += seconds; }

void BusyCores::end(double now) { ends_ = --count_ == 0 ? 0 : ends_ - now; }

PlaceState::PlaceState(const Place& where)
    : place(&where),
      free(where.first_worker, where.slots),
      free_critical(where.first_critical, where.critical_slots) {}

double PlaceState::expected_wait(double now) const {
    if (place->is_gpu()) return gpu.seconds_left(load, now);
    if (queued == 0 && !free.empty()) return 0;
    return std::max(0.0, cores.seconds_left(load, now) / place->slots);
}

void PlaceState::leave_stage(double seconds) {
    --staged;
    load = std::max(0.0, load - seconds);
}

void PlaceState::give_back(std::int32_t worker) {
    const bool critical = place->critical_slots > 0 && worker >= place->first_critical;
    (critical ? free_critical : free).give_back(worker);
}

}  // namespace tesela::sim
