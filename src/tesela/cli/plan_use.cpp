#include "tesela/cli/plan_use.hpp"

#include "tesela/distribution/tiling.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <functional>

namespace tesela::cli {

plan::Plan read_plan_for(StarpuEngine& engine, const std::string& file, const std::string& application, Index n) {
    const nlohmann::json json = read_json_file(file);
    engine.require_alike(file, std::hash<std::string>{}(json.dump()));
    plan::Plan plan = plan::plan_from_json(json, file);
    plan::PlanUse use{.application = application, .tiles = Tiling::square(n, plan.tile).grid(), .workers = {}};
    for (const int workers : engine.Engine::gather(engine.worker_count())) use.workers.push_back(workers);
    plan::require_fits(plan, use, file);
    return plan;
}

}  // namespace tesela::cli
