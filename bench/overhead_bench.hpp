#pragma once

#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

namespace tesela::bench {

struct OverheadOptions {
    Index tasks = 100'000;
    int repetitions = 5;
};

/// What a task costs beyond its work: empty tasks with three tiles each, submission included; how much memory grows
/// while they run; and, on several nodes, what a task costs on a node that it does not concern.
[[nodiscard]] nlohmann::ordered_json overhead_benchmark(StarpuEngine& engine, const OverheadOptions& options);

}  // namespace tesela::bench
