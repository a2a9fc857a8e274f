#pragma once

#include "tesela/cli/output.hpp"
#include "tesela/plan/plan_file.hpp"
#include "tesela/plan/tile_choice.hpp"

#include <string>

namespace tesela::cli {

/// What came of planning.
struct PlanOutcome {
    const Platform& platform;
    const plan::TileChoice& tile;
    const plan::Planned& planned;
    const plan::Plan& plan;
};

/// All of it, as JSON.
[[nodiscard]] Json plan_json(const PlanOutcome& outcome);
/// For people, on stdout.
void print_plan(const PlanOutcome& outcome);
/// Pictures of the owners in both phases, in a folder.
void draw_plan(const plan::Plan& plan, const plan::PlannedMatrix& matrix, const std::string& folder);

}  // namespace tesela::cli
