#include "tesela/geo/overlap.hpp"

namespace tesela::geo {

CriticalWorker critical_worker(OverlapChoice choice) {
    if (!choice) return CriticalWorker::automatic;
    return choice == Overlap::oversubscribe ? CriticalWorker::shared_core : CriticalWorker::none;
}

std::string_view name(Overlap overlap) { return name_in(overlap_names, overlap); }
Overlap parse_overlap(std::string_view text) { return parse_name(overlap_names, text, "step of overlap"); }

}  // namespace tesela::geo
