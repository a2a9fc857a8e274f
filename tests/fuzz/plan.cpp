// Feeds bytes to the reader of plans. Only tesela::Error of one line may come out; what is accepted is for the nodes
// that it names, and is the same when it is written and read again.

#include "require.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/plan/plan_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::one_line_at_most;
using fuzz::require;

void check_nodes(const plan::Plan& plan, const Distribution& owners, const std::vector<Index>& used) {
    const auto nodes = static_cast<Index>(plan.nodes.size());
    require(owners.nodes() == nodes, "phases are for the nodes of the plan");
    require(std::ranges::all_of(used, [&](Index n) { return n >= 0 && n < nodes; }), "nodes that are used are there");
}

/// Asks for a run like the one planned for, which only GPUs may stand in the way of, and for others.
void require_use(const plan::Plan& plan) {
    plan::PlanUse use{.application = plan.application, .tiles = plan.distributions.second.grid()};
    for (const plan::PlannedNode& node : plan.nodes) use.workers.push_back(node.cores);
    if (std::ranges::all_of(plan.nodes, [](const plan::PlannedNode& node) { return node.gpus == 0; }))
        require_fits(plan, use, "fuzz");
    one_line_at_most([&] { require_fits(plan, use, "fuzz"); });
    for (Index& workers : use.workers) workers = -1;
    one_line_at_most([&] { require_fits(plan, use, "fuzz"); });
    use.tiles.rows = 0;
    one_line_at_most([&] { require_fits(plan, use, "fuzz"); });
    use.workers.clear();
    one_line_at_most([&] { require_fits(plan, use, "fuzz"); });
    one_line_at_most([&] { require_fits(plan, {.application = "fuzz"}, "fuzz"); });
}

void use(const plan::Plan& plan) {
    require(plan.tile >= 1, "tiles have elements");
    require(plan.distributions.first.grid() == plan.distributions.second.grid(), "both phases have the same tiles");
    check_nodes(plan, plan.distributions.first, plan.first_nodes);
    check_nodes(plan, plan.distributions.second, plan.second_nodes);
    for (const plan::PlannedNode& node : plan.nodes)
        require(node.cores >= 0 && node.gpus >= 0, "no node has fewer than 0 workers");
    require(plan.makespan >= 0 && plan.lower_bound >= 0, "times are not negative");
    const std::string text = to_json(plan).dump();
    require(to_json(plan::plan_from_json(parse_json(text, "fuzz"), "fuzz")).dump() == text,
            "a plan that is written reads back the same");
    require_use(plan);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    one_line_at_most([&] { use(plan::plan_from_json(parse_json(text, "fuzz"), "fuzz")); });
    return 0;
}
