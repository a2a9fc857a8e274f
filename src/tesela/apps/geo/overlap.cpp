#include "tesela/apps/geo/overlap.hpp"

#include "tesela/flow/engine.hpp"

namespace tesela::geo {

Overlap overlap_for(OverlapChoice choice, Index cores) {
    return choice.value_or(has_core_to_share(cores) ? Overlap::oversubscribe : Overlap::order);
}

std::string_view name(Overlap overlap) { return name_in(overlap_names, overlap); }
Overlap parse_overlap(std::string_view text) { return parse_name(overlap_names, text, "step of overlap"); }

}  // namespace tesela::geo
