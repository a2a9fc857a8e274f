#include "tesela/distribution/platform_constraint.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tesela {
namespace {

KernelWork work_of(double flops_per_cube, Index tile) {
    const auto n = static_cast<double>(tile);
    return {.tile = tile, .flops = flops_per_cube * n * n * n, .bytes = 3 * 8 * n * n};
}

double fastest(const NodeType& type, std::string_view kernel, const KernelWork& work) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& group : type.workers)
        if (const auto seconds = kernel_seconds(group, kernel, work)) least = std::min(least, *seconds);
    return least;
}

}  // namespace

std::vector<double> update_powers(const Platform& platform, Index tile) {
    return node_powers(platform, "dgemm", work_of(2, tile));
}

StepConstraint cholesky_constraint(const Platform& platform, Index tile) {
    constexpr std::array kernels{std::pair{"dpotrf", 1.0 / 3}, std::pair{"dtrsm", 1.0}, std::pair{"dgemm", 2.0}};
    StepConstraint constraint{.step_seconds = {}, .powers = update_powers(platform, tile)};
    for (const auto& type : platform.node_types) {
        double seconds = 0;
        for (const auto& [kernel, flops] : kernels) seconds += fastest(type, kernel, work_of(flops, tile));
        if (seconds == std::numeric_limits<double>::infinity())
            throw Error("no worker of node type \"{}\" can run dpotrf, dtrsm and dgemm", type.name);
        constraint.step_seconds.insert(constraint.step_seconds.end(), static_cast<std::size_t>(type.count), seconds);
    }
    return constraint;
}

}  // namespace tesela
