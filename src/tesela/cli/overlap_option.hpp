#pragma once

#include "tesela/cli/choice_option.hpp"
#include "tesela/geo/overlap.hpp"

namespace tesela::cli {

/// Adds --overlap for a likelihood evaluation that is simulated.
inline void add_simulated_overlap_option(CLI::App& command, geo::OverlapChoice& overlap) {
    add_choice(command, "--overlap", overlap, geo::overlap_choice_names,
               "How far the phases overlap, from sync (not at all); each step adds to those before it; auto: "
               "oversubscribe on nodes with 64 cores or more, otherwise order");
}

}  // namespace tesela::cli
